#include "ran/control/bearer_methods.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "control/client.h"
#include "control/server.h"
#include "ran/control/bearer_json.h"
#include "ran/control/test_bearers.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

Json ask(const MethodRegistry& registry, const std::string& method, const Json& params) {
  return Json::parse(registry.answer(Json{{"id", 7}, {"method", method}, {"params", params}}.dump()));
}

class BearerMethods : public ::testing::Test {
 protected:
  BearerMethods() { bearers_.add_methods(registry_); }
  Json call(const std::string& method, const Json& params) { return ask(registry_, method, params); }
  std::string error(const std::string& method, const Json& params) {
    return call(method, params).value("error", "(no error)");
  }
  MemoryBearers bearers_;
  MethodRegistry registry_{[] {}};
};

const Json kBearer{{"upf", "10.100.0.2"},
                   {"ul_teid", 0x1001},
                   {"rlc", "am12"},
                   {"pdcp_sn", 12},
                   {"ue_ipv4", "10.45.0.254"},
                   {"ue_ipv6", "fd00:45::2"},
                   {"qfi", 5},
                   {"poll_pdu", 16},
                   {"sdap", {{"dl", true}, {"ul", false}}}};

TEST_F(BearerMethods, a_bearer_comes_back_as_it_went_in) {
  const Json added = call("bearer.add", kBearer)["result"]["first"];
  for (const auto& [key, value] : kBearer.items()) EXPECT_EQ(added[key], value) << key;
  const Json shown = call("bearer.show", {{"id", added["id"]}})["result"];
  for (const auto& [key, value] : added.items()) EXPECT_EQ(shown[key], value) << key;
  EXPECT_EQ(shown["downlink"]["received"], 0);
  const auto back = bearer_from_json(shown);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), added);
}

TEST_F(BearerMethods, add_with_a_count_raises_teid_and_addresses) {
  Json params = kBearer;
  params["count"] = 3;
  params["shard"] = 9;
  const Json result = call("bearer.add", params)["result"];
  EXPECT_EQ(result["count"], 3);
  EXPECT_EQ(result["last"]["ul_teid"], 0x1003);
  EXPECT_EQ(result["last"]["ue_ipv4"], "10.45.1.0");
  EXPECT_EQ(result["last"]["ue_ipv6"], "fd00:45::4");
  EXPECT_EQ(result["last"]["shard"], 9);
}

TEST_F(BearerMethods, a_repeated_add_says_how_many_were_there) {
  Json params = kBearer;
  params["count"] = 70;  // two batches
  const Json first = call("bearer.add", params)["result"];
  EXPECT_EQ(first["existed"], 0);
  const Json again = call("bearer.add", params)["result"];
  EXPECT_EQ(again["existed"], 70);
  EXPECT_EQ(again["first"], first["first"]);
  params["count"] = 72;
  EXPECT_EQ(call("bearer.add", params)["result"]["existed"], 70);
}

TEST_F(BearerMethods, an_add_that_fails_midway_says_how_far_it_came) {
  MemoryBearers small(100);  // a batch of 64 fits, another does not
  MethodRegistry registry([] {});
  small.add_methods(registry);
  Json params = kBearer;
  params["count"] = 150;
  EXPECT_EQ(ask(registry, "bearer.add", params)["error"], "after 64 of 150: no room; allowed: 100 bearers");
}

TEST_F(BearerMethods, an_identity_and_another_shard_contradict_each_other) {
  Json params = kBearer;
  params["id"] = ran::make_teid(1, ShardId{3}, 1);
  params["shard"] = 4;
  EXPECT_THAT(error("bearer.add", params), HasSubstr("shard: the id says shard 3"));
  params["shard"] = 3;
  EXPECT_TRUE(call("bearer.add", params).contains("result"));
}

TEST_F(BearerMethods, modify_changes_what_is_given_only) {
  const Json id = call("bearer.add", kBearer)["result"]["first"]["id"];
  const Json changed = call("bearer.modify", {{"id", id}, {"qfi", 6}})["result"];
  EXPECT_EQ(changed["qfi"], 6);
  EXPECT_EQ(changed["ul_teid"], 0x1001);
  EXPECT_THAT(error("bearer.modify", {{"id", id}}), HasSubstr("nothing to change"));
  EXPECT_THAT(error("bearer.modify", {{"id", 5}, {"qfi", 6}}), HasSubstr("no bearer 0x5"));
}

TEST_F(BearerMethods, releasing_twice_is_no_error) {
  const Json id = call("bearer.add", kBearer)["result"]["first"]["id"];
  EXPECT_EQ(call("bearer.release", {{"id", id}})["result"]["existed"], true);
  EXPECT_EQ(call("bearer.release", {{"id", id}})["result"]["existed"], false);
}

TEST_F(BearerMethods, pages_join_to_the_whole_list) {
  Json params = kBearer;
  params["count"] = 25;
  call("bearer.add", params);
  std::vector<Json> seen;
  Json after = 0;
  for (int pages = 0; pages < 10 && !after.is_null(); ++pages) {
    const Json page = call("bearer.list", {{"after", after}, {"limit", 10}})["result"];
    for (const auto& bearer : page["bearers"]) seen.push_back(bearer["ul_teid"]);
    after = page["next"];
  }
  ASSERT_EQ(seen.size(), 25U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], 0x1001 + i);
}

TEST_F(BearerMethods, every_wrong_parameter_is_named) {
  const auto with = [](const char* key, const Json& value) {
    Json params = kBearer;
    params[key] = value;
    return params;
  };
  EXPECT_THAT(error("bearer.add", {{"ul_teid", 1}}), HasSubstr("upf: is missing"));
  EXPECT_THAT(error("bearer.add", {{"upf", "10.0.0.1"}}), HasSubstr("ul_teid: is missing"));
  EXPECT_THAT(error("bearer.add", with("upf", "10.0.0")), HasSubstr("upf: '10.0.0' is no IP address"));
  EXPECT_THAT(error("bearer.add", with("upf", 5)), HasSubstr("upf: allowed is a text"));
  EXPECT_THAT(error("bearer.add", with("ul_teid", -1)), HasSubstr("ul_teid: allowed is an integer from 1"));
  EXPECT_THAT(error("bearer.add", with("ul_teid", 1.5)), HasSubstr("ul_teid: allowed is an integer"));
  EXPECT_THAT(error("bearer.add", with("qfi", 64)), HasSubstr("qfi: allowed is an integer from 0 to 63"));
  EXPECT_THAT(error("bearer.add", with("rlc", "am19")), HasSubstr("rlc: allowed are"));
  EXPECT_THAT(error("bearer.add", with("pdcp_sn", 15)), HasSubstr("allowed are 12 and 18"));
  EXPECT_THAT(error("bearer.add", with("sdap", true)), HasSubstr("sdap: allowed is an object"));
  EXPECT_THAT(error("bearer.add", with("sdap", {{"down", true}})), HasSubstr("sdap: down: unknown"));
  EXPECT_THAT(error("bearer.add", with("ue_ipv4", "fd00::1")), HasSubstr("ue_ipv4"));
  EXPECT_THAT(error("bearer.add", with("count", 65537)), HasSubstr("count: allowed is an integer from 1 to 65536"));
  EXPECT_THAT(error("bearer.add", with("shard", 256)), HasSubstr("shard: allowed"));
  EXPECT_THAT(error("bearer.add", with("qif", 3)), HasSubstr("qif: unknown, did you mean 'qfi'?"));
  EXPECT_THAT(error("bearer.list", {{"limit", 1001}}), HasSubstr("limit: allowed is an integer from 1 to 1000"));
  EXPECT_THAT(error("bearer.show", Json::object()), HasSubstr("id: is missing"));
  EXPECT_THAT(error("bearer.show", Json::array({1})), HasSubstr("params: allowed is an object"));
  Json late = kBearer;
  late["ul_teid"] = 0xffffffff;
  late["count"] = 2;
  EXPECT_THAT(error("bearer.add", late), HasSubstr("ul_teid: with this count"));
  EXPECT_EQ(call("bearer.list", Json::object())["result"]["bearers"].size(), 0U);
}

TEST_F(BearerMethods, a_method_that_is_misspelt_gets_the_nearest) {
  EXPECT_THAT(error("bearer.ad", nullptr), HasSubstr("did you mean 'bearer.add'?"));
}

TEST_F(BearerMethods, reestablish_answers_with_the_new_epoch) {
  MethodRegistry registry([] {});
  registry.add("bearer.reestablish", bearer_reestablish([](BearerId id) -> Expected<std::uint8_t> {
                 if (id.value != 9) return fail("there is no bearer {:#x}", id.value);
                 return std::uint8_t{3};
               }));
  EXPECT_EQ(ask(registry, "bearer.reestablish", {{"id", 9}})["result"], Json::parse(R"({"id": 9, "epoch": 3})"));
  EXPECT_EQ(ask(registry, "bearer.reestablish", {{"id", 8}})["error"], "there is no bearer 0x8");
}

TEST_F(BearerMethods, rekey_takes_the_number_of_the_keys_and_says_whether_they_are_new) {
  MethodRegistry registry([] {});
  registry.add("bearer.rekey", bearer_rekey([](BearerId id, std::uint32_t key) -> Expected<Rekeyed> {
                 if (id.value != 9) return fail("there is no bearer {:#x}", id.value);
                 return Rekeyed{.key = key, .epoch = 3, .changed = key != 7};
               }));
  const auto params = [](int id, const Json& security) { return Json{{"id", id}, {"security", security}}; };
  EXPECT_EQ(ask(registry, "bearer.rekey", params(9, {{"key", 8}}))["result"],
            Json::parse(R"({"id": 9, "security": {"key": 8}, "epoch": 3, "changed": true})"));
  EXPECT_EQ(ask(registry, "bearer.rekey", params(9, {{"key", 7}}))["result"]["changed"], false);
  EXPECT_EQ(ask(registry, "bearer.rekey", params(8, {{"key", 7}}))["error"], "there is no bearer 0x8");
  for (const Json& wrong : {Json::object(), Json{{"key", 0}}, Json{{"key", 7}, {"cipher", "nea1"}}, Json(7)}) {
    EXPECT_THAT(ask(registry, "bearer.rekey", params(9, wrong))["error"].get<std::string>(), HasSubstr("security"));
  }
  EXPECT_THAT(ask(registry, "bearer.rekey", {{"id", 9}})["error"].get<std::string>(), HasSubstr("security"));
}

TEST_F(BearerMethods, a_change_is_answered_when_it_is_on_the_disk_and_a_repetition_need_not_be) {
  unsigned settled = 0;
  bool full = false;
  const WaitForDisk wait_for_disk = [&]() -> Expected<void> {
    ++settled;
    if (full) return fail("the disk is full");
    return {};
  };
  const auto calls = [this](auto member) { return std::bind_front(member, &bearers_); };
  MethodRegistry registry([] {});
  registry.add("bearer.add", bearer_add(calls(&MemoryBearers::add), wait_for_disk));
  registry.add("bearer.modify", bearer_modify(calls(&MemoryBearers::modify), wait_for_disk));
  registry.add("bearer.release", bearer_release(calls(&MemoryBearers::release), wait_for_disk));
  const Json id = ask(registry, "bearer.add", kBearer)["result"]["first"]["id"];
  EXPECT_EQ(settled, 1U);
  EXPECT_EQ(ask(registry, "bearer.add", kBearer)["result"]["existed"], 1);
  EXPECT_EQ(settled, 1U);
  full = true;
  EXPECT_EQ(ask(registry, "bearer.modify", {{"id", id}, {"qfi", 6}})["error"], "the disk is full");
  EXPECT_EQ(ask(registry, "bearer.release", {{"id", id}})["error"], "the disk is full");
  EXPECT_EQ(ask(registry, "bearer.add", kBearer)["error"], "the disk is full");
  EXPECT_EQ(settled, 4U);
}

// Over a socket, as the UE side and the generator ask.
TEST_F(BearerMethods, a_client_walks_all_pages_up_to_its_limit) {
  char name[] = "/tmp/splitplane-test-XXXXXX";
  const std::string directory = ::mkdtemp(name);
  auto server = ControlServer::start({.path = directory + "/control.sock"}, answers_of(registry_));
  ASSERT_TRUE(server) << server.error().message;
  auto client = ControlClient::connect(directory + "/control.sock");
  ASSERT_TRUE(client);
  ASSERT_TRUE(client->call("bearer.add", {{"upf", "10.0.0.1"}, {"ul_teid", 1}, {"count", 1234}}));
  std::vector<std::uint32_t> ids;
  const auto all = client->for_each_bearer(0, 1 << 20, [&](const Json& b) { ids.push_back(b["id"]); });
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(*all, 0U);
  EXPECT_EQ(ids.size(), 1234U);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  std::vector<std::uint32_t> some;
  const auto next = client->for_each_bearer(0, 700, [&](const Json& b) { some.push_back(b["id"]); });
  ASSERT_TRUE(next);
  EXPECT_EQ(some.size(), 700U);
  EXPECT_EQ(*next, some.back());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace splitplane::app
