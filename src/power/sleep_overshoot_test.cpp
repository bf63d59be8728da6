#include "power/sleep_overshoot.h"

#include <gtest/gtest.h>

#include <random>

namespace splitplane::power {
namespace {

TEST(SleepOvershoot, finds_what_one_sleep_in_four_exceeds) {
  SleepOvershoot overshoot(0, 1000, 10);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> over(0, 100);
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    overshoot.learn(500, 500 + static_cast<Ticks>(over(random)));
    if (i >= 10'000) sum += static_cast<double>(overshoot.high());
  }
  EXPECT_NEAR(sum / 10'000, 75, 3);
  EXPECT_NEAR(overshoot.mean(), 50, 25);
}

TEST(SleepOvershoot, stays_below_what_it_was_told_and_forgets) {
  SleepOvershoot overshoot(10, 100, 10);
  for (int i = 0; i < 1000; ++i) overshoot.learn(50, 5000);
  EXPECT_EQ(overshoot.high(), 100U);
  EXPECT_NEAR(overshoot.mean(), 150, 0.1) << "more than the sleeps may take, so that it shows";
  for (int i = 0; i < 2000; ++i) overshoot.forget_a_little();
  EXPECT_EQ(overshoot.high(), 0U);
  EXPECT_NEAR(overshoot.mean(), 150, 0.1) << "only sleeps tell that they have become cheaper";
}

TEST(SleepOvershoot, a_start_on_a_disturbed_machine_is_unlearnt) {
  SleepOvershoot overshoot(90, 200, 1);
  EXPECT_EQ(overshoot.high(), 90U);
  EXPECT_TRUE(overshoot.known());
  for (int i = 0; i < 1000; ++i) overshoot.learn(50, 55);
  EXPECT_LE(overshoot.high(), 6U);
  EXPECT_NEAR(overshoot.mean(), 5, 0.1);
}

TEST(SleepOvershoot, a_start_above_half_of_the_bound_is_believed_as_half_until_16_sleeps_know_better) {
  SleepOvershoot overshoot(90, 80, 1);
  EXPECT_EQ(overshoot.high(), 40U);
  for (int i = 0; i < 15; ++i) overshoot.learn(50, 50 + (i % 2 == 0 ? 10 : 20));
  EXPECT_FALSE(overshoot.known());
  overshoot.learn(50, 70);
  EXPECT_TRUE(overshoot.known());
  EXPECT_NEAR(overshoot.mean(), 15, 0.01);
}

TEST(SleepOvershoot, a_bad_moment_does_not_lift_the_mean_above_the_budget) {
  SleepOvershoot overshoot(40, 80, 1);
  for (int i = 0; i < 1000; ++i) {
    overshoot.learn(50, i % 3 == 0 ? 1050 : 90);
    ASSERT_LE(overshoot.mean(), 80);
  }
}

TEST(SleepOvershoot, what_must_not_happen_is_judged_by_the_start_until_sleeps_know_better) {
  SleepOvershoot overshoot(90, 80, 1);
  EXPECT_EQ(overshoot.careful(), 90U);
  for (int i = 0; i < 100; ++i) overshoot.learn(50, 60);
  EXPECT_EQ(overshoot.careful(), 10U);
  for (int i = 0; i < 100; ++i) overshoot.learn(50, 500);
  EXPECT_NEAR(static_cast<double>(overshoot.careful()), 450, 1) << "whatever the budget";
}

}  // namespace
}  // namespace splitplane::power
