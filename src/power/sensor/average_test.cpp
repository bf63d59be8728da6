// Means over a window, and watts at the wall.
#include "power/sensor/average.h"

#include <gtest/gtest.h>

#include <cmath>

#include "power/sensor/power_supply.h"
#include "power/sensor/test_tree.h"

namespace splitplane::sensor {
namespace {

TEST(Average, each_value_counts_for_as_long_as_it_held) {
  Average average;
  EXPECT_TRUE(std::isnan(average.mean()));
  average.add(1000, 5 * kSecond);
  EXPECT_TRUE(std::isnan(average.mean())) << "it is not known for how long that held";
  average.add(100, 6 * kSecond);
  average.add(200, 9 * kSecond);
  EXPECT_DOUBLE_EQ(average.mean(), 175);
  EXPECT_FALSE(average.full());
}

TEST(Average, what_is_older_than_the_window_counts_no_more) {
  Average average;
  average.add(0, 0);
  average.add(500, 100 * kSecond);
  EXPECT_TRUE(average.full());
  EXPECT_DOUBLE_EQ(average.mean(), 500);
  average.add(100, 110 * kSecond);
  EXPECT_DOUBLE_EQ(average.mean(), 300);
  average.add(100, 120 * kSecond);
  EXPECT_DOUBLE_EQ(average.mean(), 100);
}

TEST(Average, a_gap_is_no_value_and_a_restart_forgets) {
  Average average;
  average.add(0, 0);
  average.add(100, kSecond);
  average.add(std::nan(""), 50 * kSecond);
  average.add(300, 51 * kSecond);
  EXPECT_DOUBLE_EQ(average.mean(), 200);
  average.restart();
  EXPECT_TRUE(std::isnan(average.mean()));
  average.add(40, 52 * kSecond);
  EXPECT_DOUBLE_EQ(average.mean(), 40);
}

TEST(PowerSupply, watts_at_the_wall_follow_the_curve_of_paper_pwr) {
  const PowerSupply supply{.unmetered_watts = 12};
  EXPECT_NEAR(wall_watts(supply, 184 - 12), 184 / 0.90, 1e-9);
  EXPECT_NEAR(wall_watts(supply, 460 - 12), 460 / 0.92, 1e-9);
  EXPECT_NEAR(wall_watts(supply, 920 - 12), 920 / 0.89, 1e-9);
  EXPECT_NEAR(wall_watts(supply, 322 - 12), 322 / 0.91, 1e-9);
}

TEST(PowerSupply, below_and_above_its_curve_the_efficiency_is_not_known) {
  EXPECT_TRUE(std::isnan(wall_watts({}, 183)));
  EXPECT_TRUE(std::isnan(wall_watts({}, 921)));
  EXPECT_TRUE(std::isnan(wall_watts({}, std::nan(""))));
}

}  // namespace
}  // namespace splitplane::sensor
