#include "power/rate_estimate.h"

#include <gtest/gtest.h>

#include <random>

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

TEST(TrainRate, counts_trains_that_are_seen_at_once) {
  TrainRate trains(8000);
  for (int window = 0; window < 50; ++window) {
    for (int i = 0; i < 20; ++i) trains.found(0);
    trains.end_window(900, 1000);
  }
  EXPECT_NEAR(trains.rate(), 20.0 / 900, 1e-6);
}

TEST(TrainRate, tells_how_many_trains_sleeps_hid_from_how_many_sleeps_found_none) {
  TrainRate trains(8000);
  // Sleeps of 50, of which 1 - 1/e find packets: a train each 50.
  for (int window = 0; window < 50; ++window) {
    for (int i = 0; i < 632; ++i) trains.found(50);
    trains.end_window(50'000, 1000);
  }
  EXPECT_NEAR(trains.rate(), 1.0 / 50, 1e-4);
  EXPECT_FALSE(trains.crowded());
  for (int window = 0; window < 50; ++window) {
    for (int i = 0; i < 1000; ++i) trains.found(50);
    trains.end_window(50'000, 1000);
  }
  EXPECT_TRUE(trains.crowded()) << "nothing tells";
}

TEST(TrainRate, packets_in_the_time_of_a_wake_up_belong_to_the_train_that_ended_the_sleep) {
  TrainRate trains(8000);
  for (int window = 0; window < 50; ++window) {
    for (int i = 0; i < 20; ++i) trains.woke(50, 20);
    trains.end_window(1000, 1000);
  }
  EXPECT_NEAR(trains.rate(), 1.0 / 30, 1e-6);
}

TEST(Regularity, a_clock_varies_by_nothing_and_random_times_by_one) {
  Regularity clock(1'000'000), random_times(1'000'000), both(1'000'000);
  std::mt19937_64 random(1);
  std::exponential_distribution<double> gap(1.0 / 1000);
  Ticks now = 0, at = 0;
  for (int i = 0; i < 5000; ++i) {
    EXPECT_TRUE(i > 64 || clock.variation() == 1) << "not known yet";
    clock.begin_train(now);
    both.begin_train(now);
    random_times.begin_train(at);
    now += 1000;
    at += static_cast<Ticks>(gap(random));
  }
  EXPECT_NEAR(clock.variation(), 0, 1e-6);
  EXPECT_GT(random_times.variation(), 0.9);
  // What came later counts the more.
  for (int window = 0; window < 100; ++window) both.forget(100'000);
  for (int i = 0; i < 200; ++i) both.begin_train(now += static_cast<Ticks>(gap(random)));
  EXPECT_GT(both.variation(), 0.6);
  for (int window = 0; window < 1000; ++window) clock.forget(100'000);
  EXPECT_EQ(clock.variation(), 1) << "forgotten";
}

TEST(BurstSizes, a_few_packets_in_larger_bursts_do_not_count) {
  BurstSizes sizes(1000);
  for (int i = 0; i < 970; ++i) sizes.see(1, 1);
  sizes.see(30, 30);
  EXPECT_EQ(sizes.high(0.05), 1);
  EXPECT_GE(sizes.high(0.02), 30);
  EXPECT_LE(sizes.high(0.02), 36);
}

TEST(BurstSizes, the_recent_count_more_and_old_ones_are_forgotten) {
  BurstSizes sizes(1000);
  for (int i = 0; i < 100; ++i) sizes.see(64, 64);
  EXPECT_EQ(sizes.high(0.05), 64);
  for (int window = 0; window < 100; ++window) {
    sizes.forget(100);
    for (int i = 0; i < 100; ++i) sizes.see(4, 4);
  }
  EXPECT_EQ(sizes.high(0.05), 4);
  for (int window = 0; window < 1000; ++window) sizes.forget(100);
  EXPECT_EQ(sizes.high(0.05), 1);
}

}  // namespace
}  // namespace splitplane::power
