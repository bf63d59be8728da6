#include "power/wake_cost.h"

#include <gtest/gtest.h>

namespace splitplane::power {
namespace {

TEST(WakeCost, is_metered_until_it_is_known_and_then_one_rest_in_eight) {
  WakeCost cost;
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(cost.known());
    EXPECT_TRUE(cost.wanted());
    cost.learn(1000 + static_cast<Ticks>(i % 2) * 100);
  }
  EXPECT_TRUE(cost.known());
  EXPECT_NEAR(cost.mean(), 1050, 1e-9);
  for (int i = 0; i < 7; ++i) {
    EXPECT_FALSE(cost.wanted());
    EXPECT_FALSE(cost.wanted()) << "asking twice is no rest";
    cost.learn(0);
  }
  EXPECT_TRUE(cost.wanted());
  EXPECT_NEAR(cost.mean(), 1050, 1e-9);
}

TEST(WakeCost, a_worker_that_cannot_tell_is_asked_again_and_nothing_is_known) {
  WakeCost cost;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(cost.wanted());
    cost.learn(0);
  }
  EXPECT_FALSE(cost.told());
}

TEST(WakeCost, follows_a_change_and_is_not_thrown_by_a_single_one) {
  WakeCost cost;
  for (int i = 0; i < 8; ++i) cost.learn(1000);
  cost.learn(1'000'000);
  EXPECT_NEAR(cost.mean(), 1000 + 3000.0 / 8, 1e-9);
  for (int i = 0; i < 100; ++i) cost.learn(10'000);
  EXPECT_NEAR(cost.mean(), 10'000, 10);
}

TEST(Trials, come_now_and_then_and_last_for_16_rests) {
  Trials trials;
  int taken = 0;
  for (int window = 0; window < 8 + 256 + 2 * 512; ++window) {
    for (; trials.due(); ++taken) trials.take();
    trials.end_window();
  }
  EXPECT_EQ(taken, 3 * 16);
  EXPECT_TRUE(trials.due());
}

TEST(Trials, come_sooner_after_a_change) {
  Trials trials;
  const auto windows_until_due = [&] {
    for (; trials.due();) trials.take();
    int windows = 0;
    for (; !trials.due(); ++windows) trials.end_window();
    return windows;
  };
  for (int i = 0; i < 4; ++i) (void)windows_until_due();
  EXPECT_EQ(windows_until_due(), 512);
  for (; trials.due();) trials.take();
  trials.end_window(true);
  EXPECT_EQ(windows_until_due(), 511) << "the one that was due already";
  EXPECT_EQ(windows_until_due(), 256);
}

TEST(Spins, go_on_while_they_save_wake_ups_and_are_tried_again_now_and_then) {
  Spins spins;
  EXPECT_TRUE(spins.due());
  for (int i = 0; i < 100; ++i) {
    spins.begin_silence();
    if (spins.due()) spins.spin();
    spins.end_silence(false);
    spins.judge(10, 2);
  }
  EXPECT_FALSE(spins.pays());
  int tried = 0;
  for (int i = 0; i < 16 * 100; ++i) {
    spins.begin_silence();
    if (spins.due()) ++tried, spins.spin();
    spins.end_silence(true);
    spins.judge(10, 2);
    if (spins.pays()) break;
  }
  EXPECT_LT(tried, 10) << "one in five is enough at these costs";
  EXPECT_TRUE(spins.pays());
}

}  // namespace
}  // namespace splitplane::power
