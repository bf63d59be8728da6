#include "power/budget.h"

#include <gtest/gtest.h>

#include "power/test_budget.h"

namespace splitplane::power {
namespace {

using namespace test;

TEST(Budget, begins_at_p0_whatever_the_machine_stands_at) {
  Bench bench;
  EXPECT_EQ(bench.worker.round(kNever).p_state, 0);
  EXPECT_EQ(bench.worker.round(kNever).p_state, Action::kKeep) << "asked for once";
}

TEST(Budget, an_idle_worker_sleeps_until_an_interrupt) {
  Bench bench;
  bench.idle(200 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::interrupt);
  EXPECT_EQ(bench.last.length, 10 * kMs);
  EXPECT_GT(bench.worker.slept, 199 * kMs);
}

TEST(Budget, an_idle_worker_without_interrupts_sleeps_the_budget_less_the_overshoot) {
  Bench bench(machine(false));
  bench.idle(100 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::sleep);
  EXPECT_NEAR(static_cast<double>(bench.last.length), 40.0 * kUs, 0.7 * kUs) << "a sixteenth is what it wavers";
  EXPECT_EQ(bench.worker.interrupts, 0U);
}

TEST(Budget, a_start_that_measured_more_than_the_budget_once_does_not_keep_an_idle_worker_awake) {
  Machine disturbed = machine();
  disturbed.sleep_overshoot = disturbed.interrupt_latency = 90 * kUs;
  Bench bench(disturbed, {});  // 80 us; a wake-up takes 10
  bench.idle(100 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::interrupt);
  EXPECT_LE(bench.worker.sleeps, 20U) << "timed ones, to learn from";
  EXPECT_GT(bench.worker.slept, 98 * kMs);
}

TEST(Budget, polls_for_spin_us_after_a_packet) {
  Bench bench;
  bench.idle(10 * kMs);
  bench.worker.arrive(bench.worker.now());
  EXPECT_EQ(bench.worker.round(kNever).rest, Rest::none);
  const Ticks done = bench.worker.now();
  while (bench.worker.round(kNever).rest == Rest::none) {
  }
  EXPECT_GE(bench.worker.now() - done, 2 * kUs);
}

TEST(Budget, estimates_rate_and_cost) {
  Bench bench;
  bench.poisson(100'000, 200 * kMs);
  EXPECT_NEAR(bench.shown("rate_pps"), 100'000, 20'000);
  EXPECT_GE(bench.shown("rate_high_pps"), bench.shown("rate_pps"));
  EXPECT_NEAR(bench.shown("gap_us"), 10, 2);
}

TEST(Budget, collects_several_packets_a_wake_at_a_high_rate) {
  Bench bench(machine(false));
  bench.constant(1e6, 100 * kMs);
  EXPECT_GT(bench.worker.packets, bench.worker.sleeps * 30);
  EXPECT_GT(bench.worker.slept, 25 * kMs);
}

TEST(Budget, polls_when_even_p0_is_used_more_than_the_utilisation) {
  Bench bench;
  bench.poisson(1.9e6, 20 * kMs);
  const Ticks sleeps = bench.worker.sleeps;
  bench.poisson(1.9e6, 100 * kMs);
  EXPECT_EQ(bench.worker.sleeps, sleeps);
  EXPECT_EQ(bench.worker.p_state, 0);
}

TEST(Budget, timers_bound_every_rest) {
  Bench bench;
  bench.idle(10 * kMs);
  const QueueRound none;
  Round round{.now = bench.worker.now() + kUs, .queues = {&none, 1}};
  round.next_timer = round.now + 700;
  EXPECT_EQ(bench.policy.after(round).length, 700U);
  round.next_timer = round.now;
  EXPECT_EQ(bench.policy.after(round).rest, Rest::none);
}

TEST(Budget, a_timed_sleep_ends_before_the_timer_although_it_overshoots) {
  Bench bench(machine(false));
  bench.idle(10 * kMs);
  const QueueRound none;
  Round round{.now = bench.worker.now() + kUs, .queues = {&none, 1}};
  round.next_timer = round.now + 30 * kUs;
  const Action action = bench.policy.after(round);
  EXPECT_EQ(action.rest, Rest::sleep);
  EXPECT_NEAR(static_cast<double>(action.length), 20.0 * kUs, 0.7 * kUs);
  round.next_timer = round.now + 11 * kUs;
  EXPECT_EQ(bench.policy.after(round).rest, Rest::pause) << "it would be late";
}

TEST(Budget, learns_a_longer_overshoot_and_unlearns_it) {
  Bench bench(machine(false));
  bench.idle(20 * kMs);
  bench.worker.costs.sleep_overshoot = 30 * kUs;
  bench.idle(50 * kMs);
  EXPECT_NEAR(bench.shown("overshoot_us"), 30, 2.5);
  EXPECT_NEAR(bench.shown("sleep_us"), 20, 2.5);
  bench.worker.costs.sleep_overshoot = 10 * kUs;
  bench.idle(200 * kMs);
  EXPECT_LT(bench.shown("overshoot_us"), 12);
}

TEST(Budget, sleeps_no_more_when_the_overshoot_eats_the_budget_and_tries_again_later) {
  Bench bench(machine(false));
  bench.worker.costs.sleep_overshoot = 200 * kUs;
  bench.idle(100 * kMs);
  const Ticks before = bench.worker.sleeps;
  bench.idle(1000 * kMs);
  EXPECT_LT(bench.worker.sleeps - before, 100U) << "a try now and then";
  EXPECT_GT(bench.worker.sleeps - before, 5U);
  EXPECT_EQ(bench.last.rest, Rest::pause);
  bench.worker.costs.sleep_overshoot = 10 * kUs;
  bench.idle(1000 * kMs);
  EXPECT_LT(bench.shown("overshoot_us"), 12);
  EXPECT_EQ(bench.last.rest, Rest::sleep);
}

TEST(Budget, an_event_that_ends_a_sleep_teaches_nothing_about_overshoot) {
  Machine made = machine(false);
  Budget policy({}, made);
  const QueueRound none;
  Round round{.now = kMs, .queues = {&none, 1}};
  policy.after(round);
  for (int i = 0; i < 100; ++i) {
    round.now += 500 * kUs;
    ASSERT_EQ(policy.after(round).rest, Rest::sleep);
    round.rested = 400 * kUs;
    round.woken = true;
  }
}

TEST(Budget, with_a_timed_pause_short_gaps_are_paused_through) {
  Machine made = machine();
  made.timed_pause = true;
  Bench bench(made, {.latency_us = 30});  // of 20 us asleep 10 are a wake-up
  bench.poisson(100'000, 100 * kMs);
  EXPECT_LT(bench.worker.sleeps, 100U) << "tpause needs no wake-up";
  bench.idle(20 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::interrupt);
}

TEST(Budget, it_pauses_once_many_sleeps_have_shown_that_none_keeps_the_budget) {
  Machine made = machine(false);
  made.sleep_overshoot = 60 * kUs;
  Bench bench(made);
  bench.worker.costs.sleep_overshoot = 60 * kUs;
  bench.idle(kMs);
  EXPECT_GE(bench.worker.sleeps, 3U) << "the start is not believed";
  bench.idle(20 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::pause);
  EXPECT_EQ(bench.last.length, kUs);
  const Ticks before = bench.worker.sleeps;
  EXPECT_LT(before, 30U);
  bench.idle(1000 * kMs);
  EXPECT_LT(bench.worker.sleeps - before, 100U);
}

TEST(Budget, no_budget_no_rest) {
  Bench bench(machine(), {.latency_us = 0});
  bench.idle(10 * kMs);
  EXPECT_EQ(bench.last.rest, Rest::none);
}

TEST(Budget, steps_down_one_dwell_at_a_time_to_the_slowest_p_state_that_keeps_the_utilisation) {
  Bench bench;
  bench.constant(400'000, 90 * kMs);  // a fifth of P0
  EXPECT_EQ(bench.worker.p_state, 0);
  bench.constant(400'000, 60 * kMs);
  EXPECT_EQ(bench.worker.p_state, 1);
  bench.constant(400'000, 500 * kMs);
  EXPECT_EQ(bench.worker.p_state, 3) << "0.2 / 0.4 = 0.5";
  const unsigned steps = bench.worker.steps;
  bench.constant(400'000, 1000 * kMs);
  EXPECT_EQ(bench.worker.steps, steps);
}

TEST(Budget, climbs_at_the_end_of_a_window_when_the_rate_asks_for_it) {
  Bench bench;
  bench.constant(100'000, 700 * kMs);
  ASSERT_EQ(bench.worker.p_state, 3);
  bench.constant(1.2e6, 3 * kMs);
  EXPECT_LE(bench.worker.p_state, 1);
}

TEST(Budget, a_burst_that_would_take_longer_than_the_budget_keeps_the_clock_up) {
  Bench bench(machine(false));  // so that windows without a burst end between two
  // 80 packets need 40 us at P0, 50 us at P1, 67 us at P2; together they use no more than 1 %.
  bench.bursts(80, 5 * kMs, 500 * kMs);
  EXPECT_LE(bench.worker.p_state, 1);
  const unsigned steps = bench.worker.steps;
  bench.bursts(80, 5 * kMs, 1000 * kMs);
  EXPECT_EQ(bench.worker.steps, steps) << "what was needed within the dwell is not given up between two bursts";
}

TEST(Budget, goes_to_p0_at_once_when_a_quarter_of_the_ring_waits) {
  Bench bench;
  bench.constant(100'000, 700 * kMs);
  ASSERT_EQ(bench.worker.p_state, 3);
  const QueueRound queue{.packets = 32, .waiting = 257};
  EXPECT_EQ(bench.policy.after({.now = bench.worker.now() + 1, .packets = 32, .queues = {&queue, 1}}).p_state, 0);
}

TEST(Budget, goes_to_p0_at_the_second_full_burst_whose_backlog_exceeds_the_budget) {
  Bench bench;
  bench.constant(100'000, 700 * kMs);
  ASSERT_EQ(bench.worker.p_state, 3);
  const Ticks now = bench.worker.now();
  const QueueRound late{.packets = 32, .waiting = 50};  // 1.25 us each at P3
  const QueueRound few{.packets = 32, .waiting = 30};
  EXPECT_EQ(bench.policy.after({.now = now + 1, .packets = 32, .queues = {&late, 1}}).p_state, Action::kKeep);
  EXPECT_EQ(bench.policy.after({.now = now + 2, .packets = 32, .queues = {&few, 1}}).p_state, Action::kKeep);
  EXPECT_EQ(bench.policy.after({.now = now + 3, .packets = 32, .queues = {&late, 1}}).p_state, Action::kKeep);
  EXPECT_EQ(bench.policy.after({.now = now + 4, .packets = 32, .queues = {&late, 1}}).p_state, 0);
}

}  // namespace
}  // namespace splitplane::power
