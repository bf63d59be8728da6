#include "ran/reestablish_limit.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

constexpr BearerId kOne{1}, kOther{2};
const ReestablishLimit::Time kStart{1h};

TEST(ReestablishLimit, the_first_failure_is_mended_at_once_and_the_next_ones_after_growing_pauses) {
  ReestablishLimit limit;
  EXPECT_TRUE(limit.allows(kOne, kStart));
  EXPECT_FALSE(limit.allows(kOne, kStart + 999ms));
  EXPECT_TRUE(limit.allows(kOne, kStart + 1s));
  EXPECT_FALSE(limit.allows(kOne, kStart + 2s));
  EXPECT_TRUE(limit.allows(kOther, kStart + 2s)) << "each bearer has its own";
  EXPECT_TRUE(limit.allows(kOne, kStart + 3s));
}

TEST(ReestablishLimit, whoever_makes_a_bearer_fail_all_the_time_gets_one_in_32_seconds) {
  ReestablishLimit limit;
  int times = 0;
  for (auto at = 0s; at < 3600s; at += 1s) times += limit.allows(kOne, kStart + at) ? 1 : 0;
  EXPECT_LE(times, 3600 / 32 + 6);
  EXPECT_GE(times, 3600 / 33);
}

TEST(ReestablishLimit, a_time_without_failure_ends_the_pauses) {
  ReestablishLimit limit;
  for (const auto at : {0s, 1s, 3s, 7s}) EXPECT_TRUE(limit.allows(kOne, kStart + at));
  EXPECT_TRUE(limit.allows(kOne, kStart + 7s + 8s + ReestablishLimit::kForgotten));
  EXPECT_TRUE(limit.allows(kOne, kStart + 7s + 9s + ReestablishLimit::kForgotten));
}

}  // namespace
}  // namespace splitplane::app
