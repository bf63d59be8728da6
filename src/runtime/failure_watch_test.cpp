#include "runtime/failure_watch.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

const FailureWatch::Time kStart{1h};

TEST(FailureWatch, says_what_is_new_once_and_again_after_a_minute) {
  FailureWatch watch;
  EXPECT_TRUE(watch.look("w0", {}, kStart).empty());
  EXPECT_EQ(watch.look("w0", {.peer_lost = 2}, kStart + 1s).size(), 1U);
  EXPECT_TRUE(watch.look("w0", {.peer_lost = 2}, kStart + 2s).empty());
  EXPECT_TRUE(watch.look("w0", {.peer_lost = 3}, kStart + 3s).empty());
  const auto later = watch.look("w0", {.peer_lost = 5}, kStart + 61s);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_NE(later[0].find("failed 3 times"), std::string::npos) << later[0];
}

TEST(FailureWatch, kinds_and_workers_do_not_hide_each_other) {
  FailureWatch watch;
  EXPECT_EQ(watch.look("w0", {.max_retx = 1, .peer_lost = 1, .count_exhausted = 9}, kStart).size(), 3U);
  const auto other = watch.look("w1", {.count_exhausted = 4}, kStart);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_NE(other[0].find("worker w1: 4 SDUs"), std::string::npos) << other[0];
}

}  // namespace
}  // namespace splitplane::app
