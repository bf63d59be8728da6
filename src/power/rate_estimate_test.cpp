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

}  // namespace
}  // namespace splitplane::power
