#include "power/replay/sim_core.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "power/busy.h"
#include "power/replay/simulate.h"
#include "power/replay/test_policies.h"

namespace splitplane::power::replay {
namespace {

using Times = std::vector<std::uint64_t>;

template <Policy P>
CoreResult run(P& policy, const Times& arrivals, std::uint64_t end, const CoreSettings& settings = {}) {
  return simulate(settings, arrivals, end, policy);
}

CoreResult busy(const Times& arrivals, std::uint64_t end, const CoreSettings& settings = {}) {
  Busy policy;
  return run(policy, arrivals, end, settings);
}

std::uint64_t time_in(const CoreResult& result, State state, unsigned p_state = 0) {
  return result.time[p_state][static_cast<std::size_t>(state)];
}

Times every(std::uint64_t gap, std::size_t packets, std::uint64_t first = 0) {
  Times times(packets);
  for (std::size_t i = 0; i < packets; ++i) times[i] = first + i * gap;
  return times;
}

// A round without a packet takes 80 ns, one with a packet 180: packets each 180 + 10 x 80 ns meet every poll at once.
TEST(SimCore, busy_adds_exactly_the_poll_to_packets_in_step_with_it) {
  const CoreResult result = busy(every(980, 1000), 980'000);
  EXPECT_EQ(result.served, 1000U);
  EXPECT_EQ(result.added.min(), 50U);
  EXPECT_EQ(result.added.max(), 50U);
  EXPECT_EQ(time_in(result, State::busy), 180'000U);
  EXPECT_EQ(time_in(result, State::polling), 800'000U);
}

TEST(SimCore, packets_that_come_at_once_wait_for_those_before_them_burst_by_burst) {
  Always policy({});
  const CoreResult result = run(policy, Times(100, 0), 20'000);
  // The last packet: 3 whole rounds of 32, the poll of the fourth, 3 packets before it.
  EXPECT_EQ(result.added.max(), 3 * (80 + 3200) + 50 + 300U);
  EXPECT_EQ(policy.packets, (std::vector<unsigned>{32, 32, 32, 4}));
  EXPECT_EQ(policy.waiting, (std::vector<unsigned>{68, 36, 4, 0}));
}

TEST(SimCore, what_finds_the_ring_full_is_lost) {
  const CoreResult result = busy(Times(1500, 0), 1'000'000);
  EXPECT_EQ(result.lost, 1500U - 1024U);
  EXPECT_EQ(result.served, 1024U);
  EXPECT_EQ(result.most_queued, 1024U);
}

TEST(SimCore, a_queue_takes_packets_again_as_soon_as_some_were_taken) {
  Times times(1024, 0);
  times.push_back(1);  // after the first poll took 32
  EXPECT_EQ(busy(times, 1'000'000).lost, 0U);
}

TEST(SimCore, what_is_not_processed_at_the_end_is_still_queued) {
  const CoreResult result = busy(Times(100, 0), 1);
  EXPECT_EQ(result.served, 32U);
  EXPECT_EQ(result.queued, 68U);
}

TEST(SimCore, an_interrupt_ends_a_short_idle_time_within_microseconds) {
  Always policy({.rest = Rest::interrupt, .length = 10'000'000});
  const CoreResult result = run(policy, every(300'000, 100, 50'000), 30'050'000);
  EXPECT_EQ(result.interrupts, 100U);
  // C1's exit, the interrupt, disarming, the poll.
  EXPECT_EQ(result.added.min(), 2000 + 8000 + 200 + 50U);
  EXPECT_EQ(result.added.max(), 2000 + 8000 + 200 + 50U);
  EXPECT_TRUE(policy.woken.front());
}

TEST(SimCore, out_of_c6_it_takes_at_least_100_microseconds) {
  Always policy({.rest = Rest::interrupt, .length = 10'000'000});
  const CoreResult result = run(policy, every(2'000'000, 50, 1'000'000), 100'000'000);
  EXPECT_GE(result.added.min(), 100'000U);
  EXPECT_GT(time_in(result, State::c6), 80'000'000U);
  EXPECT_EQ(time_in(result, State::c1), 0U);
}

TEST(SimCore, a_packet_that_comes_while_interrupts_are_armed_prevents_the_sleep) {
  Always policy({.rest = Rest::interrupt, .length = 10'000'000});
  // The first round ends at 80 ns, arming at 280; then it looks again.
  const CoreResult result = run(policy, {100}, 500'000);
  EXPECT_EQ(result.rechecks, 1U);
  EXPECT_EQ(result.interrupts, 0U);
  EXPECT_LT(result.added.max(), 1000U);
}

TEST(SimCore, a_packet_that_comes_after_that_look_ends_the_sleep_at_once) {
  Always policy({.rest = Rest::interrupt, .length = 10'000'000});
  const CoreResult result = run(policy, {300}, 500'000);
  EXPECT_EQ(result.rechecks, 0U);
  EXPECT_EQ(result.interrupts, 1U);
  EXPECT_EQ(result.added.max(), 860 + 2000 + 8000 + 200 + 50 - 300U);  // the system call ends at 860
}

TEST(SimCore, without_interrupts_a_packet_waits_for_the_sleep_to_end) {
  Always policy({.rest = Rest::interrupt, .length = 200'000});
  CoreSettings settings;
  settings.interrupts = false;
  const CoreResult result = run(policy, {1000}, 1'000'000, settings);
  EXPECT_EQ(result.interrupts, 0U);
  EXPECT_GT(result.added.max(), 199'000U);
}

TEST(SimCore, a_timed_sleep_is_late_by_the_stated_times) {
  Always policy({.rest = Rest::sleep, .length = 50'000});
  const CoreResult result = run(policy, {}, 1'000'000'000);
  double sum = 0;
  for (const Ticks rested : policy.rested) {
    EXPECT_GE(rested, 50'000U + 500 + 4000 + 2000);
    sum += static_cast<double>(rested);
  }
  const auto sleeps = static_cast<double>(policy.rested.size());
  EXPECT_NEAR(sum / sleeps, 50'000 + 500 + 4000 + 6000 + 2000, 200);
  // What a worker would have measured: the median.
  const auto share_below = [&](Ticks overshoot) {
    const auto below = [&](Ticks rested) { return rested <= 50'000 + overshoot; };
    return static_cast<double>(std::count_if(policy.rested.begin(), policy.rested.end(), below)) / sleeps;
  };
  EXPECT_NEAR(share_below(machine_of({}).interrupt_latency), 0.5, 0.015);
  EXPECT_EQ(machine_of({}).sleep_overshoot, machine_of({}).interrupt_latency);
  EXPECT_EQ(result.sleeps, result.wakes);
}

TEST(SimCore, a_pause_is_whole_instructions_and_with_tpause_exact_and_not_awake) {
  Always policy({.rest = Rest::pause, .length = 120});
  EXPECT_EQ(time_in(run(policy, {}, 23'000), State::pause), 100U * 150);  // 80 ns of polling each
  CoreSettings settings;
  settings.timed_pause = true;
  EXPECT_EQ(time_in(run(policy, {}, 70'000, settings), State::tpause), 100U * 620);
  EXPECT_FALSE(is_awake(State::tpause));
}

TEST(SimCore, a_p_state_takes_effect_when_stated_halts_the_core_and_slows_all_work) {
  CoreSettings settings;
  settings.p_states = 2;
  settings.slowest = 0.5;
  Always policy({.p_state = 1});
  const CoreResult result = run(policy, {400'000, 600'000}, 700'000, settings);
  EXPECT_EQ(result.p_transitions, 1U);
  EXPECT_EQ(time_in(result, State::halted, 1), 10'000U);
  EXPECT_NEAR(static_cast<double>(time_in(result, State::polling, 0)), 500'000, 1000);
  EXPECT_EQ(time_in(result, State::busy, 0), 180U);
  EXPECT_EQ(time_in(result, State::busy, 1), 360U);
}

TEST(SimCore, packets_are_spread_over_all_queues) {
  CoreSettings settings;
  settings.queues = 4;
  settings.ring = 32;
  // 32 entries each: 4 queues hold most of 100 packets, one would hold 32.
  EXPECT_LT(busy(Times(100, 0), 1'000'000, settings).lost, 10U);
  settings.queues = 1;
  EXPECT_EQ(busy(Times(100, 0), 1'000'000, settings).lost, 68U);
}

}  // namespace
}  // namespace splitplane::power::replay
