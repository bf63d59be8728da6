#include "power/sleep_depth.h"

#include <gtest/gtest.h>

#include <random>

#include "power/test_ticks.h"

namespace splitplane::power {
namespace {

using test::kMs;
using test::kUs;

// A core that falls into a deep state after `deep_after`, and takes `shallow` or `deep` to wake up.
struct Core {
  Ticks deep_after = 600 * kUs, shallow = 10 * kUs, deep = 110 * kUs;
  Ticks now = 0;

  // One sleep that a packet would end after `silence`.
  void sleep(SleepDepth& depth, Ticks silence, Ticks allowed) {
    const Ticks asked = depth.next();
    const bool woken = silence < asked;
    const Ticks idle = std::min(silence, asked);
    const Ticks took = idle + (idle >= deep_after ? deep : shallow);
    now += took;
    depth.learn(now, asked, took, woken, allowed);
  }
};

TEST(SleepDepth, an_idle_core_that_wakes_up_in_time_sleeps_as_long_as_it_may) {
  SleepDepth depth(10 * kMs, kUs);
  Core core;
  for (int i = 0; i < 50; ++i) core.sleep(depth, kNever, 200 * kUs);
  EXPECT_EQ(depth.next(), 10 * kMs);
}

TEST(SleepDepth, a_deep_state_that_breaks_the_budget_is_not_reached_again) {
  SleepDepth depth(10 * kMs, kUs);
  Core core;
  for (int i = 0; i < 50; ++i) core.sleep(depth, kNever, 80 * kUs);
  EXPECT_LT(depth.next(), 600 * kUs);
  EXPECT_GE(depth.usable(), 224 * kUs);
  EXPECT_EQ(depth.hoped(), depth.usable());
}

// The lateness alone would carry sleeps of the longest length that keeps the budget into the deep state.
TEST(SleepDepth, a_deep_state_that_begins_just_behind_a_length_is_not_reached_by_lateness) {
  for (const Ticks behind : {1, 5, 10, 20}) {
    SleepDepth depth(10 * kMs, kUs);
    Core core{.deep_after = 576 * kUs + behind * kUs};  // 256 us, grown by half twice
    std::minstd_rand random(1);
    unsigned deep = 0, sleeps = 0;
    for (; sleeps < 20'000; ++sleeps) {
      const Ticks asked = depth.next(), idle = asked + random() % (25 * kUs);
      const bool is_deep = idle >= core.deep_after;
      core.now += idle + (is_deep ? core.deep : 0);
      deep += is_deep ? 1 : 0;
      depth.learn(core.now, asked, idle + (is_deep ? core.deep : 0), false, 80 * kUs);
    }
    EXPECT_LT(deep, sleeps / 200) << behind;
  }
}

TEST(SleepDepth, it_is_tried_again_after_seconds) {
  SleepDepth depth(10 * kMs, kUs);
  Core core;
  for (int i = 0; i < 50; ++i) core.sleep(depth, kNever, 80 * kUs);
  core.deep = 10 * kUs;  // as with a PM QoS request
  while (core.now < 10'000 * kMs) core.sleep(depth, kNever, 80 * kUs);
  EXPECT_EQ(depth.next(), 10 * kMs);
}

TEST(SleepDepth, neighbours_that_make_some_sleeps_late_do_not_shorten_the_others) {
  SleepDepth depth(10 * kMs, kUs);
  std::minstd_rand random(1);
  Ticks now = 0, asleep = 0;
  std::uint64_t sleeps = 0;
  while (now < 60'000 * kMs) {
    const Ticks asked = depth.next(), took = asked + (random() % 10 < 3 ? 4000 * kUs : 10 * kUs);
    now += took;
    asleep += asked;
    ++sleeps;
    depth.learn(now, asked, took, false, 50 * kUs);
  }
  EXPECT_GT(asleep / sleeps, 4 * kMs);
}

TEST(SleepDepth, a_core_that_begins_to_fall_into_a_deep_state_is_kept_from_it_again) {
  SleepDepth depth(10 * kMs, kUs);
  Core core{.deep = 10 * kUs};
  for (int i = 0; i < 50; ++i) core.sleep(depth, kNever, 80 * kUs);
  core.deep = 110 * kUs;
  for (int i = 0; i < 80; ++i) core.sleep(depth, kNever, 80 * kUs);
  EXPECT_LT(depth.usable(), 600 * kUs);
  EXPECT_GE(depth.usable(), 224 * kUs);
}

TEST(SleepDepth, where_every_length_is_late_the_longest_is_taken) {
  SleepDepth depth(10 * kMs, kUs);
  Core core{.deep_after = 0};
  for (int i = 0; i < 100; ++i) core.sleep(depth, kNever, 80 * kUs);
  EXPECT_EQ(depth.next(), 10 * kMs);
}

TEST(SleepDepth, packets_that_always_come_in_a_deep_state_do_not_hide_how_late_it_is) {
  SleepDepth depth(10 * kMs, kUs);
  Core core;
  for (int i = 0; i < 400; ++i) core.sleep(depth, 700 * kUs, 80 * kUs);
  EXPECT_LT(depth.usable(), 600 * kUs);
  EXPECT_LT(depth.next(), 600 * kUs);
}

TEST(SleepDepth, sleeps_that_timers_ended_early_prove_nothing) {
  SleepDepth depth(10 * kMs, kUs);
  const Ticks before = depth.usable();
  for (int i = 0; i < 50; ++i) depth.learn(i * kMs, 50 * kUs, 60 * kUs, false, 80 * kUs);
  EXPECT_EQ(depth.usable(), before);
}

}  // namespace
}  // namespace splitplane::power
