// A card's counters add up, over its cores, too: what one hands on another takes, and at the end nothing is on the way.
#include "card/control/sums.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

// Core 0 receives 10 frames, hands 6 of them on and sends 4; core 1 sends those that it took.
std::vector<CoreCounts> two_cores(std::uint64_t taken) {
  std::vector<CoreCounts> cores(2);
  for (CoreCounts& core : cores) core.card.ports.resize(3);
  cores[0].card.ports[0].in = 10;
  cores[0].card.ports[1].out = 4;
  cores[0].moved = {.frames_handed = 6, .sent = 4};
  cores[1].card.ports[1].out = taken;
  cores[1].moved = {.frames_taken = taken, .sent = taken};
  return cores;
}

TEST(CardSums, of_one_core_count_what_its_ports_got_as_transmitted) {
  CoreCounts core;
  core.card.ports = {{.in = 9}, {.out = 6, .clones = 4, .tx_full = 1}};
  core.card.clones = 5;
  core.card.clones_sunk = 1;
  core.card.tx_full = 1;
  core.card.dropped = 3;
  const CardSums sums = sums_over(std::span(&core, 1), true);
  EXPECT_TRUE(sums.balanced);
  EXPECT_EQ(sums.transmitted, 9U);
  EXPECT_EQ(sums.dropped, 4U);
  EXPECT_EQ(sums.consumed, 1U);
  core.card.dropped = 2;
  EXPECT_FALSE(sums_over(std::span(&core, 1), true).balanced) << "a frame is nowhere";
}

TEST(CardSums, over_two_cores_leave_out_what_they_hand_each_other) {
  const CardSums sums = sums_over(two_cores(6), true);
  EXPECT_TRUE(sums.balanced);
  EXPECT_EQ(sums.received, 10U);
  EXPECT_EQ(sums.transmitted, 10U);
  EXPECT_EQ(sums.held, 0U);
}

TEST(CardSums, hold_what_is_on_its_way_between_running_cores_and_nothing_after_the_end) {
  const CardSums running = sums_over(two_cores(4), false);
  EXPECT_TRUE(running.balanced);
  EXPECT_EQ(running.held, 2U);
  const CardSums stopped = sums_over(two_cores(4), true);
  EXPECT_FALSE(stopped.balanced) << "two frames were left on a ring";
  EXPECT_EQ(stopped.held, 2U);
}

TEST(CardSums, notice_frames_that_were_taken_and_never_handed_on) {
  EXPECT_TRUE(sums_over(two_cores(7), false).balanced) << "core 0 may have been read before it handed that one on";
  EXPECT_FALSE(sums_over(two_cores(7), true).balanced);
}

}  // namespace
}  // namespace splitplane::app
