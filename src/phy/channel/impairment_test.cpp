#include "phy/channel/impairment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace splitplane::phy {
namespace {

constexpr int kFrames = 1'000'000;
constexpr double kTicksPerUs = 2;

Impairment make(const Impairments& wanted, std::uint64_t seed = 1) {
  return {seed, kTicksPerUs, wanted};
}

std::vector<bool> losses(const Impairments& wanted, int frames = kFrames, std::uint64_t seed = 1) {
  Impairment impairment = make(wanted, seed);
  std::vector<bool> lost;
  for (int i = 0; i < frames; ++i) lost.push_back(impairment.next(0).lost);
  return lost;
}

struct Runs {
  double lost = 0, runs = 0;
};
Runs count(const std::vector<bool>& lost) {
  Runs found;
  bool before = false;
  for (const bool now : lost) {
    found.lost += now;
    found.runs += now && !before;
    before = now;
  }
  return found;
}

// Mean and bound of a two-state chain: its correlation widens the variance of the share by (1 + c) / (1 - c), and the
// lengths of bursts are geometric.
void expect_loss(double share, double length, double five_sigma = 5) {
  const Runs found = count(losses({.loss_percent = 100 * share, .burst_length = length}));
  const double mean_run = std::max(length, 1 / (1 - share));
  const double end = 1 / mean_run, begin = end * share / (1 - share), correlation = 1 - begin - end;
  const double spread = std::sqrt(share * (1 - share) * (1 + correlation) / (1 - correlation) / kFrames);
  EXPECT_NEAR(found.lost / kFrames, share, five_sigma * spread) << share << " in bursts of " << length;
  const double run_spread = std::sqrt((1 - end) / (end * end) / found.runs);
  EXPECT_NEAR(found.lost / found.runs, mean_run, five_sigma * run_spread) << share << " in bursts of " << length;
}

TEST(Impairment, losses_have_the_wanted_share_and_burst_length) {
  for (const double share : {0.001, 0.01, 0.1, 0.5, 0.9})
    for (const double length : {1.0, 1.5, 4.0, 25.0}) expect_loss(share, length);
}

TEST(Impairment, bursts_of_1_are_independent_losses) {
  const auto lost = losses({.loss_percent = 30});
  double pairs = 0;
  for (std::size_t i = 1; i < lost.size(); ++i) pairs += lost[i] && lost[i - 1];
  EXPECT_NEAR(pairs / kFrames, 0.3 * 0.3, 5 * std::sqrt(0.09 * 0.91 / kFrames) * 1.5);
}

TEST(Impairment, nothing_and_everything_are_exact) {
  EXPECT_EQ(count(losses({})).lost, 0);
  for (const double length : {1.0, 8.0})
    EXPECT_EQ(count(losses({.loss_percent = 100, .burst_length = length})).lost, kFrames);
  Impairment all = make({.duplicate_percent = 100, .delay_us = 5, .reorder_percent = 100});
  for (int i = 0; i < 1000; ++i) {
    const Fate fate = all.next(7);
    EXPECT_TRUE(fate.doubled && !fate.lost && fate.due == 7 && fate.copy_due == 17);
  }
}

TEST(Impairment, in_burst_says_that_the_frame_before_was_lost_too) {
  Impairment impairment = make({.loss_percent = 40, .burst_length = 3});
  bool before = false;
  for (int i = 0; i < 10000; ++i) {
    const Fate fate = impairment.next(0);
    EXPECT_EQ(fate.in_burst, fate.lost && before);
    before = fate.lost;
  }
}

TEST(Impairment, the_same_seed_gives_the_same_fates_another_seed_others) {
  const Impairments wanted{.loss_percent = 10, .burst_length = 2};
  EXPECT_EQ(losses(wanted, 1000, 7), losses(wanted, 1000, 7));
  EXPECT_NE(losses(wanted, 1000, 7), losses(wanted, 1000, 8));
}

// These figures allow comparisons between machines, and other tests may predict them.
TEST(Impairment, the_losses_of_seed_1_are_these) {
  std::string text;
  for (const bool lost : losses({.loss_percent = 25}, 40)) text += lost ? 'x' : '.';
  EXPECT_EQ(text, "..x.x..xxx..x......x.x..xx.....x......x.");
}

TEST(Impairment, one_decision_does_not_change_another) {
  const Impairments some{.loss_percent = 10, .burst_length = 4};
  Impairments all = some;
  all.duplicate_percent = 20;
  all.delay_us = all.jitter_us = 50;
  all.reorder_percent = 5;
  EXPECT_EQ(losses(some, 10000), losses(all, 10000));
  Impairment without = make({.duplicate_percent = 20, .jitter_us = 50, .reorder_percent = 5}), with = make(all);
  for (int i = 0; i < 10000; ++i) {
    const Fate plain = without.next(0), other = with.next(0);
    EXPECT_EQ(other.doubled, plain.doubled && !other.lost);
    EXPECT_EQ(other.copy_due, plain.copy_due + 100);
    EXPECT_TRUE(other.due == plain.due + 100 || (other.due == 0 && plain.due == 0)) << other.due << ' ' << plain.due;
  }
}

TEST(Impairment, delay_is_exact_jitter_uniform_and_overtaking_at_once) {
  Impairment impairment = make({.delay_us = 1000, .jitter_us = 400, .reorder_percent = 10});
  double overtook = 0, delayed = 0, sum = 0, low = 0;
  for (int i = 0; i < kFrames; ++i) {
    const Ticks now = 1000 + static_cast<Ticks>(i);
    const Ticks late = impairment.next(now).due - now;
    if (late == 0) {
      ++overtook;
      continue;
    }
    ASSERT_GE(late, 2000U);
    ASSERT_LE(late, 2800U);
    ++delayed;
    sum += static_cast<double>(late);
    low += late < 2200;
  }
  EXPECT_NEAR(overtook / kFrames, 0.1, 5 * std::sqrt(0.09 / kFrames));
  EXPECT_NEAR(sum / delayed, 2400, 5 * 800 / std::sqrt(12 * delayed) + 1);
  EXPECT_NEAR(low / delayed, 0.25, 5 * std::sqrt(0.1875 / delayed) + 0.001);
}

TEST(Impairment, doubled_frames_have_the_wanted_share) {
  Impairment impairment = make({.duplicate_percent = 3});
  double doubled = 0;
  for (int i = 0; i < kFrames; ++i) doubled += impairment.next(0).doubled;
  EXPECT_NEAR(doubled / kFrames, 0.03, 5 * std::sqrt(0.03 * 0.97 / kFrames));
}

TEST(Impairment, new_settings_hold_from_the_next_frame_on) {
  Impairment impairment = make({});
  EXPECT_FALSE(impairment.next(0).lost);
  impairment.set({.loss_percent = 100});
  EXPECT_TRUE(impairment.next(0).lost);
  impairment.set({.delay_us = 3});
  EXPECT_EQ(impairment.next(10).due, 16U);
}

}  // namespace
}  // namespace splitplane::phy
