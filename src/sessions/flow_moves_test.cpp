#include "sessions/flow_moves.h"

#include <gtest/gtest.h>

#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

constexpr std::uint64_t kForever = UINT64_MAX;

class FlowMovesTest : public ::testing::Test {
 protected:
  void begin(std::uint32_t session, std::uint8_t qfi, std::uint64_t deadline = kForever) {
    moves_.begin({.session = Teid{session},
                  .qfi = Qfi{qfi},
                  .old = BearerId{1},
                  .number = 2,
                  .rest = {.not_before = 50},
                  .deadline = deadline,
                  .held = {}});
  }
  void hold(std::uint32_t session, std::uint8_t qfi, std::uint8_t octet) {
    moves_.hold(*moves_.find(session, qfi), pool_.make({octet}));
  }
  // Ends the moves that are over, and returns the octets of what is ready then.
  std::vector<unsigned> serve(std::uint64_t now, bool is_over) {
    moves_.serve(
        now, [&](FlowMoves::Move&) { return is_over; },
        [&](const FlowMoves::Move& move) { numbers_.push_back(move.number); });
    std::vector<unsigned> octets;
    Burst burst;
    while (moves_.take_ready(burst) != 0) {
      for (unsigned i = 0; i < burst.size; ++i) octets.push_back(*rte_pktmbuf_mtod(burst.mbuf[i], std::uint8_t*));
      rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
    }
    return octets;
  }

  test::Pool pool_;
  FlowMoves moves_;
  std::vector<unsigned> numbers_;
};

TEST_F(FlowMovesTest, packets_come_out_in_their_order_when_the_move_is_over) {
  EXPECT_TRUE(moves_.empty());
  begin(7, 1);
  EXPECT_EQ(moves_.find(7, 2), nullptr);
  EXPECT_EQ(moves_.find(8, 1), nullptr);
  std::vector<unsigned> all;
  for (unsigned i = 0; i < 40; ++i) {
    hold(7, 1, static_cast<std::uint8_t>(i));
    all.push_back(i);
  }
  EXPECT_TRUE(serve(0, false).empty());
  EXPECT_EQ(moves_.held(), 40U);
  EXPECT_EQ(serve(0, true), all);
  EXPECT_EQ(numbers_, std::vector{2U});
  EXPECT_EQ(moves_.held(), 0U);
  EXPECT_TRUE(moves_.empty());
}

TEST_F(FlowMovesTest, a_deadline_ends_one_move_and_not_the_others) {
  begin(7, 1, 100);
  begin(7, 2, 200);
  hold(7, 1, 1);
  hold(7, 2, 2);
  EXPECT_EQ(moves_.next_work(), 50U);
  EXPECT_TRUE(serve(99, false).empty());
  EXPECT_EQ(serve(100, false), std::vector{1U});
  EXPECT_EQ(moves_.find(7, 1), nullptr);
  EXPECT_NE(moves_.find(7, 2), nullptr);
  EXPECT_EQ(serve(200, false), std::vector{2U});
  EXPECT_EQ(moves_.next_work(), kForever);
}

TEST_F(FlowMovesTest, a_second_move_changes_where_the_first_one_leads) {
  begin(7, 1);
  hold(7, 1, 1);
  moves_.begin({.session = Teid{7}, .qfi = Qfi{1}, .old = BearerId{2}, .number = 3, .rest = {}, .held = {}});
  EXPECT_EQ(moves_.find(7, 1)->old, BearerId{1});
  EXPECT_EQ(serve(0, true), std::vector{1U});
  EXPECT_EQ(numbers_, std::vector{3U});
}

TEST_F(FlowMovesTest, what_waits_at_the_end_returns_to_its_pool) {
  begin(7, 1);
  begin(9, 1);
  hold(7, 1, 1);
  hold(9, 1, 2);
  EXPECT_EQ(moves_.close(Teid{7}), 1U);
  EXPECT_EQ(moves_.held(), 1U);
}

}  // namespace
}  // namespace splitplane::datapath
