#include "returns/card_moves.h"

#include <gmock/gmock.h>

#include "returns/test_returns.h"

namespace splitplane::datapath {
namespace {

using testing::ElementsAre;
using testing::Pair;
using To = CardMoves::To;

constexpr std::uint64_t kToken = 77;

class CardMovesTest : public test::ReturnsTest {
 protected:
  ~CardMovesTest() override {
    while (moves.has_taken()) {
      Burst burst;
      moves.next_taken(burst);
      for (unsigned i = 0; i < burst.size; ++i) rte_pktmbuf_free(burst.mbuf[i]);
    }
  }
  void begin(To to, const std::vector<std::uint32_t>& indices) {
    std::vector<CardMoves::Bearer> bearers;
    for (const std::uint32_t index : indices)
      bearers.push_back({.id = id(index), .on_card = ran::make_on_card(config(index)), .at_host = {}});
    moves.begin(kToken, to, std::move(bearers));
  }
  [[nodiscard]] rte_mbuf* fence(const std::vector<std::uint32_t>& indices, std::uint64_t token = kToken) {
    std::vector<BearerId> ids;
    for (const std::uint32_t index : indices) ids.push_back(id(index));
    test::Bytes octets(fence_bytes(ids.size()));
    write_fence(token, ids, octets.data());
    return pool.make(octets);
  }
  [[nodiscard]] bool is_fence(rte_mbuf* m) {
    return moves.is_fence({rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len});
  }
  // A fence with nothing behind it, as the first stage finds it.
  void pass(rte_mbuf* m) {
    ASSERT_TRUE(is_fence(m));
    moves.split_at(m, nullptr, 0);
    ASSERT_EQ(moves.pass_fence(lines, returns).size, 0U);
  }

  CardMoves moves;
};

TEST_F(CardMovesTest, only_what_has_the_awaited_token_is_a_fence) {
  rte_mbuf* const m = fence({1});
  rte_mbuf* const zero = fence({1}, 0);
  EXPECT_FALSE(is_fence(m)) << "none is awaited";
  EXPECT_FALSE(is_fence(zero));
  begin(To::kHost, {1});
  EXPECT_TRUE(is_fence(m));
  EXPECT_FALSE(is_fence(zero));
  moves.expect(kToken + 1);
  EXPECT_FALSE(is_fence(m)) << "one of before";
  moves.expect(kToken);
  EXPECT_TRUE(is_fence(m));
  moves.end();
  EXPECT_FALSE(is_fence(m));
  rte_pktmbuf_free(m);
  rte_pktmbuf_free(zero);
}

TEST_F(CardMovesTest, fences_of_both_sides_are_counted_until_others_are_awaited) {
  begin(To::kHost, {1});
  pass(fence({1}));
  pass(fence({1}));
  moves.pass_copies_fence();
  EXPECT_EQ(moves.n3_fences(), 2U);
  EXPECT_EQ(moves.copies_fences(), 1U);
  moves.expect(kToken + 1);
  EXPECT_EQ(moves.n3_fences(), 0U);
  EXPECT_EQ(moves.copies_fences(), 0U);
}

TEST_F(CardMovesTest, at_the_fence_the_lines_that_it_names_become_the_cards) {
  for (const std::uint32_t index : {3U, 4U}) {
    line(index) = ran::make_downlink(config(index));
    line(index).pdcp_tx_next = 100 + index;
    line(index).received = 10 * index;
  }
  drops(3).downlink = 2;
  begin(To::kCard, {3, 4});
  pass(fence({3, 5}));  // and one that does not move
  EXPECT_TRUE(ran::is_on_card(line(3), teid(3)));
  EXPECT_EQ(line(3).received, 2U) << "from here on it counts what the card sends up; the drops are subtracted from it";
  EXPECT_FALSE(ran::is_on_card(line(4), teid(4)));
  const auto& all = moves.bearers();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].fenced);
  EXPECT_EQ(all[0].at_host.pdcp_tx_next, 103U);
  EXPECT_EQ(all[0].at_host.received, 30U);
  EXPECT_FALSE(all[1].fenced);
}

TEST_F(CardMovesTest, what_comes_behind_the_fence_waits_for_the_card) {
  line(3) = ran::make_downlink(config(3));
  begin(To::kCard, {3});
  pass(fence({3}));
  EXPECT_FALSE(arrives(3, 40));
  EXPECT_FALSE(arrives(3, 41));
  EXPECT_EQ(returns.held(id(3)), 2U);
  while (asked()) {
  }
  grant(3, 500, 500 + 1792);
  flush();
  EXPECT_THAT(sent, ElementsAre(Pair(3, 40), Pair(3, 41)));
}

// Another VF of the same worker may bring a second fence.
TEST_F(CardMovesTest, a_second_fence_changes_no_line_again) {
  line(3) = ran::make_downlink(config(3));
  line(3).pdcp_tx_next = 9;
  begin(To::kCard, {3});
  pass(fence({3}));
  EXPECT_FALSE(arrives(3, 40));
  line(3).received = 1;
  pass(fence({3}));
  EXPECT_EQ(moves.bearers()[0].at_host.pdcp_tx_next, 9U);
  EXPECT_EQ(line(3).received, 1U);
  (void)returns.close(id(3));
}

TEST_F(CardMovesTest, on_the_way_to_the_host_it_is_noted_how_many_wait) {
  (void)returns.freeze(id(1));
  EXPECT_FALSE(arrives(1, 40));
  EXPECT_FALSE(arrives(1, 41));
  begin(To::kHost, {1, 2});
  pass(fence({1, 2}));
  EXPECT_FALSE(arrives(1, 42));
  EXPECT_EQ(moves.bearers()[0].held, 2U) << "that at the fence";
  EXPECT_EQ(moves.bearers()[1].held, 0U);
  EXPECT_TRUE(ran::is_on_card(line(1), teid(1)));
  pass(fence({1, 2}));
  EXPECT_EQ(moves.bearers()[0].held, 3U);
  (void)returns.close(id(1));
}

TEST_F(CardMovesTest, what_came_behind_a_fence_is_served_when_it_is_passed) {
  begin(To::kHost, {1});
  std::array<rte_mbuf*, 2> behind{frame(1, 40), frame(1, 41)};
  EXPECT_FALSE(moves.is_split());
  moves.split_at(fence({1}), behind.data(), 2);
  EXPECT_TRUE(moves.is_split());
  const Burst burst = moves.pass_fence(lines, returns);
  EXPECT_FALSE(moves.is_split());
  ASSERT_EQ(burst.size, 2U);
  EXPECT_EQ(burst.mbuf[0], behind[0]);
  EXPECT_EQ(burst.mbuf[1], behind[1]);
  for (rte_mbuf* m : behind) rte_pktmbuf_free(m);
}

TEST_F(CardMovesTest, frames_that_the_host_numbers_come_out_in_bursts_in_their_order) {
  std::vector<rte_mbuf*> frames;
  for (unsigned i = 0; i < kBurst + 3; ++i) frames.push_back(frame(1, 40 + i));
  EXPECT_FALSE(moves.has_taken());
  moves.deliver({frames.begin(), frames.begin() + 5});
  moves.deliver({frames.begin() + 5, frames.end()});
  std::vector<rte_mbuf*> out;
  for (Burst burst; moves.next_taken(burst) != 0;) {
    EXPECT_LE(burst.size, kBurst);
    out.insert(out.end(), burst.mbuf.begin(), burst.mbuf.begin() + burst.size);
  }
  EXPECT_EQ(out, frames);
  EXPECT_FALSE(moves.has_taken());
  for (rte_mbuf* m : out) rte_pktmbuf_free(m);
}

TEST_F(CardMovesTest, what_no_one_took_is_freed_at_the_end) {
  {
    CardMoves others;
    others.deliver({frame(1, 40)});
  }
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace splitplane::datapath
