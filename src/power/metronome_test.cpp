#include "power/metronome.h"

#include <gtest/gtest.h>

#include "power/simulated_worker.h"
#include "power/test_ticks.h"

namespace splitplane::power {
namespace {

using test::kMs;
using test::kUs;

class MetronomeBench {
 public:
  explicit MetronomeBench(unsigned latency_us)
      : policy({.latency_us = latency_us}, machine_), worker(policy, machine_, {.sleep_overshoot = 5 * kUs}) {}

  // Packets at even gaps; returns the mean length of a vacation after the first half.
  double vacation(Ticks gap, Ticks time) {
    for (Ticks at = gap; at < time; at += gap) worker.arrive(worker.now() + at);
    const Ticks half = worker.now() + time / 2, end = half + time / 2;
    while (worker.now() < half) worker.round(half);
    const Ticks slept = worker.slept, sleeps = worker.sleeps;
    while (worker.now() < end) worker.round(end);
    return static_cast<double>(worker.slept - slept) / static_cast<double>(worker.sleeps - sleeps);
  }

 private:
  Machine machine_{.ticks_per_us = kUs, .sleep_overshoot = 2 * kUs};

 public:
  Metronome policy;
  SimulatedWorker<Metronome> worker;
};

TEST(Metronome, a_vacation_lasts_twice_the_target_with_the_overshoot_of_this_machine) {
  MetronomeBench bench(20);
  EXPECT_NEAR(bench.vacation(100 * kUs, 100 * kMs), 40.0 * kUs, kUs);
}

TEST(Metronome, the_vacation_shrinks_with_the_load) {
  MetronomeBench low(20), high(20);
  const double at_low = low.vacation(10 * kUs, 100 * kMs);
  EXPECT_LT(high.vacation(520, 100 * kMs), at_low - 5 * kUs) << "96 % of the core";
}

TEST(Metronome, it_pauses_where_a_sleep_takes_longer_than_a_vacation) {
  MetronomeBench bench(1);
  const Ticks end = bench.worker.now() + 10 * kMs;
  Action last;
  while (bench.worker.now() < end) last = bench.worker.round(end);
  EXPECT_EQ(last.rest, Rest::pause);
}

}  // namespace
}  // namespace splitplane::power
