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

TEST(Yield, each_sleep_that_found_no_packet_doubles_the_next_up_to_a_limit) {
  Yield policy({.empty_rounds = 1, .sleep_us = 50}, kMachine);
  policy.after({});
  EXPECT_EQ(policy.after({}).length, 50'000U);
  EXPECT_EQ(policy.after({}).length, 50'000U) << "the look at the queues before the sleep is no sleep";
  EXPECT_EQ(policy.after({.rested = 50'000}).length, 100'000U);
  EXPECT_EQ(policy.after({.rested = 7'000, .woken = true}).length, 100'000U) << "a command ended it early";
  EXPECT_EQ(policy.after({.rested = 100'000}).length, 200'000U);
  EXPECT_EQ(policy.after({.rested = 200'000}).length, 400'000U);
  EXPECT_EQ(policy.after({.rested = 400'000}).length, 500'000U);
  EXPECT_EQ(policy.after({.rested = 500'000}).length, 500'000U);
}

TEST(Yield, a_packet_makes_the_sleeps_short_again) {
  Yield policy({.empty_rounds = 1, .sleep_us = 50}, kMachine);
  for (int i = 0; i < 9; ++i) policy.after({.rested = 1});
  EXPECT_EQ(policy.after({.rested = 1}).length, 500'000U);
  policy.after({.packets = 1, .rested = 500'000});
  policy.after({});
  EXPECT_EQ(policy.after({}).length, 50'000U);
}

}  // namespace
}  // namespace splitplane::power
