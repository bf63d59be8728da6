#include "placement/card_placement.h"

#include <gmock/gmock.h>

#include <map>

#include "card/protocol/servable.h"
#include "gnb/config/lookup.h"
#include "gnb/config/read.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTwoWorkers = R"(
memory: {megabytes: 1000}
ports:
  vf-n3: {device: "eth_vhost0,iface=/run/a.sock,queues=2", rx_queues: 2, tx_queues: 2}
  vf-air: {device: "eth_vhost1,iface=/run/b.sock,queues=2", rx_queues: 2, tx_queues: 2}
  vf-copies: {device: "eth_vhost2,iface=/run/c.sock"}
n3: [{port: vf-n3, ipv4: 10.100.0.1}]
air: [{port: vf-air, peer_mac: "02:00:00:00:00:12"}]
workers:
  w0: {function: gnb, core: 0, n3: vf-n3, air: vf-air, queue: 0, shards: 0-127}
  w1: {function: gnb, core: 1, n3: vf-n3, air: vf-air, queue: 1, shards: 128-255}
  c: {function: copies, core: 2, rx: vf-copies}
cards: {card0: {control: /run/x.sock, vfs: [vf-copies, vf-n3, vf-air], n3: vf-n3, air: vf-air, copies: vf-copies}}
)";

class CardPlacement : public ::testing::Test {
 protected:
  void SetUp() override {
    auto parsed = Document::parse(kTwoWorkers, "t.yaml").and_then(read_gnb);
    ASSERT_TRUE(parsed) << parsed.error().message;
    config_ = *std::move(parsed);
    gnb_.n3.ipv4 = 0x0100640a;
    gnb_.n3.mac = MacAddress{{2, 0, 0, 0, 0, 1}};
    gnb_.air_header = {2, 0, 0, 0, 0, 0x12, 2, 0, 0, 0, 0, 0x11, 0x88, 0xb5};
  }
  static ran::BearerConfig bearer() {
    ran::BearerConfig b;
    b.id = BearerId{0x04000001};
    b.uplink_teid = Teid{0x1001};
    b.upf = IpAddress::v4({10, 100, 0, 2});
    b.rlc_sn_bits = b.pdcp_sn_bits = 12;
    b.card = "card0";
    return b;
  }
  GnbConfig config_;
  datapath::GnbContext gnb_;
};

TEST_F(CardPlacement, copies_of_a_bearer_go_to_one_queue_and_those_of_many_to_all) {
  CardLinkConfig card = config_.cards[0];
  card.copies = "vf-n3";  // a port of two queues, the VFs 1 and 2
  std::map<unsigned, unsigned> bearers;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    ran::BearerConfig b = bearer();
    b.id = BearerId{0x04000000 + i};
    ++bearers[card_bearer(config_, card, config_.workers[0], gnb_, b, 0).copies_vf];
  }
  EXPECT_EQ(bearers, (std::map<unsigned, unsigned>{{1, 50}, {2, 50}}));
}

TEST_F(CardPlacement, vfs_are_numbered_in_the_cards_order) {
  const CardLinkConfig& card = config_.cards[0];
  EXPECT_EQ(vf_count(config_, card), 5U);
  EXPECT_EQ(vf_number(config_, card, "vf-copies", 0), 0U);
  EXPECT_EQ(vf_number(config_, card, "vf-n3", 1), 2U);
  EXPECT_EQ(vf_number(config_, card, "vf-air", 0), 3U);
  EXPECT_EQ(card_before(config_, "vf-air"), &card);
  EXPECT_EQ(card_before(config_, "vf-copies"), nullptr);
  EXPECT_EQ(find_card(config_, "card1"), nullptr);
}

TEST_F(CardPlacement, an_entry_says_who_serves_the_bearer_and_whose_vf_it_has) {
  const auto entry = card_bearer(config_, config_.cards[0], config_.workers[1], gnb_, bearer(), 7);
  EXPECT_EQ(entry.place, nic::Place::kCard);
  EXPECT_EQ(entry.teid.value, entry.id.value);
  EXPECT_EQ((std::array{entry.vf_n3, entry.vf_air, entry.copies_vf, entry.peer}), (std::array{2U, 4U, 0U, 7U}));
  EXPECT_EQ(entry.rlc_sn_bits, 12U);
  EXPECT_EQ(entry.n3_ipv4, gnb_.n3.ipv4);
  EXPECT_EQ(entry.air_dst, (MacAddress{{2, 0, 0, 0, 0, 0x12}}));
  EXPECT_EQ(entry.air_src, (MacAddress{{2, 0, 0, 0, 0, 0x11}}));

  auto hosts = bearer();
  hosts.card.clear();
  hosts.rlc_mode = RlcMode::kUm;
  hosts.rlc_sn_bits = 6;
  hosts.dl_teid = Teid{0x70000001};
  const auto way = card_bearer(config_, config_.cards[0], config_.workers[0], gnb_, hosts, 7);
  EXPECT_EQ(way.place, nic::Place::kHost);
  EXPECT_EQ(way.teid.value, 0x70000001U) << "the TEID that the UPF sends to";
  EXPECT_EQ((std::array{way.vf_n3, way.vf_air}), (std::array{1U, 3U}));
}

TEST_F(CardPlacement, a_bearer_of_a_session_has_its_flows_and_the_default_one_all_others) {
  ran::SessionConfig session;
  session.bearers.resize(3);
  for (std::uint8_t i = 0; i < 3; ++i) {
    session.bearers[i].drb = ran::sdap::DrbId{static_cast<std::uint8_t>(i + 1)};
    session.bearers[i].config = bearer();
    session.bearers[i].config.id.value += i;
  }
  session.default_drb = session.bearers[0].drb;
  session.bearers[1].flows = {Qfi{0}, Qfi{63}};
  const auto entry_of = [&](std::size_t i) {
    auto entry = card_bearer(config_, config_.cards[0], config_.workers[1], gnb_, session.bearers[i].config, 7);
    add_flows(entry, session);
    return entry;
  };
  EXPECT_TRUE(entry_of(0).has_flows);
  EXPECT_EQ(entry_of(0).flows, 0U);
  EXPECT_EQ(entry_of(1).flows, 0x8000000000000001U);
  EXPECT_EQ(entry_of(1).session, session.teid());
  EXPECT_EQ(entry_of(2).flows, 0U) << "no flow leads to it";
  EXPECT_EQ(entry_of(2).session, session.teid());
  for (ran::SessionBearer& one : session.bearers) one.config.card.clear();
  EXPECT_FALSE(entry_of(0).has_flows) << "all go to one worker";
  EXPECT_EQ(entry_of(1).session.value, 0U);
}

TEST_F(CardPlacement, without_a_port_for_copies_they_come_by_the_air) {
  config_.cards[0].copies.clear();
  const auto entry = card_bearer(config_, config_.cards[0], config_.workers[0], gnb_, bearer(), 0);
  EXPECT_EQ(entry.copies_vf, 3U);
}

TEST_F(CardPlacement, a_upf_is_told_with_our_address_and_its_longest_packet) {
  const auto peer = card_peer(3, gnb_.n3, bearer().upf, MacAddress{{2, 0, 0, 0, 0, 2}});
  EXPECT_EQ(peer.from.to_string(), "10.100.0.1");
  EXPECT_EQ(peer.src, gnb_.n3.mac);
  EXPECT_EQ(peer.max_payload, datapath::make_peer(gnb_.n3, bearer().upf, peer.dst).max_payload);
}

TEST_F(CardPlacement, what_needs_the_host_cannot_be_on_a_card) {
  EXPECT_EQ(refuse_on_card(bearer()), std::nullopt);
  const auto refusal = [](auto change) {
    auto b = bearer();
    change(b);
    return refuse_on_card(b).value_or("(good)");
  };
  EXPECT_THAT(refusal([](auto& b) { b.rlc_mode = RlcMode::kUm; }),
              HasSubstr("rlc is um12, which a card does not serve; allowed: am12, am18"));
  EXPECT_THAT(refusal([](auto& b) { b.require_psc = true; }), HasSubstr("with require_psc"));
  EXPECT_THAT(refusal([](auto& b) { b.n3_reorder.emplace(); }), HasSubstr("with n3_reorder"));
  EXPECT_THAT(refusal([](auto& b) { b.dl_teid = Teid{1}; }), HasSubstr("with dl_teid"));
  EXPECT_THAT(refusal([](auto& b) { b.security.emplace(); }), HasSubstr("a card neither ciphers nor reorders"));
  EXPECT_THAT(refusal([](auto& b) { b.ecn.emplace(); }), HasSubstr("a card marks no packets"));
}

}  // namespace
}  // namespace splitplane::app
