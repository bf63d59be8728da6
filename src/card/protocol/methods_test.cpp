#include "card/protocol/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "card/protocol/request.h"
#include "card/protocol/test_bearer.h"

namespace splitplane::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Keeps what it is given.
struct CardInMemory {
  // This must outlive the registry.
  void add_methods(MethodRegistry& registry) {
    registry.add("card.install", card_install([this](auto wanted, bool again) -> Expected<void> {
                   bearers.assign(wanted.begin(), wanted.end());
                   restart = again;
                   return {};
                 }));
    registry.add("card.remove", card_remove([this](auto ids) -> Expected<void> {
                   removed.assign(ids.begin(), ids.end());
                   return {};
                 }));
    registry.add("card.peer", card_peer([this](const nic::CardPeer& wanted) -> Expected<void> {
                   peer = wanted;
                   return {};
                 }));
    registry.add("card.marks", card_marks([this](const nic::CardMarks& tos) -> Expected<void> {
                   marks = tos;
                   return {};
                 }));
    registry.add("card.peer_gone", card_peer_gone([this](unsigned number) -> Expected<void> {
                   peer_gone = number;
                   return {};
                 }));
    registry.add("card.lease", card_lease([this](auto wanted) -> Expected<void> {
                   leases.assign(wanted.begin(), wanted.end());
                   return {};
                 }));
    registry.add("card.begin", card_begin([this](auto wanted) -> Expected<void> {
                   begun.assign(wanted.begin(), wanted.end());
                   return {};
                 }));
    registry.add("card.fence", card_fence([this](auto ids, std::uint64_t with) -> Expected<FencedByCard> {
                   token = with;
                   return numbers(ids).map([](Rows rows) { return FencedByCard{2, 1, std::move(rows)}; });
                 }));
    registry.add("card.numbers", card_numbers(numbers, numbers_after));
  }
  using Rows = std::vector<nic::BearerNumbers>;
  static Expected<Rows> numbers(std::span<const BearerId> ids) {
    Rows rows;
    for (const BearerId id : ids) rows.emplace_back(id, nic::CardNumbers{1, 2, 3, 4, 5, 9, 10, 6, 7, 8});
    return rows;
  }
  static Expected<Rows> numbers_after(std::uint32_t after, std::size_t limit) {
    return Rows{{BearerId{after + 1}, {.pdcp_next = static_cast<std::uint32_t>(limit), .place = nic::Place::kHost}}};
  }

  std::vector<nic::CardBearer> bearers;
  std::vector<BearerId> removed;
  std::vector<nic::CardLease> leases;
  std::vector<nic::CardBeginning> begun;
  std::uint64_t token = 0;
  nic::CardPeer peer;
  unsigned peer_gone = 0;
  nic::CardMarks marks{};
  bool restart = false;
};

Json call(CardInMemory& card, const std::string& method, const Json& params) {
  MethodRegistry registry([] {});
  card.add_methods(registry);
  return Json::parse(registry.answer(Json{{"id", 1}, {"method", method}, {"params", params}}.dump()));
}

const Json kBearer{{"id", 0x04000001},
                   {"teid", 0x04000002},
                   {"ue_ipv4", "10.45.0.2"},
                   {"ue_ipv6", "fd00:45::2"},
                   {"place", "host"},
                   {"rlc", "am12"},
                   {"pdcp_sn", 12},
                   {"sdap_dl", false},
                   {"sdap_ul", true},
                   {"epoch", 7},
                   {"poll_pdu", 16},
                   {"qfi", 5},
                   {"n3_ipv4", "10.100.0.1"},
                   {"n3_ipv6", "fd00:100::1"},
                   {"n3_vlan", 100},
                   {"air_dst", "02:00:00:00:00:01"},
                   {"air_src", "02:00:00:00:00:02"},
                   {"vf_n3", 1},
                   {"vf_air", 2},
                   {"copies_vf", 3},
                   {"ul_teid", 0x1001},
                   {"peer", 255},
                   {"has_flows", true},
                   {"session", 0x04000003},
                   {"flows", 0x8000000000000021},
                   {"next_count", 0xffffffff},
                   {"next_rlc", 77},
                   {"ahead", 2047},
                   {"lease", 1024},
                   {"in_flight", 9}};

TEST(CardMethods, install_hands_over_every_member_of_a_bearer) {
  CardInMemory card;
  const Json reply = call(card, "card.install", {{"bearers", {kBearer}}, {"restart", true}});
  ASSERT_TRUE(reply.contains("result")) << reply;
  EXPECT_EQ(reply["result"]["installed"], 1);
  EXPECT_TRUE(card.restart);
  nic::CardBearer wanted = nic::test::whole_bearer();
  wanted.in_flight = 9;
  EXPECT_THAT(card.bearers, ElementsAre(wanted));
}

TEST(CardMethods, what_bearers_have_in_common_is_said_once) {
  nic::CardBearer first = nic::test::whole_bearer();
  first.ue_ipv6.reset();
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

TEST(CardMethods, one_wrong_member_of_one_bearer_refuses_all_of_them) {
  for (const auto& [key, value, says] : {
           std::tuple{"place", Json("air"), "item 1: place: allowed are card, host"},
           {"rlc", Json("um12"), "item 1: rlc: allowed are am18, am12"},
           {"pdcp_sn", Json(15), "item 1: pdcp_sn: allowed are 12 and 18"},
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

TEST(CardMethods, a_request_with_too_many_bearers_is_refused) {
  CardInMemory card;
  const Json many(kCardBearersPerRequest + 1, kBearer);
  EXPECT_THAT(call(card, "card.install", {{"bearers", many}}).value("error", ""),
              HasSubstr("bearers: allowed is a list of at most 256 items"));
}

TEST(CardMethods, peers_leases_and_removals_reach_the_card) {
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
  std::vector<unsigned> tos(64);
  tos[5] = 184;
  EXPECT_EQ(call(card, "card.marks", {{"tos", tos}})["result"]["marks"], 1);
  EXPECT_EQ(card.marks[5], 184);
  EXPECT_THAT(call(card, "card.marks", {{"tos", {1, 2}}}).value("error", ""), HasSubstr("allowed are 64 numbers"));
  tos[63] = 256;
  EXPECT_THAT(call(card, "card.marks", {{"tos", tos}}).value("error", ""), HasSubstr("item 63: allowed is 0 to 255"));
  EXPECT_TRUE(call(card, "card.lease", {{"leases", {{5, 4096}, {6, 0}}}}).contains("result"));
  EXPECT_THAT(card.leases, ElementsAre(std::pair{BearerId{5}, 4096U}, std::pair{BearerId{6}, 0U}));
  EXPECT_TRUE(call(card, "card.remove", {{"ids", {5, 6}}}).contains("result"));
  EXPECT_THAT(card.removed, ElementsAre(BearerId{5}, BearerId{6}));
  EXPECT_EQ(call(card, "card.peer_gone", {{"number", 3}})["result"]["number"], 3);
  EXPECT_EQ(card.peer_gone, 3U);
  EXPECT_THAT(call(card, "card.lease", {{"leases", {{5}}}}).value("error", ""),
              HasSubstr("leases: item 0: allowed is [identity, first COUNT not allowed]"));
  EXPECT_THAT(call(card, "card.peer", {{"number", 3}}).value("error", ""), HasSubstr("dst: is missing"));
}

TEST(CardMethods, numbers_are_rows_of_those_asked_for_or_of_a_page) {
  CardInMemory card;
  EXPECT_EQ(call(card, "card.numbers", {{"ids", {9}}})["result"],
            Json::parse("[[9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]]"));
  EXPECT_EQ(call(card, "card.numbers", {{"after", 7}, {"limit", 12}})["result"],
            Json::parse("[[8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]"));
  EXPECT_THAT(call(card, "card.numbers", {{"ids", {9}}, {"after", 1}}).value("error", ""),
              HasSubstr("ids: allowed without after"));
}

TEST(CardMethods, a_host_reads_the_rows_that_a_card_writes) {
  CardInMemory card;
  const auto rows = numbers_from_json(call(card, "card.numbers", {{"after", 7}, {"limit", 12}})["result"]);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ((*rows)[0].id, BearerId{8});
  EXPECT_EQ((*rows)[0].numbers.place, nic::Place::kHost);
  const auto of_nine = numbers_from_json(call(card, "card.numbers", {{"ids", {9}}})["result"]);
  ASSERT_TRUE(of_nine);
  EXPECT_EQ((*of_nine)[0].numbers.place, nic::Place::kCard);
  EXPECT_EQ((*of_nine)[0].numbers.ul_octets, 10U);
  EXPECT_FALSE(numbers_from_json(Json::parse("[[9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]")));
  EXPECT_FALSE(numbers_from_json(Json::parse("[[9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1]]")));
  EXPECT_FALSE(numbers_from_json(Json::parse("{}")));
}

TEST(CardMethods, beginnings_reach_the_card_as_the_host_wrote_them) {
  CardInMemory card;
  const nic::CardBeginning first{
      .id = BearerId{5}, .next_count = 150, .next_rlc = 70, .lease_end = 2000, .settled = 3, .epoch = 255};
  const nic::CardBeginning second{.id = BearerId{6}};
  EXPECT_EQ(call(card, "card.begin", {{"bearers", {to_json(first), to_json(second)}}})["result"]["begun"], 2);
  ASSERT_EQ(card.begun.size(), 2U);
  EXPECT_EQ(card.begun[0].id, first.id);
  EXPECT_EQ(card.begun[0].next_count, 150U);
  EXPECT_EQ(card.begun[0].next_rlc, 70U);
  EXPECT_EQ(card.begun[0].lease_end, 2000U);
  EXPECT_EQ(card.begun[0].settled, 3U);
  EXPECT_EQ(card.begun[0].epoch, 255U);
  EXPECT_EQ(card.begun[1].id, second.id);
}

TEST(CardMethods, one_wrong_beginning_refuses_all_of_them) {
  const Json good{5, 150, 70, 1, 2000, 3};
  for (const Json& wrong :
       {Json{5, 150, 70, 1, 2000}, Json{5, 150, 70, 1, 2000, 3, 9}, Json{5, 150, 70, 256, 2000, 3},
        Json{5, -1, 70, 1, 2000, 3}, Json{5, 0x100000000, 70, 1, 2000, 3}, Json{5, "150", 70, 1, 2000, 3}, Json("5")}) {
    CardInMemory card;
    EXPECT_THAT(call(card, "card.begin", {{"bearers", {good, wrong}}}).value("error", "(no error)"),
                HasSubstr("bearers: item 1: allowed is [identity, COUNT, RLC number, epoch, first COUNT not allowed, "
                          "settled packets]"));
    EXPECT_TRUE(card.begun.empty());
  }
  CardInMemory card;
  EXPECT_THAT(call(card, "card.begin", Json::object()).value("error", ""), HasSubstr("bearers: is missing"));
  EXPECT_THAT(call(card, "card.begin", {{"bearers", Json(kCardBearersPerRequest + 1, good)}}).value("error", ""),
              HasSubstr("bearers: allowed is a list of at most 256 items"));
}

TEST(CardMethods, a_fence_answers_with_where_it_went_and_with_numbers) {
  CardInMemory card;
  const Json reply = call(card, "card.fence", {{"ids", {9}}, {"token", UINT64_MAX}});
  ASSERT_TRUE(reply.contains("result")) << reply;
  EXPECT_EQ(card.token, UINT64_MAX);
  EXPECT_EQ(reply["result"],
            Json::parse(R"({"n3": 2, "copies": 1, "numbers": [[9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]]})"));
  card.token = 0;
  EXPECT_THAT(call(card, "card.fence", {{"ids", {9}}}).value("error", ""), HasSubstr("token: is missing"));
  EXPECT_THAT(call(card, "card.fence", {{"token", 1}}).value("error", ""), HasSubstr("ids: is missing"));
  EXPECT_THAT(call(card, "card.fence", {{"ids", {"a"}}, {"token", 1}}).value("error", ""),
              HasSubstr("ids: item 0: allowed is an identity"));
  EXPECT_THAT(call(card, "card.fence", {{"ids", {9}}, {"token", -1}}).value("error", ""), HasSubstr("token: allowed"));
  EXPECT_THAT(call(card, "card.fence", {{"ids", Json(kCardBearersPerRequest + 1, 9)}, {"token", 1}}).value("error", ""),
              HasSubstr("ids: allowed are at most 256 identities"));
  EXPECT_EQ(card.token, 0U) << "a refused request sends no fence";
}

}  // namespace
}  // namespace splitplane::app
