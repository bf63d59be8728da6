#include "power/p_state_ladder.h"

#include <gtest/gtest.h>

namespace splitplane::power {
namespace {

Machine machine(unsigned p_states) {
  Machine made{.p_states = p_states};
  made.speed = {1.0F, 0.5F, 0.25F};
  return made;
}

TEST(PStateLadder, climbs_any_way_at_once_and_steps_down_one_after_the_dwell) {
  PStateLadder ladder(machine(3), 100);
  ladder.begin(1000);
  EXPECT_FALSE(ladder.step_down(1099));
  EXPECT_TRUE(ladder.step_down(1100));
  EXPECT_EQ(ladder.current(), 1);
  EXPECT_FALSE(ladder.step_down(1199));
  EXPECT_TRUE(ladder.step_down(1200));
  EXPECT_FALSE(ladder.step_down(9999)) << "the slowest";
  EXPECT_TRUE(ladder.climb_to(0, 10'000));
  EXPECT_FALSE(ladder.climb_to(0, 10'000));
  EXPECT_FALSE(ladder.step_down(10'099)) << "the dwell counts from any step";
}

TEST(PStateLadder, steps_down_that_are_taken_back_become_rarer_and_those_that_last_do_not) {
  PStateLadder ladder(machine(3), 100, 4);
  ladder.begin(0);
  Ticks now = 0;
  for (const Ticks dwell : {100, 200, 400, 400}) {
    EXPECT_FALSE(ladder.step_down(now + dwell - 1));
    EXPECT_TRUE(ladder.step_down(now += dwell));
    EXPECT_TRUE(ladder.climb_to(0, now += 10));
  }
  EXPECT_TRUE(ladder.step_down(now += 400));
  EXPECT_TRUE(ladder.step_down(now += 400));
  EXPECT_TRUE(ladder.climb_to(0, now += 200)) << "they have lasted";
  EXPECT_TRUE(ladder.step_down(now += 100));
}

TEST(PStateLadder, asks_once_for_each_step_and_at_the_beginning) {
  PStateLadder ladder(machine(3), 100);
  EXPECT_EQ(ladder.request(), Action::kKeep);
  ladder.begin(0);
  EXPECT_EQ(ladder.request(), 0);
  EXPECT_EQ(ladder.request(), Action::kKeep);
  ladder.step_down(100);
  EXPECT_EQ(ladder.request(), 1);
  EXPECT_EQ(ladder.request(), Action::kKeep);
}

TEST(PStateLadder, a_machine_with_one_speed_is_asked_for_nothing) {
  PStateLadder ladder(machine(1), 100);
  ladder.begin(0);
  EXPECT_FALSE(ladder.step_down(1000));
  EXPECT_EQ(ladder.request(), Action::kKeep);
}

}  // namespace
}  // namespace splitplane::power
