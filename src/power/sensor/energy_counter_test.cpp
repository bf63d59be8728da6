// Watts of counters that wrap, stand still, or are odd.
#include "power/sensor/energy_counter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "power/sensor/test_tree.h"

namespace splitplane::sensor {
namespace {

TEST(EnergyCounter, watts_are_joules_by_seconds_since_the_reading_before) {
  EnergyCounter counter(262'143'328'850);
  EXPECT_TRUE(std::isnan(counter.watts(5'000'000, 0)));
  EXPECT_DOUBLE_EQ(counter.watts(105'000'000, 2 * kSecond), 50);
  EXPECT_DOUBLE_EQ(counter.watts(105'000'000, 3 * kSecond), 0);
}

TEST(EnergyCounter, a_wrap_is_counted_across_the_end_of_the_range) {
  EnergyCounter counter(1'000'000);
  static_cast<void>(counter.watts(900'000, 0));
  EXPECT_DOUBLE_EQ(counter.watts(100'000, kSecond), 0.2);
}

TEST(EnergyCounter, a_counter_of_64_bits_that_fell_was_reset_and_says_nothing_once) {
  EnergyCounter counter(0);
  static_cast<void>(counter.watts(9'000'000, 0));
  EXPECT_TRUE(std::isnan(counter.watts(1'000'000, kSecond)));
  EXPECT_DOUBLE_EQ(counter.watts(2'000'000, 2 * kSecond), 1);
}

TEST(EnergyCounter, a_value_above_its_range_is_none) {
  EnergyCounter counter(1'000'000);
  static_cast<void>(counter.watts(500'000, 0));
  EXPECT_TRUE(std::isnan(counter.watts(1'000'001, kSecond)));
  EXPECT_TRUE(std::isnan(counter.watts(600'000, 2 * kSecond))) << "the one before is not known";
  EXPECT_DOUBLE_EQ(counter.watts(700'000, 3 * kSecond), 0.1);
}

TEST(EnergyCounter, no_time_gives_no_watts) {
  EnergyCounter counter(0);
  static_cast<void>(counter.watts(1, kSecond));
  EXPECT_TRUE(std::isnan(counter.watts(2, kSecond)));
}

}  // namespace
}  // namespace splitplane::sensor
