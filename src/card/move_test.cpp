// Bearers that move between the host and the card while their packets pass: where the card's numbers begin, and fences.
#include <gmock/gmock.h>

#include "card/test_card.h"
#include "returns/fence_frame.h"

namespace splitplane::nic {
namespace {

using test::bearer;
using test::Bytes;
using test::TestCard;
using test::vf_port;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t kToken = 0xfeedfacecafebeef;

// The entry that the card gets first: it numbers no packet, and counts those that it gives to the host.
CardBearer armed(CardBearer b) {
  b.place = Place::kCard;
  b.next_count = 4096;
  b.ahead = 4000;
  b.lease = 1;
  return b;
}

CardBeginning beginning(const CardBearer& b, std::uint32_t settled) {
  return {.id = b.id, .next_count = 150, .next_rlc = 70, .lease_end = 150 + 1792, .settled = settled, .epoch = 6};
}

// Identities that a fence names; nothing if the frame is none.
std::vector<std::uint32_t> fenced(const Bytes& frame) {
  std::vector<std::uint32_t> ids;
  const auto fence = datapath::parse_fence(frame);
  for (std::uint32_t i = 0; fence && fence->token == kToken && i < fence->bearers; ++i) ids.push_back(fence->id(i));
  return ids;
}

class CardMoveTest : public testing::Test {
 protected:
  CardNumbers numbers() { return *card.card->numbers(b.id); }
  void from_n3(unsigned n) { card.feed(std::vector<Bytes>(n, test::to(b).make()), kN3Port); }
  Expected<CardFences> fence(const std::vector<BearerId>& ids) {
    return card.card->fence(ids, kToken, card.pool.get());
  }
  std::string complaint(const std::vector<CardBeginning>& all) {
    const auto begun = card.card->begin(all);
    return begun ? "" : begun.error().message;
  }

  TestCard card{"gnb-clone"};
  CardBearer b = bearer(1, Place::kHost);
  const std::uint32_t worker_n3 = vf_port(test::kWorkerN3), copies = vf_port(test::kCopies);
};

TEST_F(CardMoveTest, an_armed_bearer_goes_to_its_worker_and_is_counted) {
  card.install({b});
  from_n3(2);
  EXPECT_EQ(numbers().place, Place::kHost);
  EXPECT_EQ(numbers().in_flight, 0U) << "they are the host's, and do not come back";
  card.install({armed(b)});
  from_n3(3);
  EXPECT_THAT(card.take(worker_n3), SizeIs(5));
  EXPECT_EQ(numbers().place, Place::kCard);
  EXPECT_EQ(numbers().in_flight, 3U);
  EXPECT_EQ(numbers().pdcp_next, 4096U);
  EXPECT_EQ(numbers().lease_end, 4097U);
  EXPECT_EQ(numbers().ahead, 4000U) << "a host that comes anew learns what a receiver has seen";
}

TEST_F(CardMoveTest, a_fence_comes_behind_all_that_was_sent_before) {
  card.install({b});
  card.install({armed(b)});
  from_n3(2);
  const auto sent = fence({b.id});
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_EQ(sent->n3, 1U);
  EXPECT_EQ(sent->copies, 1U);
  from_n3(1);
  const auto frames = card.take(worker_n3);
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_THAT(fenced(frames[2]), ElementsAre(b.id.value));
  EXPECT_THAT(fenced(card.take(copies)[0]), ElementsAre(b.id.value));
  EXPECT_EQ(card.card->counters().fences, 2U);
  EXPECT_EQ(card.card->counters().clones, 2U) << "a frame more than came in, as a clone is";
}

TEST_F(CardMoveTest, the_fence_of_the_copies_comes_behind_the_clones) {
  b.place = Place::kCard;
  card.install({b});
  from_n3(2);
  ASSERT_TRUE(fence({b.id}));
  const auto frames = card.take(copies);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_THAT(fenced(frames[2]), ElementsAre(b.id.value));
  EXPECT_THAT(card.take(worker_n3), SizeIs(1));
  EXPECT_THAT(card.take(kAirPort), SizeIs(2));
}

TEST_F(CardMoveTest, a_vf_gets_one_fence_for_all_bearers_and_for_both_sides) {
  CardBearer other = bearer(2);
  b.copies_vf = b.vf_n3;
  other.vf_n3 = test::kPuntN3;
  card.install({b, other});
  const auto sent = fence({b.id, other.id});
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->n3, 2U);
  EXPECT_EQ(sent->copies, 2U);
  for (const unsigned port : {worker_n3, vf_port(test::kPuntN3), copies})
    EXPECT_THAT(card.take(port), ElementsAre(testing::ResultOf(fenced, ElementsAre(b.id.value, other.id.value))));
  EXPECT_EQ(card.card->counters().fences, 3U);
}

TEST_F(CardMoveTest, a_fence_for_a_bearer_that_is_not_there_or_without_a_buffer_is_sent_nowhere) {
  card.install({b});
  const auto unknown = fence({b.id, bearer(2).id});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("is not on card gnb-clone; allowed: one of its bearers"));
  datapath::test::Pool one(1);  // and two are needed
  const auto poor = card.card->fence(std::array{b.id}, kToken, one.get());
  ASSERT_FALSE(poor);
  EXPECT_THAT(poor.error().message, HasSubstr("no buffer for a fence"));
  EXPECT_EQ(one.in_use(), 0U);
  EXPECT_EQ(card.card->counters().fences, 0U);
}

TEST_F(CardMoveTest, the_card_goes_on_where_the_host_stopped) {
  card.install({b});
  card.install({armed(b)});
  from_n3(3);  // before the fence: the host numbers them
  ASSERT_TRUE(fence({b.id}));
  const std::uint32_t settled = numbers().in_flight;
  from_n3(2);  // behind it: the host gives them back
  (void)card.take(copies);
  EXPECT_THAT(card.take(worker_n3), SizeIs(6));
  ASSERT_EQ(complaint({beginning(b, settled)}), "");
  EXPECT_EQ(numbers().pdcp_next, 150U);
  EXPECT_EQ(numbers().rlc_next, 70U);
  EXPECT_EQ(numbers().lease_end, 150U + 1792U);
  EXPECT_EQ(numbers().in_flight, 2U);
  EXPECT_EQ(numbers().epoch, 6U);
  EXPECT_EQ(numbers().ahead, 0U);

  from_n3(1);  // behind those that are at the host
  EXPECT_THAT(card.take(worker_n3), SizeIs(1));
  const Bytes sdu = datapath::test::inner_packet(40);
  card.feed(std::vector<Bytes>(3, test::returned(b, sdu)), worker_n3);
  EXPECT_EQ(numbers().in_flight, 0U);
  from_n3(2);  // and now the card numbers at once
  EXPECT_THAT(card.take(worker_n3), SizeIs(0));
  b.epoch = 6;
  std::vector<Bytes> expected;
  for (std::uint32_t i = 0; i < 5; ++i) expected.push_back(test::air_frame(b, 150 + i, 70 + i, sdu, i % 4 == 3));
  EXPECT_EQ(card.take(kAirPort), expected);
  EXPECT_EQ(card.take(copies), expected);
}

TEST_F(CardMoveTest, more_settled_than_were_counted_are_no_more_than_all) {
  card.install({b});
  card.install({armed(b)});
  from_n3(1);
  (void)card.take(worker_n3);
  ASSERT_EQ(complaint({beginning(b, 9)}), "");
  EXPECT_EQ(numbers().in_flight, 0U);
  from_n3(1);
  EXPECT_THAT(card.take(kAirPort), SizeIs(1));
  (void)card.take(copies);
}

TEST_F(CardMoveTest, numbers_begin_for_all_bearers_of_a_call_or_for_none) {
  const CardBearer other = bearer(2, Place::kHost);
  card.install({b, other});
  card.install({armed(b)});
  const auto good = beginning(b, 0);
  EXPECT_THAT(complaint({good, beginning(other, 0)}), HasSubstr("allowed: one that is installed with place card"));
  EXPECT_THAT(complaint({good, beginning(bearer(3), 0)}), HasSubstr("is not served by card gnb-clone"));
  card.install({armed(b), armed(other)});
  CardBeginning short_lease = beginning(other, 0);
  short_lease.lease_end = 149;
  EXPECT_THAT(complaint({good, short_lease}),
              HasSubstr("a lease that ends at COUNT 149; allowed: not before 150, which is the next"));
  EXPECT_EQ(numbers().pdcp_next, 4096U) << "the first of each call was good";
  EXPECT_EQ(complaint({good, beginning(other, 0)}), "");
  EXPECT_EQ(card.card->numbers(other.id)->pdcp_next, 150U);
}

// What a move to the host does: nothing passes any more, and what the host gave back before is still numbered.
TEST_F(CardMoveTest, with_a_lease_that_is_only_the_reserve_all_goes_to_the_worker) {
  b.place = Place::kCard;
  card.install({b});
  from_n3(3);
  EXPECT_THAT(card.take(kAirPort), SizeIs(3));
  ASSERT_TRUE(card.card->set_leases(std::array{CardLease{b.id, 3 + kLeaseReserve}}));
  from_n3(2);
  EXPECT_THAT(card.take(worker_n3), SizeIs(2));
  const Bytes sdu = datapath::test::inner_packet(40);
  card.feed(std::vector<Bytes>(2, test::returned(b, sdu)), worker_n3);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(test::air_frame(b, 3, 3, sdu, true), test::air_frame(b, 4, 4, sdu)));
  EXPECT_EQ(numbers().in_flight, 0U);
  from_n3(1);
  EXPECT_THAT(card.take(worker_n3), SizeIs(1)) << "none is at the host, and still the card numbers none";
  (void)card.take(copies);
}

TEST_F(CardMoveTest, a_bearer_that_went_to_the_host_and_came_again_has_its_new_numbers) {
  b.place = Place::kCard;
  card.install({b});
  from_n3(3);
  b.place = Place::kHost;
  card.install({b});
  EXPECT_EQ(card.card->served_count(), 0U);
  from_n3(1);
  EXPECT_THAT(card.take(worker_n3), SizeIs(1));
  b.place = Place::kCard;
  b.next_count = 900;
  b.next_rlc = 20;
  b.lease = 1792;
  card.install({b});
  EXPECT_EQ(card.card->served_count(), 1U);
  EXPECT_EQ(numbers().pdcp_next, 900U) << "its registers know nothing of what the host sent";
  EXPECT_EQ(numbers().rlc_next, 20U);
  EXPECT_EQ(numbers().in_flight, 0U);
  EXPECT_EQ(numbers().dl_packets, 3U) << "what it has served is still counted";
  (void)card.take(kAirPort);
  (void)card.take(copies);
}

}  // namespace
}  // namespace splitplane::nic
