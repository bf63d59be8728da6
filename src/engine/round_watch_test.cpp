// When a worker is said to make no rounds, and when not.
#include "engine/round_watch.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using Says = RoundWatch::Says;

class RoundWatchTest : public ::testing::Test {
 protected:
  Says look(std::uint64_t rounds, std::chrono::milliseconds after, bool busy = false) {
    return watch_.look(rounds, busy, begin_ + after);
  }
  void expect_silent_at(std::uint64_t rounds, std::chrono::milliseconds from) {
    for (auto t = from; t < from + 1s; t += 100ms) EXPECT_EQ(look(rounds, t), Says::kNothing) << t.count();
    EXPECT_EQ(look(rounds, from + 1s), Says::kSilent);
  }
  RoundWatch watch_;
  const RoundWatch::Clock::time_point begin_ = RoundWatch::Clock::now();
};

TEST_F(RoundWatchTest, a_loop_that_stands_for_a_second_is_silent_and_said_every_ten) {
  expect_silent_at(7, 0ms);
  EXPECT_TRUE(watch_.silent());
  EXPECT_EQ(watch_.silent_for(begin_ + 3s), 3s);
  EXPECT_EQ(look(7, 5s), Says::kNothing);
  EXPECT_EQ(look(7, 11s), Says::kStillSilent);
  EXPECT_EQ(look(7, 12s), Says::kNothing);
  EXPECT_EQ(look(8, 13s), Says::kBack);
  EXPECT_FALSE(watch_.silent());
  EXPECT_EQ(watch_.silent_for(begin_ + 13s), 0s);
}

TEST_F(RoundWatchTest, a_loop_that_sleeps_is_woken_before_it_is_called_silent) {
  (void)look(7, 0ms);
  EXPECT_FALSE(watch_.wants_wake());
  (void)look(7, 100ms);
  (void)look(7, 200ms);
  EXPECT_TRUE(watch_.wants_wake());
  (void)look(8, 300ms);
  EXPECT_FALSE(watch_.wants_wake());
  expect_silent_at(8, 300ms);
}

TEST_F(RoundWatchTest, a_looker_that_was_stopped_itself_blames_no_loop) {
  (void)look(7, 0ms);
  EXPECT_EQ(look(7, 60s), Says::kNothing);
  EXPECT_EQ(look(8, 60100ms), Says::kNothing);
}

TEST_F(RoundWatchTest, a_loop_that_carries_out_a_long_command_is_not_silent) {
  for (auto t = 0ms; t < 5s; t += 100ms) EXPECT_EQ(look(7, t, true), Says::kNothing);
  expect_silent_at(7, 4900ms);
}

}  // namespace
}  // namespace splitplane::app
