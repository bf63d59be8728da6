// What a move needs of the packets that go back to a card: they stop, they go on, or the host gets them. How credit is
// given and used is tested where packets come from (gnb/datapath/returned_frame_test.cpp).
#include "returns/card_returns.h"

#include <gmock/gmock.h>

#include "returns/test_returns.h"

namespace splitplane::datapath {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class CardReturnsMoveTest : public test::ReturnsTest {
 protected:
  // The frames that the host gets, in their order.
  Sent take(std::uint32_t index) {
    Sent taken;
    for (rte_mbuf* m : returns.take(id(index))) {
      taken.push_back(read(m));
      rte_pktmbuf_free(m);
    }
    return taken;
  }
};

TEST_F(CardReturnsMoveTest, a_frozen_bearer_gives_nothing_back_whatever_grants_come) {
  grant(1, 0, 1792);
  ASSERT_TRUE(arrives(1, 40));
  returns.freeze(id(1));
  EXPECT_FALSE(arrives(1, 41));
  EXPECT_FALSE(asked());
  grant(1, 1, 4096);
  EXPECT_FALSE(arrives(1, 42));
  flush();
  EXPECT_THAT(sent, ElementsAre(Pair(1, 40)));
  EXPECT_EQ(returns.held(id(1)), 2U);
  EXPECT_FALSE(asked()) << "it needs no credit";
  grant(2, 0, 1792);
  EXPECT_TRUE(arrives(2, 50)) << "another bearer goes on";
  (void)returns.close(id(1));
}

TEST_F(CardReturnsMoveTest, the_answer_to_what_was_asked_before_is_none) {
  EXPECT_FALSE(arrives(1, 40));
  const auto before = asked();
  ASSERT_TRUE(before);
  returns.freeze(id(1));
  returns.grant({.answers = *before, .next = 0, .lease_end = 1792, .in_flight = 1}, rte_rdtsc());
  EXPECT_EQ(returns.held(id(1)), 1U);
  returns.thaw(id(1), rte_rdtsc());
  const auto again = asked();
  ASSERT_TRUE(again);
  EXPECT_NE(again->tag, before->tag);
  (void)returns.close(id(1));
}

TEST_F(CardReturnsMoveTest, a_bearer_that_thaws_asks_and_goes_on_in_order) {
  grant(1, 0, 1792);
  returns.freeze(id(1));
  EXPECT_FALSE(arrives(1, 40));
  EXPECT_FALSE(arrives(1, 41));
  EXPECT_FALSE(asked());
  returns.thaw(id(1), rte_rdtsc());
  grant(1, 0, 1792, 2);
  EXPECT_FALSE(asked()) << "the grant was the answer";
  flush();
  ASSERT_TRUE(arrives(1, 42));
  EXPECT_THAT(sent, ElementsAre(Pair(1, 40), Pair(1, 41), Pair(1, 42)));
  EXPECT_EQ(returns.held(), 0U);
}

TEST_F(CardReturnsMoveTest, credit_after_a_thaw_covers_what_was_on_its_way_before) {
  grant(1, 0, 1792);
  for (unsigned i = 0; i < 300; ++i) ASSERT_TRUE(arrives(1, 40));
  returns.freeze(id(1));
  returns.thaw(id(1), rte_rdtsc());
  grant(1, 0, 400, 300);  // the card has numbered none of them, and its lease has 400 left
  EXPECT_LE(ran::card_credit(line(1)), 100U);
}

TEST_F(CardReturnsMoveTest, much_that_is_ready_leaves_in_several_rounds_and_in_order) {
  constexpr unsigned kBursts = 2, kRound = kBursts * kBurst;
  const std::uint64_t later = rte_rdtsc() + rte_get_tsc_hz();
  const auto one_round = [&] { returns.flush(back, later, kBursts); };
  grant(1, 0, 100'000);
  back.room = 0;
  for (unsigned i = 0; i < kRound + 10; ++i) ASSERT_TRUE(arrives(1, i + 1));
  back.room = ~0U;
  one_round();
  EXPECT_EQ(sent.size(), kRound);
  ASSERT_TRUE(arrives(1, kRound + 11));
  EXPECT_EQ(sent.size(), kRound) << "it may not pass those before it";
  EXPECT_LE(returns.next_work(), later) << "the next round goes on";
  one_round();
  ASSERT_EQ(sent.size(), kRound + 11);
  for (unsigned i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i].second, i + 1);
}

TEST_F(CardReturnsMoveTest, the_host_takes_what_waits_the_ready_ones_first) {
  grant(1, 0, 1792);
  back.room = 0;  // the port is full
  ASSERT_TRUE(arrives(1, 40));
  ASSERT_TRUE(arrives(1, 41));
  returns.freeze(id(1));
  EXPECT_FALSE(arrives(1, 42));
  EXPECT_FALSE(arrives(2, 50));
  EXPECT_EQ(stats.card_held.get(), 4U);
  EXPECT_THAT(take(1), ElementsAre(Pair(1, 40), Pair(1, 41), Pair(1, 42)));
  EXPECT_EQ(returns.held(), 1U) << "the other bearer's";
  EXPECT_EQ(stats.card_held.get(), 1U);
  back.room = ~0U;
  grant(2, 0, 1792, 1);
  flush();
  EXPECT_THAT(sent, ElementsAre(Pair(2, 50)));
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(CardReturnsMoveTest, frames_without_a_packet_are_freed_and_not_taken) {
  returns.limit(1);
  EXPECT_FALSE(arrives(1, 40));
  EXPECT_FALSE(arrives(1, 41));  // there is no room for it: the card shall hear that it was dropped
  EXPECT_EQ(stats.drops[static_cast<std::size_t>(DropReason::count_lease_ended)].get(), 1U);
  EXPECT_THAT(take(1), ElementsAre(Pair(1, 40)));
  flush();
  EXPECT_THAT(sent, IsEmpty());
  EXPECT_FALSE(returns.has_work());
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(CardReturnsMoveTest, what_was_taken_leaves_nothing_behind_for_the_next_time_on_a_card) {
  grant(1, 0, 1792);
  returns.freeze(id(1));
  EXPECT_FALSE(arrives(1, 40));
  EXPECT_THAT(take(1), ElementsAre(Pair(1, 40)));
  line(1) = ran::make_on_card(config(1));
  EXPECT_FALSE(arrives(1, 41));
  grant(1, 5000, 5000 + 1792, 1);
  flush();
  EXPECT_THAT(sent, ElementsAre(Pair(1, 41))) << "it is not frozen any more";
}

TEST_F(CardReturnsMoveTest, of_a_bearer_of_the_host_nothing_is_frozen) {
  line(3) = ran::make_downlink(config(3));
  returns.freeze(id(3));
  returns.thaw(id(3), rte_rdtsc());
  EXPECT_FALSE(asked());
  EXPECT_THAT(take(3), IsEmpty());
}

}  // namespace
}  // namespace splitplane::datapath
