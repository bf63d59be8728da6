#include "power/sleep_overshoot.h"

#include <gtest/gtest.h>

#include <random>

namespace splitplane::power {
namespace {

TEST(SleepOvershoot, finds_what_one_sleep_in_16_exceeds) {
  SleepOvershoot overshoot(0, 1000, 10);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> over(0, 100);
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    overshoot.learn(500, 500 + static_cast<Ticks>(over(random)));
    if (i >= 10'000) sum += static_cast<double>(overshoot.high());
  }
  EXPECT_NEAR(sum / 10'000, 93.75, 3);
  EXPECT_NEAR(overshoot.mean(), 50, 25);
}

TEST(SleepOvershoot, stays_within_its_bounds_and_forgets) {
  SleepOvershoot overshoot(10, 100, 10);
  for (int i = 0; i < 1000; ++i) overshoot.learn(50, 50);
  EXPECT_EQ(overshoot.high(), 10U);
  for (int i = 0; i < 1000; ++i) overshoot.learn(50, 5000);
  EXPECT_EQ(overshoot.high(), 100U);
  for (int i = 0; i < 2000; ++i) overshoot.forget_a_little();
  EXPECT_EQ(overshoot.high(), 10U);
  EXPECT_NEAR(overshoot.mean(), 10, 0.1);
}

}  // namespace
}  // namespace splitplane::power
