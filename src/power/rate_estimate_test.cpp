#include "power/rate_estimate.h"

#include <gtest/gtest.h>

namespace splitplane::power {
namespace {

TEST(RateEstimate, a_rise_counts_at_once_and_a_fall_after_two_windows) {
  RateEstimate rate(8000);
  rate.add_window(10, 1000);
  EXPECT_DOUBLE_EQ(rate.mean(), 0.01);
  rate.add_window(100, 1000);
  EXPECT_DOUBLE_EQ(rate.mean(), 0.02);
  EXPECT_DOUBLE_EQ(rate.high(), 0.1);
  rate.add_window(0, 1000);
  EXPECT_DOUBLE_EQ(rate.high(), 0.1);
  rate.add_window(0, 1000);
  EXPECT_DOUBLE_EQ(rate.high(), rate.mean());
}

TEST(RateEstimate, a_long_window_weighs_more) {
  RateEstimate rate(8000);
  rate.add_window(1000, 1000);
  rate.add_window(0, 72'000);
  EXPECT_DOUBLE_EQ(rate.mean(), 0.1);
}

TEST(FastestFill, keeps_the_fastest_and_forgets_it_slowly) {
  FastestFill fill(1000);
  fill.see(10, 100);
  fill.see(5, 100);
  EXPECT_DOUBLE_EQ(fill.rate(), 0.1);
  fill.see(7, 0);
  EXPECT_DOUBLE_EQ(fill.rate(), 0.1) << "no time, no rate";
  for (int i = 0; i < 100; ++i) fill.forget(10);
  EXPECT_NEAR(fill.rate(), 0.1 / 2.718, 0.001);
  fill.forget(100'000);
  EXPECT_GT(fill.rate(), 0) << "one long window";
}

}  // namespace
}  // namespace splitplane::power
