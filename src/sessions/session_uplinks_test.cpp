#include "sessions/session_uplinks.h"

#include <gtest/gtest.h>

#include "engine/test_environment.h"
#include "ran/test_sessions.h"

namespace splitplane::datapath {
namespace {

constexpr std::uint64_t kHz = 1000;  // a tick is a millisecond

// DRB 1, 2 and 5 of a session have the identities 1, 2 and 3.
class SessionUplinksTest : public ::testing::Test {
 protected:
  SessionUplinksTest() {
    for (std::uint32_t i = 0; i < 4; ++i) lines_[i].id = i + 1;
    uplinks_.open(session_, kHz);
  }
  void receive(std::uint32_t id, std::uint8_t octet, std::uint64_t now = 0, std::uint8_t qfi = 7) {
    uplinks_.receive(lines_[id - 1], qfi, pool_.make({octet}), now);
  }
  // The octets of what is ready, which is freed.
  std::vector<unsigned> ready() {
    std::vector<unsigned> octets;
    for (const auto& one : uplinks_.ready) {
      octets.push_back(*rte_pktmbuf_mtod(one.m, std::uint8_t*));
      rte_pktmbuf_free(one.m);
    }
    uplinks_.ready.clear();
    return octets;
  }

  using Octets = std::vector<unsigned>;
  test::Pool pool_{2048};
  const ran::SessionConfig session_ = ran::test::make_session_config(1);
  std::array<ran::BearerUplink, 4> lines_{};
  FlowCounters counters_;
  SessionUplinks uplinks_{counters_};
};

TEST_F(SessionUplinksTest, a_ready_sdu_has_its_line_and_its_flow) {
  receive(2, 1);
  ASSERT_EQ(uplinks_.ready.size(), 1U);
  EXPECT_EQ(uplinks_.ready[0].line, &lines_[1]);
  EXPECT_EQ(uplinks_.ready[0].qfi, 7);
  EXPECT_EQ(ready(), Octets{1});
}

TEST_F(SessionUplinksTest, flows_are_independent_and_so_are_sessions) {
  uplinks_.open(ran::test::make_session_config(11), kHz);
  receive(1, 1);
  receive(2, 2);
  receive(2, 3, 0, 8);
  EXPECT_EQ(ready(), (Octets{1, 3}));
  uplinks_.end(11, 7, nullptr);
  EXPECT_TRUE(ready().empty()) << "the end marker of another session";
  EXPECT_EQ(uplinks_.held(BearerId{2}), 1U);
  EXPECT_EQ(uplinks_.held(BearerId{1}), 0U);
  uplinks_.end(1, 7, nullptr);
  EXPECT_EQ(ready(), Octets{2});
  EXPECT_FALSE(uplinks_.waits());
}

TEST_F(SessionUplinksTest, the_wait_ends_by_itself) {
  receive(1, 1);
  receive(2, 2, 10);
  EXPECT_EQ(uplinks_.next_work(), 10 + SessionUplinks::kHoldMs);
  uplinks_.tick(9 + SessionUplinks::kHoldMs);
  EXPECT_EQ(ready(), Octets{1});
  uplinks_.tick(10 + SessionUplinks::kHoldMs);
  EXPECT_EQ(ready(), Octets{2});
  EXPECT_EQ(uplinks_.given_up(), 1U);
  EXPECT_EQ(uplinks_.held(), 0U);
}

TEST_F(SessionUplinksTest, the_wait_begins_anew_with_a_bearer_that_begins_anew) {
  receive(1, 1);
  receive(2, 2, 10);
  receive(2, 3, 20);
  uplinks_.wait_again(4, 100);  // of no session
  EXPECT_EQ(uplinks_.next_work(), 10 + SessionUplinks::kHoldMs);
  uplinks_.wait_again(1, 100);
  EXPECT_EQ(uplinks_.next_work(), 100 + SessionUplinks::kHoldMs);
  receive(2, 4, 110);
  uplinks_.tick(99 + SessionUplinks::kHoldMs);
  EXPECT_EQ(ready(), Octets{1});
  uplinks_.end(1, 7, nullptr);
  EXPECT_EQ(ready(), (Octets{2, 3, 4}));
  EXPECT_EQ(uplinks_.given_up(), 0U);
}

TEST_F(SessionUplinksTest, a_ue_whose_bearers_begin_anew_again_and_again_does_not_keep_sdus_here) {
  constexpr std::uint64_t kLongest = 10 * SessionUplinks::kHoldMs;
  receive(1, 1);
  receive(2, 2, 10);
  for (std::uint64_t now = 400; now < 2 * kLongest; now += 400) uplinks_.wait_again(1, now);
  EXPECT_EQ(uplinks_.next_work(), 10 + kLongest);
  uplinks_.tick(10 + kLongest);
  EXPECT_EQ(ready(), (Octets{1, 2}));
}

TEST_F(SessionUplinksTest, more_than_fits_ends_the_wait) {
  receive(1, 1);
  for (std::size_t i = 0; i <= SessionUplinks::kMostHeld; ++i) receive(2, 2);
  EXPECT_EQ(ready().size(), SessionUplinks::kMostHeld + 2);
  EXPECT_EQ(uplinks_.given_up(), 1U);
  EXPECT_FALSE(uplinks_.waits());
}

TEST_F(SessionUplinksTest, all_sessions_together_hold_no_more_than_the_limit) {
  uplinks_.limit(2);
  uplinks_.open(ran::test::make_session_config(11), kHz);
  receive(1, 1);
  receive(2, 2);
  receive(2, 3);
  EXPECT_EQ(uplinks_.held(), 2U);
  receive(1, 4, 0, 8);
  receive(2, 5, 0, 8);
  EXPECT_EQ(ready(), (Octets{1, 4, 2, 3, 5}));
  EXPECT_FALSE(uplinks_.waits());
}

TEST_F(SessionUplinksTest, a_bearer_of_no_session_is_never_held) {
  receive(4, 9);
  EXPECT_EQ(ready(), Octets{9});
}

TEST_F(SessionUplinksTest, what_waits_at_the_end_returns_to_its_pool) {
  receive(1, 1);
  receive(2, 2);
  receive(2, 3);
  EXPECT_EQ(uplinks_.close(session_), 2U);
  EXPECT_EQ(uplinks_.held(), 0U);
  EXPECT_EQ(ready(), Octets{1});
  uplinks_.open(session_, kHz);
  receive(1, 4);
  receive(2, 5);
}

}  // namespace
}  // namespace splitplane::datapath
