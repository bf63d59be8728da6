#include "power/paper.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "power/test_ticks.h"

namespace splitplane::power {
namespace {

using test::kMs;
using test::kUs;

Machine machine(unsigned queues = 1, bool interrupts = true) {
  Machine made{.ticks_per_us = kUs, .queues = queues, .interrupts = interrupts, .p_states = 5};
  made.speed = {1.0F, 0.9F, 0.8F, 0.7F, 0.6F};
  return made;
}

// The worker loop's part, with a clock that the test moves.
class PaperCore {
 public:
  explicit PaperCore(unsigned queues = 1, bool interrupts = true, const PaperSettings& settings = {})
      : policy_(settings, machine(queues, interrupts)), queues_(queues) {
    last_ = poll_empty();  // asks for P0; the first of the empty polls
  }

  Action poll(std::vector<QueueRound> queues, Ticks busy = 0, Ticks next_timer = kNever) {
    now_ += step_;
    Round round{.now = now_, .busy = busy, .next_timer = next_timer, .queues = queues};
    for (const QueueRound& queue : queues) round.packets += queue.packets;
    last_ = policy_.after(round);
    if (last_.p_state != Action::kKeep) p_state_ = last_.p_state;
    return last_;
  }
  Action poll_waiting(std::uint32_t waiting) { return poll({{.packets = 32, .waiting = waiting}}); }
  Action poll_empty(unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) poll(std::vector<QueueRound>(queues_));
    return last_;
  }
  // Lets `time` pass in rounds of 10 us; the part `utilisation` of each is work.
  void load(Ticks time, double utilisation) {
    const Ticks step = std::exchange(step_, 10 * kUs);
    for (Ticks passed = 0; passed < time; passed += step_)
      poll({{.packets = 1}}, static_cast<Ticks>(utilisation * static_cast<double>(step_)));
    step_ = step;
  }
  void pass(Ticks time) { now_ += time; }
  void polls_take(Ticks time) { step_ = time; }
  double shown(const std::string& name) {
    std::map<std::string, double> all;
    policy_.show([&](const char* key, double value) { all[key] = value; });
    return all.at(name);
  }
  [[nodiscard]] Ticks now() const { return now_; }
  [[nodiscard]] int p_state() const { return p_state_; }

 private:
  Paper policy_;
  unsigned queues_;
  Ticks now_ = 5 * kMs;
  Ticks step_ = 100;
  int p_state_ = -1;
  Action last_;
};

// Goes down to the slowest P-state by an idle time; then a packet comes.
void go_down(PaperCore& core) {
  for (int i = 0; i < 4; ++i) core.load(110 * kMs, 0);
  ASSERT_EQ(core.p_state(), 4);
}

TEST(Paper, begins_at_p0_whatever_the_machine_stands_at) {
  EXPECT_EQ(PaperCore().p_state(), 0);
  Paper fixed({}, Machine{.ticks_per_us = kUs, .interrupts = true});
  const QueueRound empty;
  EXPECT_EQ(fixed.after({.now = 1, .queues = {&empty, 1}}).p_state, Action::kKeep) << "the frequency cannot be set";
}

TEST(Paper, line_2_hints_of_an_earlier_round_are_forgotten) {
  PaperCore core;
  go_down(core);
  EXPECT_EQ(core.poll_waiting(97).p_state, 0);
  core.load(250 * kMs, 0);  // l3fwd-power would apply the old hint again in each of these rounds
  EXPECT_EQ(core.p_state(), 2);
  // ... and the idle hint of an earlier round does not make a queue with packets idle.
  core.poll_empty(400);
  EXPECT_EQ(core.poll({{.packets = 1}}).rest, Rest::none);
}

TEST(Paper, line_3_looks_at_each_queue) {
  PaperCore core(3);
  go_down(core);
  EXPECT_EQ(core.poll({{}, {}, {.packets = 32, .waiting = 97}}).p_state, 0);
}

TEST(Paper, lines_4_and_5_count_empty_polls) {
  PaperCore core;
  EXPECT_EQ(core.shown("empty_polls"), 1);
  core.poll_empty(4);
  EXPECT_EQ(core.shown("empty_polls"), 5);
}

TEST(Paper, line_6_no_hint_before_the_tenth_empty_poll) {
  PaperCore core;
  EXPECT_EQ(core.poll_empty(8).rest, Rest::none) << "the ninth";
  EXPECT_EQ(core.poll_empty().rest, Rest::pause) << "the tenth";
}

TEST(Paper, lines_7_and_8_hint_one_us_until_the_299th) {
  PaperCore core;
  core.poll_empty(9);
  for (int i = 10; i < 299; ++i) {
    const Action action = core.poll_empty();
    ASSERT_EQ(action.rest, Rest::pause);
    ASSERT_EQ(action.length, kUs);
  }
}

TEST(Paper, lines_9_and_10_hint_interrupts_from_the_300th) {
  PaperCore core;
  EXPECT_EQ(core.poll_empty(298).rest, Rest::pause) << "the 299th";
  EXPECT_EQ(core.poll_empty().rest, Rest::interrupt) << "the 300th";
}

TEST(Paper, lines_11_and_12_a_packet_sets_the_count_back) {
  PaperCore core;
  core.poll_empty(298);
  EXPECT_EQ(core.poll({{.packets = 1}}).rest, Rest::none);
  EXPECT_EQ(core.shown("empty_polls"), 0);
  EXPECT_EQ(core.poll_empty(9).rest, Rest::none);
  EXPECT_EQ(core.poll_empty().rest, Rest::pause);
}

TEST(Paper, line_13_reads_what_still_waits_not_what_was_taken) {
  PaperCore core;
  for (int i = 0; i < 100; ++i) core.poll({{.packets = 128, .waiting = 0}});
  EXPECT_EQ(core.shown("trend"), 0);
}

TEST(Paper, lines_14_and_15_more_than_96_forget_the_trend_and_hint_the_highest) {
  PaperCore core;
  go_down(core);
  core.poll_waiting(96);
  EXPECT_EQ(core.p_state(), 4);
  EXPECT_EQ(core.shown("trend"), 250);
  EXPECT_EQ(core.poll_waiting(97).p_state, 0);
  EXPECT_EQ(core.shown("trend"), 0);
}

TEST(Paper, lines_16_and_17_more_than_64_add_250) {
  PaperCore core;
  core.poll_waiting(65);
  EXPECT_EQ(core.shown("trend"), 250);
}

TEST(Paper, lines_18_and_19_more_than_32_add_3) {
  PaperCore core;
  core.poll_waiting(32);
  EXPECT_EQ(core.shown("trend"), 0);
  core.poll_waiting(33);
  EXPECT_EQ(core.shown("trend"), 3);
  core.poll_waiting(64);
  EXPECT_EQ(core.shown("trend"), 6);
}

TEST(Paper, lines_20_and_21_at_10000_hint_the_next_and_begin_anew) {
  PaperCore core;
  go_down(core);
  for (int i = 0; i < 39; ++i) core.poll_waiting(65);
  EXPECT_EQ(core.shown("trend"), 9750);
  EXPECT_EQ(core.p_state(), 4);
  core.poll_waiting(65);
  EXPECT_EQ(core.p_state(), 3);
  EXPECT_EQ(core.shown("trend"), 0);
}

TEST(Paper, line_20_takes_3334_polls_above_32_as_printed) {
  PaperCore core;
  go_down(core);
  core.polls_take(3 * kUs);
  for (int i = 0; i < 3333; ++i) core.poll_waiting(33);
  EXPECT_EQ(core.p_state(), 4);
  core.poll_waiting(33);
  EXPECT_EQ(core.p_state(), 3);
}

TEST(Paper, a_saturated_core_climbs_to_p0_although_the_trend_fades) {
  PaperCore core;
  go_down(core);
  core.polls_take(3 * kUs);
  for (int i = 0; i < 4 * 5001; ++i) core.poll({{.packets = 32, .waiting = 33}}, 3 * kUs);  // a halving costs 1667
  EXPECT_EQ(core.p_state(), 0);
}

TEST(Paper, line_23_the_least_idle_queue_decides) {
  PaperCore core(2);
  core.poll_empty(400);
  EXPECT_EQ(core.poll_empty().rest, Rest::interrupt);
  core.poll({{.packets = 1}, {}});
  core.poll_empty(10);
  EXPECT_EQ(core.poll_empty().rest, Rest::pause) << "one queue hints 1 us, the other 300";
}

TEST(Paper, lines_24_to_26_the_fastest_hint_decides_and_steps_to_the_highest) {
  PaperCore core(2);
  go_down(core);
  for (int i = 0; i < 39; ++i) core.poll({{.packets = 32, .waiting = 65}, {}});
  // The first queue hints the next P-state, the second the highest.
  EXPECT_EQ(core.poll({{.packets = 32, .waiting = 65}, {.packets = 32, .waiting = 97}}).p_state, 0);

  PaperCore turned(2);
  go_down(turned);
  EXPECT_EQ(turned.poll({{.packets = 32, .waiting = 97}, {.packets = 1}}).p_state, 0);
}

TEST(Paper, lines_27_and_28_step_to_the_next_and_no_further_than_p0) {
  PaperCore core;
  go_down(core);
  for (const int expected : {3, 2, 1, 0, 0, 0}) {
    for (int i = 0; i < 40; ++i) core.poll_waiting(65);
    EXPECT_EQ(core.p_state(), expected);
  }
}

TEST(Paper, lines_29_and_30_pause_for_the_hint) {
  PaperCore core(1, true, {.short_idle_us = 2});
  const Action action = core.poll_empty(9);
  EXPECT_EQ(action.rest, Rest::pause);
  EXPECT_EQ(action.length, 2 * kUs);
}

TEST(Paper, lines_31_to_33_sleep_until_an_interrupt) {
  PaperCore core;
  EXPECT_EQ(core.poll_empty(299).rest, Rest::interrupt);
}

TEST(Paper, lines_34_to_36_a_packet_wakes_it_to_poll_again) {
  PaperCore core;
  core.poll_empty(299);
  core.pass(3 * kMs);
  EXPECT_EQ(core.poll({{.packets = 1}}).rest, Rest::none);
  EXPECT_EQ(core.poll_empty().rest, Rest::none);
}

TEST(Paper, line_37_waits_10_ms_at_most) {
  PaperCore core;
  EXPECT_EQ(core.poll_empty(299).length, 10 * kMs);
}

TEST(Paper, completion_one_steps_down_when_the_next_state_would_be_used_less_than_seven_tenths) {
  PaperCore core;
  core.load(99 * kMs, 0.6);
  EXPECT_EQ(core.p_state(), 0) << "not before the dwell";
  core.load(20 * kMs, 0.6);
  EXPECT_EQ(core.p_state(), 1) << "0.6 / 0.9 = 0.67";
  core.load(500 * kMs, 0.67);
  EXPECT_EQ(core.p_state(), 1) << "0.67 * 0.9 / 0.8 = 0.75";
}

TEST(Paper, completion_one_waits_the_dwell_after_a_step_up) {
  PaperCore core;
  go_down(core);
  core.poll_waiting(97);
  core.load(99 * kMs, 0);
  EXPECT_EQ(core.p_state(), 0);
  core.load(2 * kMs, 0);
  EXPECT_EQ(core.p_state(), 1) << "and one step only";
}

TEST(Paper, completion_two_a_trend_fades) {
  PaperCore core;
  for (int i = 0; i < 30; ++i) core.poll_waiting(65);
  EXPECT_EQ(core.shown("trend"), 7500);
  core.pass(100 * kMs);
  core.poll_waiting(0);
  EXPECT_EQ(core.shown("trend"), 3750);
  core.pass(200 * kMs);
  core.poll_waiting(0);
  EXPECT_EQ(core.shown("trend"), 937);
  core.pass(kMs * 10'000);
  core.poll_waiting(0);
  EXPECT_EQ(core.shown("trend"), 0);
}

TEST(Paper, completion_two_an_empty_queue_has_no_trend) {
  PaperCore core;
  core.poll_waiting(65);
  core.poll_empty();
  EXPECT_EQ(core.shown("trend"), 0);
}

// Completion three is the condition of line 2.

TEST(Paper, completion_four_a_sleep_without_a_packet_is_followed_by_the_next) {
  PaperCore core;
  core.poll_empty(299);
  core.pass(10 * kMs);
  EXPECT_EQ(core.poll_empty().rest, Rest::interrupt);
}

TEST(Paper, completion_five_one_busy_queue_forbids_every_rest) {
  PaperCore core(2);
  core.poll_empty(400);
  for (int i = 0; i < 400; ++i) EXPECT_EQ(core.poll({{.packets = 1}, {}}).rest, Rest::none);
  EXPECT_EQ(core.poll_empty(9).rest, Rest::none) << "nine empty polls of the first queue";
}

TEST(Paper, completion_five_the_trend_does_not_grow_faster_with_more_queues) {
  PaperCore core(4);
  const QueueRound queue{.packets = 32, .waiting = 65};
  core.poll({queue, queue, queue, queue});
  EXPECT_EQ(core.shown("trend"), 250);
}

// The worker implements completions six, seven and nine: what it flushes, runs and checks before and after a sleep.

TEST(Paper, completion_ten_asks_for_a_p_state_once) {
  PaperCore core;
  go_down(core);
  EXPECT_EQ(core.poll_waiting(97).p_state, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(core.poll_waiting(97).p_state, Action::kKeep);
}

TEST(Paper, completion_eleven_a_timer_bounds_pause_and_sleep) {
  PaperCore core;
  core.poll_empty(20);
  EXPECT_EQ(core.poll({{}}, 0, core.now() + 400).length, 300U) << "a round takes 100 ticks";
  core.poll_empty(400);
  EXPECT_EQ(core.poll({{}}, 0, core.now() + 2 * kMs).length, 2 * kMs - 100);
  EXPECT_EQ(core.poll({{}}, 0, core.now()).rest, Rest::none) << "due";
}

TEST(Paper, without_interrupts_the_hint_stays_the_short_one) {
  PaperCore core(1, false);
  const Action action = core.poll_empty(1000);
  EXPECT_EQ(action.rest, Rest::pause);
  EXPECT_EQ(action.length, kUs);
}

// The reading without completions one and two.
class PrintedPaper : public testing::Test {
 protected:
  PrintedPaper() {
    machine_.p_states = 3;
    machine_.speed = {1.0F, 0.8F, 0.6F};
  }
  static QueueRound full(unsigned waiting) { return {.packets = 32, .waiting = waiting}; }
  Action after(Paper& policy, QueueRound queue) {
    now_ += test::kUs;
    return policy.after({.now = now_, .busy = 100, .packets = queue.packets, .queues = {&queue, 1}});
  }

  Machine machine_;
  Ticks now_ = test::kMs;
};

TEST_F(PrintedPaper, begins_at_the_slowest_p_state_because_it_can_only_step_up) {
  Paper policy({}, machine_, Paper::Reading::printed);
  EXPECT_EQ(after(policy, {}).p_state, 2);
}

TEST_F(PrintedPaper, an_empty_poll_and_time_leave_the_trend_as_it_is) {
  for (const auto reading : {Paper::Reading::printed, Paper::Reading::completed}) {
    Paper policy({}, machine_, reading);
    int at = after(policy, {}).p_state, climbs = 0;
    const auto see = [&](const Action& action) {
      if (action.p_state == Action::kKeep) return;
      climbs += action.p_state < at ? 1 : 0;
      at = action.p_state;
    };
    for (int i = 0; i < 40; ++i) {  // 40 times 250 is the limit
      see(after(policy, full(70)));
      see(after(policy, {}));
      now_ += 300 * test::kMs;
    }
    EXPECT_EQ(climbs, reading == Paper::Reading::printed ? 1 : 0);
  }
}

TEST_F(PrintedPaper, never_steps_down) {
  Paper policy({}, machine_, Paper::Reading::printed);
  after(policy, {});
  EXPECT_EQ(after(policy, full(100)).p_state, 0);
  for (int i = 0; i < 10; ++i) {
    now_ += 300 * test::kMs;
    EXPECT_EQ(after(policy, {}).p_state, Action::kKeep);
  }
}

}  // namespace
}  // namespace splitplane::power
