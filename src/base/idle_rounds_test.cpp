#include "base/idle_rounds.h"

#include <gtest/gtest.h>

namespace splitplane {
namespace {

TEST(IdleRounds, yields_after_a_row_of_rounds_in_which_nothing_moved) {
  IdleRounds idle;
  for (int again = 0; again < 3; ++again) {
    for (std::uint32_t i = 1; i < IdleRounds::kRoundsBeforeYield; ++i) EXPECT_FALSE(idle.note(false)) << i;
    EXPECT_TRUE(idle.note(false));
  }
}

TEST(IdleRounds, a_packet_begins_the_row_anew) {
  IdleRounds idle;
  for (int again = 0; again < 10; ++again) {
    for (std::uint32_t i = 1; i < IdleRounds::kRoundsBeforeYield; ++i) EXPECT_FALSE(idle.note(false));
    EXPECT_FALSE(idle.note(true));
  }
}

}  // namespace
}  // namespace splitplane
