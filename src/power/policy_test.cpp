#include "power/policy.h"

#include <gtest/gtest.h>

namespace splitplane::power {
namespace {

using std::chrono::nanoseconds;

TEST(Busy, never_sleeps) {
  Busy policy;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(policy.after({.packets = 0}).sleep, nanoseconds{0});
}

TEST(Yield, sleeps_only_after_the_stated_number_of_empty_rounds) {
  Yield policy(3, nanoseconds{50});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(policy.after({.packets = 0}).sleep, nanoseconds{0});
  EXPECT_EQ(policy.after({.packets = 0}).sleep, nanoseconds{50});
  EXPECT_EQ(policy.after({.packets = 0}).sleep, nanoseconds{50});
}

TEST(Yield, a_packet_starts_the_count_anew) {
  Yield policy(1, nanoseconds{50});
  policy.after({.packets = 0});
  EXPECT_EQ(policy.after({.packets = 0}).sleep, nanoseconds{50});
  EXPECT_EQ(policy.after({.packets = 1}).sleep, nanoseconds{0});
  EXPECT_EQ(policy.after({.packets = 0}).sleep, nanoseconds{0});
  EXPECT_EQ(policy.after({.packets = 0}).sleep, nanoseconds{50});
}

}  // namespace
}  // namespace splitplane::power
