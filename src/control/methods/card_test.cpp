// The methods of a card: what reaches the backend, and what is refused before, whole requests at a time.
#include "control/methods/card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "card/protocol/request.h"
#include "control/methods/methods.h"

namespace splitplane::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Keeps what it is given.
class CardInMemory : public ControlBackend {
 public:
  Expected<nlohmann::json> stats() override { return Json::object(); }
  Expected<void> install_on_card(std::span<const nic::CardBearer> wanted, bool again) override {
    bearers.assign(wanted.begin(), wanted.end());
    restart = again;
    return {};
  }
  Expected<void> remove_from_card(std::span<const BearerId> ids) override {
    removed.assign(ids.begin(), ids.end());
    return {};
  }
  Expected<void> set_card_peer(const nic::CardPeer& wanted) override {
    peer = wanted;
    return {};
  }
  Expected<void> set_leases(std::span<const Lease> wanted) override {
    leases.assign(wanted.begin(), wanted.end());
    return {};
  }
  Expected<std::vector<NumbersRow>> card_numbers(std::span<const BearerId> ids) override {
    std::vector<NumbersRow> rows;
    for (const BearerId id : ids) rows.emplace_back(id, nic::CardNumbers{1, 2, 3, 4, 5, 6, 7, 8});
    return rows;
  }
  Expected<std::vector<NumbersRow>> card_numbers_after(std::uint32_t after, std::size_t limit) override {
    return std::vector<NumbersRow>{{BearerId{after + 1}, {.pdcp_next = static_cast<std::uint32_t>(limit)}}};
  }

  std::vector<nic::CardBearer> bearers;
  std::vector<BearerId> removed;
  std::vector<Lease> leases;
  nic::CardPeer peer;
  bool restart = false;
};

Json call(ControlBackend& backend, const std::string& method, const Json& params) {
  return Json::parse(answer(Json{{"id", 1}, {"method", method}, {"params", params}}.dump(), backend, [] {}));
}

const Json kBearer{{"id", 0x04000001},
                   {"teid", 0x04000001},
                   {"ue_ipv4", "10.45.0.2"},
                   {"ue_ipv6", "fd00:45::2"},
                   {"place", "armed"},
                   {"rlc", "am12"},
                   {"pdcp_sn", 12},
                   {"sdap_dl", false},
                   {"sdap_ul", true},
                   {"epoch", 7},
                   {"poll_pdu", 16},
                   {"qfi", 5},
                   {"n3_ipv4", "10.100.0.1"},
                   {"air_dst", "02:00:00:00:00:01"},
                   {"air_src", "02:00:00:00:00:02"},
                   {"vf_n3", 1},
                   {"vf_air", 2},
                   {"copies_vf", 3},
                   {"ul_teid", 0x1001},
                   {"peer", 255},
                   {"next_count", 0xffffffff},
                   {"ahead", 2047},
                   {"lease", 1024},
                   {"in_flight", 9}};

TEST(ControlCard, install_hands_over_every_member_of_a_bearer) {
  CardInMemory card;
  const Json reply = call(card, "card.install", {{"bearers", {kBearer}}, {"restart", true}});
  ASSERT_TRUE(reply.contains("result")) << reply;
  EXPECT_EQ(reply["result"]["installed"], 1);
  EXPECT_TRUE(card.restart);
  nic::CardBearer wanted{.id = {0x04000001},
                         .teid = {0x04000001},
                         .ue_ipv4 = IpAddress::v4({10, 45, 0, 2}),
                         .ue_ipv6 = *IpAddress::parse("fd00:45::2"),
                         .place = nic::Place::kArmed,
                         .rlc_sn_bits = 12,
                         .pdcp_sn_bits = 12,
                         .sdap_dl = false,
                         .sdap_ul = true,
                         .epoch = 7,
                         .poll_pdu = 16,
                         .qfi = {5},
                         .n3_ipv4 = 0x0100640a,
                         .air_dst = {{2, 0, 0, 0, 0, 1}},
                         .air_src = {{2, 0, 0, 0, 0, 2}},
                         .vf_n3 = 1,
                         .vf_air = 2,
                         .copies_vf = 3,
                         .uplink_teid = {0x1001},
                         .peer = 255,
                         .next_count = 0xffffffff,
                         .ahead = 2047,
                         .lease = 1024,
                         .in_flight = 9};
  EXPECT_THAT(card.bearers, ElementsAre(wanted));
}

TEST(ControlCard, what_bearers_have_in_common_is_said_once) {
  const nic::CardBearer first{.id = {0x04000001},
                              .teid = {0x04000001},
                              .ue_ipv4 = IpAddress::v4({10, 45, 0, 2}),
                              .place = nic::Place::kHost,
                              .rlc_sn_bits = 12,
                              .pdcp_sn_bits = 12,
                              .sdap_dl = false,
                              .epoch = 3,
                              .poll_pdu = 16,
                              .qfi = {5},
                              .n3_ipv4 = 0x0100640a,
                              .air_dst = {{2, 0, 0, 0, 0, 1}},
                              .air_src = {{2, 0, 0, 0, 0, 2}},
                              .vf_n3 = 1,
                              .vf_air = 2,
                              .copies_vf = 3,
                              .uplink_teid = {0x1001},
                              .peer = 4,
                              .next_count = 5,
                              .ahead = 1,
                              .lease = 1024};
  nic::CardBearer other{.id = {0x04000002}, .teid = {0x04000002}, .ue_ipv6 = *IpAddress::parse("fd00:45::2")};
  nic::CardBearer like = first;
  like.id = BearerId{3};
  like.ue_ipv4.reset();
  CardInMemory card;
  const Json rows{to_json(first, first), to_json(other, first), to_json(like, first)};
  EXPECT_EQ(rows[2].size(), 3U) << rows[2];
  const Json reply = call(card, "card.install", {{"common", common_to_json(first)}, {"bearers", rows}});
  ASSERT_TRUE(reply.contains("result")) << reply;
  EXPECT_THAT(card.bearers, ElementsAre(first, other, like));
  EXPECT_THAT(call(card, "card.install", {{"common", {{"id", 1}}}, {"bearers", rows}}).value("error", ""),
              HasSubstr("common: id: unknown"));
}

TEST(ControlCard, one_wrong_member_of_one_bearer_refuses_all_of_them) {
  for (const auto& [key, value, says] : {
           std::tuple{"place", Json("air"), "item 1: place: 'air' is unknown; allowed: card, armed, host"},
           {"rlc", Json("um12"), "item 1: rlc: 'um12' cannot be on a card; allowed: am18, am12"},
           {"pdcp_sn", Json(15), "item 1: pdcp_sn: allowed: 12, 18"},
           {"vf_n3", Json(64), "item 1: vf_n3: allowed is an integer from 0 to 63"},
           {"peer", Json(256), "item 1: peer: allowed is an integer from 0 to 255"},
           {"n3_ipv4", Json("fd00::1"), "item 1: n3_ipv4: allowed is an IPv4 address"},
           {"air_dst", Json("2:0"), "item 1: air_dst: '2:0' is no MAC address"},
           {"teid", Json(), "item 1: teid: allowed is an integer from 1"},
           {"color", Json(1), "item 1: color: unknown"},
       }) {
    CardInMemory card;
    Json wrong = kBearer;
    wrong[key] = value;
    EXPECT_THAT(call(card, "card.install", {{"bearers", {kBearer, wrong}}}).value("error", "(no error)"),
                HasSubstr(says));
    EXPECT_TRUE(card.bearers.empty());
  }
}

TEST(ControlCard, a_request_with_too_many_bearers_is_refused) {
  CardInMemory card;
  const Json many(kCardBearersPerRequest + 1, kBearer);
  EXPECT_THAT(call(card, "card.install", {{"bearers", many}}).value("error", ""),
              HasSubstr("bearers: allowed is a list of at most 256 items"));
}

TEST(ControlCard, peers_leases_and_removals_reach_the_card) {
  CardInMemory card;
  EXPECT_TRUE(call(card, "card.peer",
                   {{"number", 3},
                    {"dst", "02:00:00:00:00:01"},
                    {"src", "02:00:00:00:00:02"},
                    {"from", "10.100.0.1"},
                    {"to", "10.100.0.2"},
                    {"max_payload", 1400}})
                  .contains("result"));
  EXPECT_EQ(card.peer.number, 3U);
  EXPECT_EQ(card.peer.to, IpAddress::v4({10, 100, 0, 2}));
  EXPECT_EQ(card.peer.max_payload, 1400);
  EXPECT_TRUE(call(card, "card.lease", {{"leases", {{5, 4096}, {6, 0}}}}).contains("result"));
  EXPECT_THAT(card.leases, ElementsAre(std::pair{BearerId{5}, 4096U}, std::pair{BearerId{6}, 0U}));
  EXPECT_TRUE(call(card, "card.remove", {{"ids", {5, 6}}}).contains("result"));
  EXPECT_THAT(card.removed, ElementsAre(BearerId{5}, BearerId{6}));
  EXPECT_THAT(call(card, "card.lease", {{"leases", {{5}}}}).value("error", ""),
              HasSubstr("leases: item 0: allowed is [identity, first COUNT not allowed]"));
  EXPECT_THAT(call(card, "card.peer", {{"number", 3}}).value("error", ""), HasSubstr("dst: is missing"));
}

TEST(ControlCard, numbers_are_rows_of_those_asked_for_or_of_a_page) {
  CardInMemory card;
  EXPECT_EQ(call(card, "card.numbers", {{"ids", {9}}})["result"], Json::parse("[[9, 1, 2, 3, 4, 5, 6, 7, 8]]"));
  EXPECT_EQ(call(card, "card.numbers", {{"after", 7}, {"limit", 12}})["result"],
            Json::parse("[[8, 12, 0, 0, 0, 0, 0, 0, 0]]"));
  EXPECT_THAT(call(card, "card.numbers", {{"ids", {9}}, {"after", 1}}).value("error", ""),
              HasSubstr("ids: allowed without after"));
}

TEST(ControlCard, a_command_that_is_no_card_says_so) {
  class None : public ControlBackend {
    Expected<nlohmann::json> stats() override { return Json::object(); }
  } none;
  EXPECT_THAT(call(none, "card.show", Json::object()).value("error", ""), HasSubstr("this command is no card"));
}

}  // namespace
}  // namespace splitplane::app
