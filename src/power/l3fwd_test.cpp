#include "power/l3fwd.h"

#include <gtest/gtest.h>

#include <vector>

#include "power/test_ticks.h"

namespace splitplane::power {
namespace {

using test::kMs;
using test::kUs;

class L3fwdCore {
 public:
  explicit L3fwdCore(unsigned queues = 1, bool interrupts = true)
      : policy_({}, {.ticks_per_us = kUs, .queues = queues, .interrupts = interrupts, .p_states = 13}),
        queues_(queues) {}

  Action poll(std::vector<QueueRound> queues, Ticks took = 100) {
    now_ += took;
    Round round{.now = now_, .queues = queues};
    for (const QueueRound& queue : queues) round.packets += queue.packets;
    const Action action = policy_.after(round);
    if (action.p_state != Action::kKeep) p_state_ = action.p_state;
    return action;
  }
  Action poll_empty(unsigned times = 1) {
    Action action;
    for (unsigned i = 0; i < times; ++i) action = poll(std::vector<QueueRound>(queues_));
    return action;
  }
  // Rounds of 10 us with that many packets each.
  void load(Ticks time, unsigned packets) {
    for (Ticks passed = 0; passed < time; passed += 10 * kUs) poll({{.packets = packets}}, 10 * kUs);
  }
  [[nodiscard]] int p_state() const { return p_state_; }

 private:
  L3fwd policy_;
  unsigned queues_;
  Ticks now_ = kMs;
  int p_state_ = -1;
};

TEST(L3fwd, pauses_after_more_than_ten_empty_polls_and_waits_from_the_300th) {
  L3fwdCore core;
  EXPECT_EQ(core.poll_empty(10).rest, Rest::none);
  EXPECT_EQ(core.poll_empty().rest, Rest::pause);
  EXPECT_EQ(core.poll_empty(288).rest, Rest::pause);
  const Action action = core.poll_empty();
  EXPECT_EQ(action.rest, Rest::interrupt);
  EXPECT_EQ(action.length, 10 * kMs);
}

TEST(L3fwd, without_interrupts_it_polls_at_full_speed_once_it_would_wait) {
  L3fwdCore core(1, false);
  EXPECT_EQ(core.poll_empty(299).rest, Rest::pause);
  EXPECT_EQ(core.poll_empty(100).rest, Rest::none);
}

TEST(L3fwd, steps_down_ten_times_a_second_unless_saturated) {
  L3fwdCore idle_enough;
  idle_enough.load(1250 * kMs, 31);
  EXPECT_EQ(idle_enough.p_state(), 12) << "whatever the utilisation: 31 packets a loop may be all that it can do";
  L3fwdCore saturated;
  saturated.load(1250 * kMs, 32);
  EXPECT_EQ(saturated.p_state(), 1) << "only the first period counts a loop more than bursts";
}

TEST(L3fwd, steps_down_when_it_paused_a_quarter_of_the_time) {
  L3fwdCore core(32);
  const std::vector<QueueRound> full(32, {.packets = 32}), none(32);
  for (int i = 0; i < 20'000; ++i) {  // 1024 packets in 21 loops, 10 of them with a pause
    core.poll(full, kUs);
    for (int k = 0; k < 20; ++k) core.poll(none, k < 11 ? 100 : kUs + 100);
  }
  EXPECT_GT(core.p_state(), 1);
}

TEST(L3fwd, a_stale_hint_is_applied_again) {
  L3fwdCore core(2);
  core.load(250 * kMs, 1);
  EXPECT_EQ(core.p_state(), 2);
  core.poll({{.packets = 1}, {.packets = 32, .waiting = 97}});
  EXPECT_EQ(core.p_state(), 0);
  // No packet comes to the second queue any more, yet its old hint raises the core's frequency in each round.
  for (int i = 0; i < 100'000; ++i) core.poll({{.packets = 1}, {}}, 10 * kUs);
  EXPECT_EQ(core.p_state(), 0);
}

TEST(L3fwd, the_trend_is_of_the_core_and_never_fades) {
  L3fwdCore core(2);
  core.load(150 * kMs, 1);
  ASSERT_EQ(core.p_state(), 1);
  const QueueRound queue{.packets = 32, .waiting = 65};
  for (int i = 0; i < 50; ++i) {
    core.poll({queue, queue});
    EXPECT_EQ(core.p_state(), 1);
    core.poll_empty();
  }
  core.poll({queue, {}});
  EXPECT_EQ(core.p_state(), 0) << "the 101st of them, 51 polls after the first";
}

TEST(L3fwd, an_idle_core_never_steps_down) {
  L3fwdCore core;
  core.poll_empty(300);
  for (int i = 0; i < 100; ++i) {
    const std::vector<QueueRound> none(1);
    EXPECT_EQ(core.poll(none, 10 * kMs).rest, Rest::interrupt);
  }
  EXPECT_EQ(core.p_state(), 0) << "goto start_rx leaps over the timers";
}

}  // namespace
}  // namespace splitplane::power
