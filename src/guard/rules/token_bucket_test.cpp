// Limits a second: the rate over time, the burst, and what is never given.
#include "guard/rules/token_bucket.h"

#include <gtest/gtest.h>

namespace splitplane::guard {
namespace {

unsigned take_all(TokenBucket& bucket, std::uint64_t now_ms) {
  unsigned taken = 0;
  while (bucket.take(now_ms)) ++taken;
  return taken;
}

TEST(TokenBucket, gives_a_burst_and_then_its_rate) {
  TokenBucket bucket(10'000);
  EXPECT_EQ(take_all(bucket, 5000), 1000U) << "what comes in 100 ms";
  EXPECT_EQ(take_all(bucket, 5001), 10U);
  EXPECT_EQ(take_all(bucket, 5051), 500U);
  EXPECT_EQ(take_all(bucket, 9000), 1000U) << "no more than a burst is kept";
}

TEST(TokenBucket, a_low_rate_is_exact_over_time) {
  TokenBucket bucket(7);
  EXPECT_EQ(take_all(bucket, 0), 32U) << "the smallest burst";
  unsigned taken = 0;
  for (std::uint64_t ms = 1; ms <= 10'000; ++ms) taken += take_all(bucket, ms);
  EXPECT_EQ(taken, 70U);
}

TEST(TokenBucket, a_limit_of_0_gives_nothing) {
  TokenBucket bucket(0);
  EXPECT_EQ(take_all(bucket, 1), 0U);
  EXPECT_EQ(take_all(bucket, 100'000), 0U);
}

TEST(TokenBucket, a_new_rate_begins_full) {
  TokenBucket bucket(1000);
  EXPECT_EQ(take_all(bucket, 1), 100U);
  bucket.set(2000);
  EXPECT_EQ(take_all(bucket, 1), 200U);
}

}  // namespace
}  // namespace splitplane::guard
