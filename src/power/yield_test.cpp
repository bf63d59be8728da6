#include "power/yield.h"

#include <gtest/gtest.h>

#include "power/busy.h"

namespace splitplane::power {
namespace {

constexpr Machine kMachine{.ticks_per_us = 1000};

TEST(Busy, never_rests) {
  Busy policy;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(policy.after({}).rest, Rest::none);
}

TEST(Yield, sleeps_only_after_the_stated_number_of_empty_rounds) {
  Yield policy({.empty_rounds = 3, .sleep_us = 50}, kMachine);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(policy.after({}).rest, Rest::none);
  for (int i = 0; i < 2; ++i) {
    const Action action = policy.after({});
    EXPECT_EQ(action.rest, Rest::sleep);
    EXPECT_EQ(action.length, 50'000U);
  }
}

TEST(Yield, a_packet_starts_the_count_anew) {
  Yield policy({.empty_rounds = 1, .sleep_us = 50}, kMachine);
  policy.after({});
  EXPECT_EQ(policy.after({}).rest, Rest::sleep);
  EXPECT_EQ(policy.after({.packets = 1}).rest, Rest::none);
  EXPECT_EQ(policy.after({}).rest, Rest::none);
  EXPECT_EQ(policy.after({}).rest, Rest::sleep);
}

}  // namespace
}  // namespace splitplane::power
