// Adding, replacing and removing a card's bearers: all of a call or none. Also how long 65,536 bearers take.
#include <gmock/gmock.h>

#include "card/test_card.h"

namespace splitplane::nic {
namespace {

using test::air_frame;
using test::bearer;
using test::TestCard;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string complaint(TestCard& card, const std::vector<CardBearer>& bearers) {
  const auto done = card.card->install(bearers);
  EXPECT_FALSE(done);
  return done ? "" : done.error().message;
}

TEST(CardInstall, what_is_wrong_with_a_bearer_is_said_and_none_of_the_call_is_installed) {
  TestCard card("gnb-mat");
  card.install({bearer(1)});
  struct Mistake {
    std::function<void(CardBearer&)> make;
    std::string complaint;
  };
  const std::vector<Mistake> mistakes{
      {[](CardBearer& b) { b.id = BearerId{0}; }, "identity or TEID is 0"},
      {[](CardBearer& b) { b.teid = Teid{0}; }, "identity or TEID is 0"},
      {[](CardBearer& b) { b.rlc_sn_bits = 6; }, "sequence numbers of 6 (RLC) and 18 (PDCP) bits"},
      {[](CardBearer& b) { b.pdcp_sn_bits = 24; }, "and 24 (PDCP) bits"},
      {[](CardBearer& b) { b.vf_n3 = test::kVfs; }, "VF 5 is not one of card gnb-mat; allowed: 0 to 4"},
      {[](CardBearer& b) { b.copies_vf = 64; }, "VF 64 is not one of card"},
      {[](CardBearer& b) { b.peer = 256; }, "peer 256 has no such number"},
      {[](CardBearer& b) { b.lease = 1U << 17; }, "allowed: 1 to 131071 with a PDCP SN of 18 bits"},
      {[](CardBearer& b) { b.pdcp_sn_bits = 12; }, "a lease of 4096 COUNTs; allowed: 1 to 2047"},
      {[](CardBearer& b) { b.teid = bearer(1).teid; }, "its TEID is that of bearer"},
      {[](CardBearer& b) { b.teid = bearer(2).teid; }, "its TEID is that of bearer"},
      {[](CardBearer& b) { b.id = bearer(2).id; }, "is there twice"},
  };
  for (const Mistake& mistake : mistakes) {
    CardBearer wrong = bearer(3);
    mistake.make(wrong);
    EXPECT_THAT(complaint(card, {bearer(2), wrong, bearer(4)}),
                AllOf(HasSubstr(mistake.complaint), HasSubstr("bearer")));
    EXPECT_THAT(card.card->bearers(), ElementsAre(bearer(1).id));
    card.feed({test::to(bearer(2)).make()}, kN3Port);
    EXPECT_THAT(card.take(kAirPort), IsEmpty());
    EXPECT_EQ(card.take(test::vf_port(test::kPuntN3)).size(), 1U);
  }
  card.install({bearer(2), bearer(3), bearer(4)});  // the refused attempts left no entry
  card.feed({test::to(bearer(4)).make()}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 1U);
}

TEST(CardInstall, a_refused_change_leaves_the_bearer_as_it_was) {
  TestCard card("gnb-mat");
  card.install({bearer(1), bearer(2)});
  CardBearer moved = bearer(1), wrong = bearer(2);
  moved.teid = Teid{0x77};
  moved.place = Place::kHost;
  wrong.peer = 1000;
  EXPECT_THAT(complaint(card, {moved, wrong}), HasSubstr("peer 1000"));
  EXPECT_EQ(*card.card->find(bearer(1).id), bearer(1));
  card.feed({test::to(bearer(1)).make()}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 1U);
}

TEST(CardInstall, a_replaced_bearer_keeps_its_numbers_unless_it_restarts) {
  TestCard card("gnb-mat");
  CardBearer b = bearer(1);
  card.install({b});
  card.feed({test::to(b).make(), test::to(b).make()}, kN3Port);
  (void)card.take(kAirPort);
  const auto old_frame = test::to(b).make();
  b.teid = Teid{0x1234567};
  b.qfi = Qfi{3};
  card.install({b});
  card.feed({test::to(b).make(), old_frame}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(b, 2, 2, test::to(b).payload)));
  EXPECT_EQ(card.take(test::vf_port(test::kPuntN3)).size(), 1U) << "the old TEID is nobody's";

  b.epoch = 1;
  b.next_count = 4096;
  card.install({b}, true);
  card.feed({test::to(b).make()}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(b, 4096, 0, test::to(b).payload)));
}

TEST(CardInstall, a_removed_bearer_is_nobodys_and_its_place_starts_at_0) {
  TestCard card("gnb-mat", {.capacity = 1});
  card.install({bearer(1)});
  card.feed({test::to(bearer(1)).make()}, kN3Port);
  (void)card.take(kAirPort);
  EXPECT_THAT(complaint(card, {bearer(2)}), HasSubstr("is full; allowed: 1 bearers"));
  EXPECT_FALSE(card.card->remove(std::array{bearer(1).id, bearer(2).id}));
  EXPECT_FALSE(card.card->remove(std::array{bearer(1).id, bearer(1).id}));
  ASSERT_TRUE(card.card->remove(std::array{bearer(1).id}));
  card.feed({test::to(bearer(1)).make()}, kN3Port);
  EXPECT_EQ(card.take(test::vf_port(test::kPuntN3)).size(), 1U);
  card.install({bearer(2)});
  EXPECT_EQ(card.card->numbers(bearer(2).id)->dl_packets, 0U);
  card.feed({test::to(bearer(2)).make()}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(bearer(2), 0, 0, test::to(bearer(2)).payload)));
  EXPECT_FALSE(card.card->numbers(bearer(1).id));
}

// A refused call gives back the slots that it took, used before or not. No two bearers share a slot afterwards.
TEST(CardInstall, a_refused_call_gives_its_places_back) {
  TestCard card("gnb-mat", {.capacity = 4});
  card.install({bearer(1), bearer(2)});
  card.feed({test::to(bearer(2)).make()}, kN3Port);
  (void)card.take(kAirPort);
  ASSERT_TRUE(card.card->remove(std::array{bearer(2).id}));
  CardBearer wrong = bearer(5);
  wrong.lease = 0;
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_THAT(complaint(card, {bearer(2), bearer(3), wrong}), HasSubstr("a lease of 0 COUNTs"));
    EXPECT_THAT(complaint(card, {bearer(2), bearer(3), bearer(4), bearer(5)}), HasSubstr("is full"));
    EXPECT_EQ(*card.card->would_install(std::array{bearer(2), bearer(3), bearer(4)}), 3U);
  }
  card.install({bearer(2), bearer(3), bearer(4)});
  for (unsigned number = 1; number <= 4; ++number) {
    for (unsigned i = 0; i < number; ++i) card.feed({test::to(bearer(number)).make()}, kN3Port);
    EXPECT_EQ(card.take(kAirPort).size(), number);
  }
  for (unsigned number = 1; number <= 4; ++number) {
    const auto numbers = card.card->numbers(bearer(number).id);
    EXPECT_EQ(numbers->pdcp_next, number);
    EXPECT_EQ(numbers->dl_packets, number);
  }
}

TEST(CardInstall, a_full_card_takes_65536_bearers) {
  TestCard card("gnb-clone");
  std::vector<CardBearer> bearers;
  for (std::uint32_t i = 0; i < 65536; ++i) bearers.push_back(bearer(i));
  const double begin = test::thread_ms();
  card.install(bearers);
  const double took = test::thread_ms() - begin;
  std::printf("65,536 bearers, downlink, uplink and registers, in %.1f ms of CPU\n", took);
  RecordProperty("milliseconds", std::to_string(took));
  EXPECT_THAT(complaint(card, {bearer(65536)}), HasSubstr("is full; allowed: 65536 bearers"));
  card.feed({test::to(bearer(0)).make(), test::to(bearer(40000)).make(), test::to(bearer(65535)).make()}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 3U);
  (void)card.take(test::vf_port(test::kCopies));
}

TEST(CardInstall, peers_are_checked) {
  TestCard card("gnb-mat");
  EXPECT_THAT(card.card->set_peer({.number = 256}).error().message, HasSubstr("peer 256: no such number"));
  EXPECT_THAT(card.card->set_peer({.to = IpAddress::v6({1})}).error().message, HasSubstr("is an IPv6 address"));
  TestCard l2fwd("l2fwd");
  EXPECT_FALSE(l2fwd.card->set_peer({}));
}

TEST(CardMake, settings_that_no_card_has_are_refused) {
  const SpecFile spec = test::parsed(test::generated("gnb-mat"));
  const auto error = [&](const SpecFile& of, const CardSettings& settings) {
    const auto card = Card::make(of, settings);
    EXPECT_FALSE(card);
    return card ? "" : card.error().message;
  };
  EXPECT_THAT(error(spec, {.vfs = 0}), HasSubstr("0 VFs; allowed: 1 to 64"));
  EXPECT_THAT(error(spec, {.vfs = 65}), HasSubstr("65 VFs; allowed: 1 to 64"));
  EXPECT_THAT(error(spec, {.vfs = 2, .punt_n3 = 2}), HasSubstr("VF 2 is to get what the card does not serve"));
  EXPECT_THAT(error(spec, {.capacity = 65537}), HasSubstr("capacity is 65537; allowed: at most 65536"));
  SpecFile other = spec;
  other.program = "router";
  EXPECT_THAT(error(other, {}), HasSubstr("is of program 'router'; allowed: gnb, l2fwd, p4wire"));
}

TEST(CardMake, a_program_without_what_a_card_fills_is_refused) {
  std::string text = test::generated("gnb-mat");
  for (std::size_t at; (at = text.find("bit<16> longest")) != std::string::npos;)
    text.replace(at, 15, "bit<16> tallest");
  for (std::size_t at; (at = text.find("t.longest")) != std::string::npos;) text.replace(at, 9, "t.tallest");
  const auto card = Card::make(test::parsed(text), {});
  ASSERT_FALSE(card);
  EXPECT_THAT(card.error().message, HasSubstr("action profile has the argument tallest, which nothing sets"));
}

TEST(CardMake, a_program_that_only_says_that_it_is_gnb_is_refused) {
  SpecFile spec = test::parsed(test::generated("l2fwd"));
  spec.program = "gnb";
  const auto card = Card::make(spec, {});
  ASSERT_FALSE(card);
  EXPECT_THAT(card.error().message, HasSubstr("lacks tables or registers"));
}

}  // namespace
}  // namespace splitplane::nic
