#include "n3/uplink_check.h"

#include <gtest/gtest.h>

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;
using Act = UplinkCheck::Act;

struct Bearer {
  UplinkCheck check;
  UplinkCheck::Time now{1h}, echo{};
  std::uint64_t sent = 0;

  Act indicated() { return check.indicated(now, sent, echo); }
  // The UPF answers at once when it is asked, and answers each uplink packet with an Error Indication.
  void run(std::chrono::milliseconds time, bool upf_indicates, bool uplink = true) {
    for (const auto end = now + time; now < end; now += 10ms) {
      const Act due = check.turn(now);
      if (due == Act::kResume) check.resumed(now, sent), echo = now;
      if (!uplink) continue;
      ++sent;
      stopped_for += check.state() == UplinkState::stopped ? 10ms : 0ms;
      if (upf_indicates && check.state() != UplinkState::stopped && indicated() == Act::kAskUpf) echo = now;
    }
  }
  std::chrono::milliseconds stopped_for{};
};

TEST(UplinkCheck, one_error_indication_stops_nothing) {
  Bearer b;
  b.run(1s, false);
  EXPECT_EQ(b.indicated(), Act::kAskUpf);
  b.echo = b.now;
  b.run(10s, false);
  EXPECT_EQ(b.stopped_for, 0ms);
  EXPECT_EQ(b.check.state(), UplinkState::active);
}

TEST(UplinkCheck, a_bearer_that_sends_nothing_is_not_stopped_by_a_flood) {
  Bearer b;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_NE(b.indicated(), Act::kStop);
    b.echo = b.now;
    b.run(10ms, false, false);
  }
  EXPECT_NE(b.check.state(), UplinkState::stopped);
}

TEST(UplinkCheck, a_upf_that_does_not_answer_cannot_have_said_it) {
  Bearer b;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_NE(b.indicated(), Act::kStop);
    b.run(10ms, false);
  }
}

TEST(UplinkCheck, a_upf_that_says_it_for_each_packet_stops_the_uplink_and_is_tried_again_less_and_less_often) {
  Bearer b;
  b.run(60s, true);
  EXPECT_EQ(b.check.state(), UplinkState::stopped);
  EXPECT_GT(b.stopped_for, 55s);
  EXPECT_LT(b.stopped_for, 60s) << "it was tried again";
}

TEST(UplinkCheck, a_worker_that_does_not_hear_of_a_resume_is_told_again) {
  Bearer b;
  b.run(60s, true);
  ASSERT_EQ(b.check.state(), UplinkState::stopped);
  b.now = b.check.until();
  for (int i = 0; i < 20; ++i, b.now += 1s) {
    ASSERT_EQ(b.check.turn(b.now), Act::kResume);
    b.check.resumed(b.now, b.sent);
    b.check.not_resumed(b.now);
    EXPECT_EQ(b.check.state(), UplinkState::stopped) << "as the worker has it";
    EXPECT_EQ(b.check.turn(b.now + 999ms), Act::kNone) << "each try may wait for the worker";
  }
  b.run(20s, false);
  EXPECT_EQ(b.check.state(), UplinkState::active);
}

TEST(UplinkCheck, an_outage_is_over_within_the_longest_stop_when_the_upf_knows_the_bearer_again) {
  Bearer b;
  b.run(60s, true);
  b.stopped_for = {};
  b.run(40s, false);
  EXPECT_LE(b.stopped_for, UplinkCheck::kLongestStop);
  EXPECT_EQ(b.check.state(), UplinkState::active);
  EXPECT_EQ(b.indicated(), Act::kAskUpf) << "from the start again";
}

}  // namespace
}  // namespace splitplane::datapath
