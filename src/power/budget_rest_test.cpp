// Which kind of sleep `budget` chooses, by the costs of the kinds and the size of the ring.
#include <gtest/gtest.h>

#include "power/test_budget.h"

namespace splitplane::power {
namespace {

using namespace test;

TEST(Budget, interrupts_are_not_used_where_sleeps_show_that_a_wake_up_takes_longer_than_the_budget) {
  Machine slow = machine();
  slow.sleep_overshoot = slow.interrupt_latency = 90 * kUs;
  Bench bench(slow, {});
  bench.worker.costs.sleep_overshoot = bench.worker.costs.interrupt_latency = 90 * kUs;
  bench.idle(1000 * kMs);
  EXPECT_EQ(bench.worker.interrupts, 0U);
  EXPECT_LT(bench.worker.slept, 20 * kMs);
  bench.worker.costs.sleep_overshoot = bench.worker.costs.interrupt_latency = 10 * kUs;
  bench.idle(1000 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::interrupt) << "a retry now and then";
}

TEST(Budget, interrupts_are_given_up_when_timed_sleeps_become_slower_than_the_budget) {
  Bench bench;
  bench.poisson(100'000, 100 * kMs);
  EXPECT_EQ(bench.shown("interrupts"), 1);
  bench.worker.costs.sleep_overshoot = 100 * kUs;
  bench.poisson(100'000, 600 * kMs);  // with a trial of timed sleeps
  EXPECT_EQ(bench.shown("interrupts"), 0);
}

TEST(Budget, a_rate_far_below_the_break_even_is_served_by_interrupts_and_one_above_by_timed_sleeps) {
  Bench slow;
  slow.poisson(1000, 200 * kMs);
  EXPECT_GT(slow.worker.interrupts, 180U);
  EXPECT_LT(slow.worker.sleeps, 30U);

  Bench fast;
  fast.poisson(100'000, 200 * kMs);
  EXPECT_GT(fast.worker.sleeps, 3000U);
  EXPECT_LT(fast.worker.interrupts * 20, fast.worker.sleeps);
}

TEST(Budget, a_break_even_is_where_an_interrupt_costs_what_timed_sleeps_cost) {
  Bench bench;
  bench.poisson(100'000, 50 * kMs);
  // (10 us to wake + 2 us to poll) a packet and these 12 us, against 10 us for each sleep with its overshoot.
  EXPECT_NEAR(bench.shown("break_even_us"), 12 * (bench.shown("sleep_us") + 10) / 10 - 12, 3);
}

TEST(Budget, a_sleep_is_bounded_by_a_quarter_of_the_ring_at_the_known_rate) {
  Machine small = machine(false);
  small.ring = 64;
  Bench bench(small, {.latency_us = 1000});
  bench.constant(1e6, 50 * kMs);
  EXPECT_LE(bench.shown("sleep_us"), 16);
  EXPECT_GT(bench.shown("sleep_us"), 14);
}

TEST(Budget, a_packet_that_is_overdue_is_waited_for_by_an_interrupt) {
  Bench bench;
  bench.poisson(100'000, 100 * kMs);
  const Ticks before = bench.worker.interrupts;
  bench.idle(200 * kUs);  // long before the estimated rate has fallen
  EXPECT_LT(bench.shown("gap_us"), 15);
  EXPECT_GT(bench.worker.interrupts, before);
}

TEST(Budget, after_a_flood_no_sleep_is_longer_than_three_quarters_of_the_ring_last_in_the_next_one) {
  Machine small = machine(false);
  small.ring = 64;
  Bench bench(small, {.latency_us = 60});
  bench.constant(1000, 100 * kMs);
  EXPECT_NEAR(bench.shown("sleep_us"), 50, 1);
  bench.constant(1e6, 5 * kMs);
  bench.idle(5000 * kMs);
  EXPECT_LT(bench.shown("rate_high_pps"), 1) << "long over";
  EXPECT_NEAR(bench.shown("fastest_pps"), 1e6, 0.1e6);
  EXPECT_NEAR(bench.shown("sleep_us"), 48 - 10, 5);
  bench.idle(300'000 * kMs);
  EXPECT_GT(bench.shown("sleep_us"), 48) << "forgotten slowly";
}

TEST(Budget, a_ring_is_at_least_as_long_as_what_was_seen_in_it) {
  Machine small = machine(false);
  small.ring = 64;  // the ring's size that the driver reports
  Bench bench(small, {.latency_us = 1000});
  bench.constant(100'000, 50 * kMs);
  EXPECT_LT(bench.shown("sleep_us"), 180) << "a quarter at that rate";
  const QueueRound full{.packets = 32, .waiting = 960};
  bench.policy.after({.now = bench.worker.now() + 1, .packets = 32, .queues = {&full, 1}});
  bench.constant(1000, 100 * kMs);
  EXPECT_LT(bench.shown("sleep_us"), 600) << "time to process as many again";
  bench.constant(1000, 5000 * kMs);
  EXPECT_NEAR(bench.shown("sleep_us"), 990, 2) << "the budget alone";
}

TEST(Budget, a_train_within_one_sleep_tells_how_fast_the_ring_fills) {
  Machine small = machine(false);
  small.ring = 128;
  Bench bench(small, {.latency_us = 200});
  bench.idle(20 * kMs);
  EXPECT_NEAR(bench.shown("sleep_us"), 190, 1);
  for (unsigned i = 0; i < 115; ++i) bench.worker.arrive(bench.worker.now() + 10 * kUs + i * 100);
  bench.idle(3000 * kMs);  // until the burst itself is forgotten
  EXPECT_GT(bench.shown("fastest_pps"), 115 / 200e-6 * 0.9) << "all came in a sleep of 200 us at most";
  EXPECT_NEAR(bench.shown("sleep_us"), 96 / (bench.shown("fastest_pps") / 1e6) - 10, 1);
}

TEST(Budget, interrupts_are_not_used_while_a_ring_may_run_over_before_one_is_answered) {
  Machine small = machine();
  small.ring = 64;
  Bench bench(small);
  bench.idle(20 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::interrupt);
  bench.constant(6e6, 2 * kMs);
  bench.idle(20 * kMs);
  EXPECT_NEAR(bench.shown("fastest_pps"), 6e6, 0.1e6) << "a ring lasts 11 us, of which 8 are used; a wake-up takes 10";
  EXPECT_EQ(bench.last.rest, Rest::pause);
  bench.idle(120'000 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::interrupt);
}

// Costs as on a virtual machine, where a timer leaves the guest several times.
SimulatedCosts costly_timers() {
  return {.sleep_overshoot = 40 * kUs, .interrupt_latency = 20 * kUs, .sleep_cpu = 40 * kUs, .interrupt_cpu = 8 * kUs};
}

TEST(Budget, many_packets_are_served_by_interrupts_where_these_cost_less_cpu_than_timed_sleeps) {
  Bench bench(machine(), {});
  bench.worker.costs = costly_timers();
  bench.poisson(100'000, 300 * kMs);
  EXPECT_NEAR(bench.shown("sleep_cpu_us"), 40, 0.1);
  EXPECT_NEAR(bench.shown("interrupt_cpu_us"), 8, 0.1);
  EXPECT_NEAR(bench.shown("break_even_us"), 2, 0.1) << "the spin";
  const Ticks sleeps = bench.worker.sleeps;
  const Ticks interrupts = bench.worker.interrupts;
  bench.poisson(100'000, 1000 * kMs);
  EXPECT_LE(bench.worker.sleeps - sleeps, 4U * 16) << "trials";
  EXPECT_GT(bench.worker.interrupts - interrupts, 20'000U);
}

TEST(Budget, timed_sleeps_come_back_once_a_trial_shows_that_they_have_become_cheaper) {
  Bench bench(machine(), {});
  bench.worker.costs = costly_timers();
  bench.poisson(100'000, 300 * kMs);
  bench.worker.costs.sleep_cpu = 5 * kUs;
  bench.worker.costs.sleep_overshoot = 10 * kUs;
  bench.poisson(100'000, 1200 * kMs);
  const Ticks interrupts = bench.worker.interrupts;
  bench.poisson(100'000, 1000 * kMs);
  EXPECT_LE(bench.worker.interrupts - interrupts, 4U * 16 + 200) << "trials, and gaps of a break-even";
}

TEST(Budget, packets_closer_than_the_spin_are_collected_in_timed_sleeps_whatever_an_interrupt_costs) {
  Bench bench(machine(), {});
  bench.worker.costs = costly_timers();
  bench.worker.costs.packet = 200;
  bench.poisson(1e6, 100 * kMs);
  const Ticks sleeps = bench.worker.sleeps;
  const Ticks interrupts = bench.worker.interrupts;
  bench.poisson(1e6, 500 * kMs);
  EXPECT_LT(bench.shown("gap_us"), 2);
  EXPECT_GT(bench.worker.sleeps - sleeps, 3000U);
  EXPECT_LT(bench.worker.interrupts - interrupts, 50U);
  const Ticks before = bench.worker.interrupts;
  bench.idle(3 * kMs);
  EXPECT_GT(bench.worker.interrupts, before) << "after a silence as long as a sleep, and a trial that may be due";
}

TEST(Budget, an_idle_worker_makes_no_trials) {
  Bench bench(machine(), {});
  bench.worker.costs = costly_timers();
  bench.idle(300 * kMs);
  const Ticks sleeps = bench.worker.sleeps;
  bench.idle(3000 * kMs);
  EXPECT_EQ(bench.worker.sleeps, sleeps);
}

TEST(Budget, without_timed_sleeps_interrupts_are_used_where_they_take_less_power_than_pauses) {
  Bench bench(machine(), {.latency_us = 12, .spin_us = 0});  // the overshoot of 10 leaves no time to sleep
  bench.worker.costs.sleep_cpu = bench.worker.costs.interrupt_cpu = 10 * kUs;
  bench.poisson(1000, 5000 * kMs);
  const StatePrices prices = CostTable{}.at(1);
  const double pause = (0.1 * prices.active + prices.pause) / 1.1;  // a poll takes 0.1 us here
  EXPECT_NEAR(bench.shown("break_even_us"), 10 * (prices.active - prices.c1) / (pause - prices.c1) - 10, 0.5);
}

}  // namespace
}  // namespace splitplane::power
