// What a card's tables refuse: the error says which entry and why, and the tables are as before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "card/card.h"
#include "card/test_bearers.h"

namespace splitplane::nic {
namespace {

using datapath::test::N3Frame;
using testing::HasSubstr;

constexpr std::uint32_t kTeid = 0x0c040001;

CardBearer bearer_at(std::uint32_t id) {
  CardBearer b;
  b.id = BearerId{id};
  b.teid = Teid{id};
  b.n3_ipv4 = __builtin_bswap32(test::kOurIpv4);
  return b;
}

std::vector<CardBearer> bearers_from(std::uint32_t from, std::uint32_t n) {
  std::vector<CardBearer> all;
  for (std::uint32_t i = 0; i < n; ++i) all.push_back(bearer_at(from + i));
  return all;
}

SpecFile spec(const char* program) {
  const auto read = read_spec(spec_path("", program));
  EXPECT_TRUE(read) << read.error().message;
  return read.value_or(SpecFile{});
}

class CardRefuses : public testing::Test {
 protected:
  void make(const char* program, CardSettings settings = {}) {
    auto made = Card::make(spec(program), settings);
    ASSERT_TRUE(made) << made.error().message;
    card = std::move(*made);
  }
  // True if the card sends a packet with this TEID to the air.
  bool serves(std::uint32_t teid) {
    rte_mbuf* m = pool.make(N3Frame{.teid = teid}.make());
    card->process(&m, 1, kN3Port);
    bool served = false;
    for (unsigned port = 0; port < card->ports(); ++port) {
      for (rte_mbuf* out : card->out(port).mbufs) {
        served = served || port == kAirPort;
        rte_pktmbuf_free(out);
      }
      card->out(port).mbufs.clear();
    }
    return served;
  }
  template <class T>
  void expect_error(const Expected<T>& result, const std::string& about) {
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr(about));
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  }

  datapath::test::Pool pool;
  std::unique_ptr<Card> card;
};

TEST_F(CardRefuses, no_vf_and_more_than_sixty_four) {
  for (const unsigned vfs : {0U, 65U, 1000U}) {
    const auto made = Card::make(spec("gnb-clone"), {.vfs = vfs});
    ASSERT_FALSE(made) << vfs;
    EXPECT_THAT(made.error().message, HasSubstr("64"));
  }
  for (const unsigned vfs : {1U, 64U}) EXPECT_TRUE(Card::make(spec("gnb-clone"), {.vfs = vfs})) << vfs;
}

TEST_F(CardRefuses, punts_to_a_vf_that_is_not_there) {
  EXPECT_FALSE(Card::make(spec("gnb-clone"), {.vfs = 3, .punt_n3 = 3}));
  EXPECT_FALSE(Card::make(spec("gnb-clone"), {.vfs = 3, .punt_air = 64}));
}

TEST_F(CardRefuses, a_teid_twice_in_one_call) {
  make("gnb-mat");
  auto entries = bearers_from(kTeid, 10);
  entries[7].teid = entries[2].teid;
  expect_error(card->install(entries), std::to_string(kTeid + 2));
  EXPECT_TRUE(card->bearers().empty());
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_FALSE(serves(kTeid + i)) << i;
  EXPECT_TRUE(card->install(bearers_from(kTeid, 10))) << "what was refused left nothing that is in the way";
  EXPECT_TRUE(serves(kTeid + 7));
}

TEST_F(CardRefuses, an_identity_twice_in_one_call) {
  make("gnb-mat");
  auto entries = bearers_from(kTeid, 10);
  entries[7].id = entries[2].id;
  expect_error(card->install(entries), std::to_string(kTeid + 2));
  EXPECT_TRUE(card->bearers().empty());
  EXPECT_FALSE(serves(kTeid));
}

TEST_F(CardRefuses, a_teid_that_another_bearer_has) {
  make("gnb-mat");
  ASSERT_TRUE(card->install(bearers_from(kTeid, 3)));
  auto entries = bearers_from(kTeid + 100, 3);
  entries[1].teid = Teid{kTeid + 1};
  expect_error(card->install(entries), std::to_string(kTeid + 1));
  EXPECT_EQ(card->bearers().size(), 3U);
  EXPECT_FALSE(serves(kTeid + 100));
  EXPECT_TRUE(serves(kTeid + 1));
  EXPECT_EQ(card->numbers(BearerId{kTeid + 1})->dl_packets, 1U) << "its own bearer counted it";
}

TEST_F(CardRefuses, a_ue_address_that_another_bearer_has) {
  make("gnb-clone-ue");
  auto entries = bearers_from(kTeid, 2);
  for (auto& b : entries) b.ue_ipv4 = IpAddress::v4({10, 45, 0, 1});
  expect_error(card->install(entries), "UE address");
  EXPECT_TRUE(card->bearers().empty());
  entries[1].ue_ipv4 = IpAddress::v4({10, 45, 0, 2});
  for (auto& b : entries) b.ue_ipv6 = IpAddress::v6(datapath::test::kUpfIpv6);
  EXPECT_FALSE(card->install(entries));
  EXPECT_TRUE(card->bearers().empty());
}

TEST_F(CardRefuses, a_new_teid_for_a_known_bearer_if_it_is_anothers_and_else_the_old_one_goes) {
  make("gnb-mat");
  ASSERT_TRUE(card->install(bearers_from(kTeid, 2)));
  auto moved = bearer_at(kTeid);
  moved.teid = Teid{kTeid + 1};
  EXPECT_FALSE(card->install(std::span(&moved, 1)));
  EXPECT_TRUE(serves(kTeid));
  moved.teid = Teid{kTeid + 50};
  ASSERT_TRUE(card->install(std::span(&moved, 1)));
  EXPECT_FALSE(serves(kTeid));
  EXPECT_TRUE(serves(kTeid + 50));
  EXPECT_EQ(card->numbers(moved.id)->pdcp_next, 2U) << "it kept its numbers";
}

TEST_F(CardRefuses, more_bearers_than_there_is_room_for) {
  make("gnb-mat", {.capacity = 100});
  expect_error(card->install(bearers_from(kTeid, 101)), "100");
  EXPECT_TRUE(card->bearers().empty());
  ASSERT_TRUE(card->install(bearers_from(kTeid, 100)));
  const auto one = bearer_at(kTeid + 100);
  EXPECT_FALSE(card->install(std::span(&one, 1)));
  EXPECT_FALSE(serves(kTeid + 100));
  EXPECT_TRUE(card->install(bearers_from(kTeid, 100))) << "those that it has are no new ones";
  const BearerId first{kTeid};
  ASSERT_TRUE(card->remove(std::span(&first, 1)));
  EXPECT_FALSE(serves(kTeid));
  EXPECT_TRUE(card->install(std::span(&one, 1)));
  EXPECT_TRUE(serves(kTeid + 100));
  EXPECT_EQ(card->numbers(one.id)->pdcp_next, 1U) << "a slot that is used again begins anew";
}

TEST_F(CardRefuses, more_than_the_programs_tables_hold) {
  EXPECT_FALSE(Card::make(spec("gnb-mat"), {.capacity = 65'537}));
  make("gnb-mat");
  EXPECT_FALSE(card->install(bearers_from(kTeid, 65'537)));
  EXPECT_FALSE(serves(kTeid));
  const auto all = bearers_from(kTeid, 65'536);
  const auto installed = card->install(all);
  ASSERT_TRUE(installed) << installed.error().message;
  EXPECT_TRUE(serves(kTeid) && serves(kTeid + 65'535));
}

TEST_F(CardRefuses, bearers_that_it_does_not_know) {
  make("gnb-mat");
  ASSERT_TRUE(card->install(bearers_from(kTeid, 3)));
  const std::vector<BearerId> some{BearerId{kTeid}, BearerId{kTeid + 77}, BearerId{kTeid + 1}};
  expect_error(card->remove(some), std::to_string(kTeid + 77));
  EXPECT_EQ(card->bearers().size(), 3U);
  EXPECT_TRUE(serves(kTeid));
  expect_error(card->set_leases(std::array{CardLease{BearerId{kTeid + 77}, 5}}), std::to_string(kTeid + 77));
  expect_error(card->numbers(BearerId{kTeid + 77}), std::to_string(kTeid + 77));
  EXPECT_EQ(card->find(BearerId{kTeid + 77}), nullptr);
}

TEST_F(CardRefuses, entries_that_cannot_be) {
  make("gnb-clone", {.vfs = 3});
  const auto refused = [this](auto change) {
    auto entries = bearers_from(kTeid, 3);
    change(entries[1]);
    return !card->install(entries) && card->bearers().empty() && !serves(kTeid);
  };
  EXPECT_TRUE(refused([](CardBearer& b) { b.id = BearerId{0}; }));
  EXPECT_TRUE(refused([](CardBearer& b) { b.rlc_sn_bits = 6; }));
  EXPECT_TRUE(refused([](CardBearer& b) { b.pdcp_sn_bits = 16; }));
  EXPECT_TRUE(refused([](CardBearer& b) { b.qfi = Qfi{64}; }));
  EXPECT_TRUE(refused([](CardBearer& b) { b.copies_vf = 3; }));
  EXPECT_TRUE(refused([](CardBearer& b) { b.vf_n3 = 3, b.place = Place::kHost; }));
  EXPECT_TRUE(refused([](CardBearer& b) { b.vf_air = 64, b.place = Place::kHost; }));
  EXPECT_TRUE(refused([](CardBearer& b) { b.peer = 256; }));
  CardPeer peer{.number = 256, .from = IpAddress::v4({10, 0, 0, 1}), .to = IpAddress::v4({10, 0, 0, 2})};
  EXPECT_FALSE(card->set_peer(peer));
  peer.number = 0;
  peer.to = IpAddress::v6(datapath::test::kUpfIpv6);
  EXPECT_FALSE(card->set_peer(peer));
}

TEST_F(CardRefuses, what_another_program_is_for) {
  for (const char* program : {"l2fwd", "p4wire", "gnb-drop"}) {
    make(program);
    if (HasFatalFailure()) return;
    EXPECT_FALSE(card->set_markers(1, 0)) << program;
    if (std::string(program) != "p4wire") {
      EXPECT_FALSE(card->wire(0, 1)) << program;
      EXPECT_FALSE(card->spread(0)) << program;
    }
    if (std::string(program) == "gnb-drop") continue;
    EXPECT_FALSE(card->install(bearers_from(kTeid, 1))) << program;
  }
  make("p4wire", {.vfs = 2});
  EXPECT_FALSE(card->wire(0, kFirstVf + 2));
  EXPECT_FALSE(card->wire(kFirstVf + 2, 0));
  EXPECT_FALSE(card->spread(kFirstVf + 2));
}

TEST_F(CardRefuses, nothing_that_was_removed_a_hundred_times) {
  make("gnb-clone", {.capacity = 3000});
  std::vector<BearerId> ids;
  for (std::uint32_t i = 0; i < 3000; ++i) ids.push_back(BearerId{kTeid + i});
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE(card->install(bearers_from(kTeid, 3000)));
    ASSERT_TRUE(card->remove(ids)) << round;
  }
  EXPECT_FALSE(serves(kTeid));
}

}  // namespace
}  // namespace splitplane::nic
