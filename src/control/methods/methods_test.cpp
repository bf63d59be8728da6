#include "control/methods/methods.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "control/methods/bearer_json.h"
#include "control/methods/test_backend.h"
#include "control/params.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

class ControlMethods : public ::testing::Test {
 protected:
  Json ask(const std::string& line) {
    return Json::parse(answer(line, backend_, [this] { ++stops_; }));
  }
  Json call(const std::string& method, const Json& params) {
    return ask(Json{{"id", 7}, {"method", method}, {"params", params}}.dump());
  }
  std::string error(const std::string& method, const Json& params) {
    return call(method, params).value("error", "(no error)");
  }
  MemoryBackend backend_;
  int stops_ = 0;
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

TEST_F(ControlMethods, a_bearer_comes_back_as_it_went_in) {
  const Json added = call("bearer.add", kBearer)["result"]["first"];
  for (const auto& [key, value] : kBearer.items()) EXPECT_EQ(added[key], value) << key;
  const Json shown = call("bearer.show", {{"id", added["id"]}})["result"];
  for (const auto& [key, value] : added.items()) EXPECT_EQ(shown[key], value) << key;
  EXPECT_EQ(shown["downlink"]["received"], 0);
  const auto back = bearer_from_json(shown);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), added);
}

TEST_F(ControlMethods, add_with_a_count_raises_teid_and_addresses) {
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

TEST_F(ControlMethods, a_repeated_add_says_how_many_were_there) {
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

TEST_F(ControlMethods, an_add_that_fails_midway_says_how_far_it_came) {
  MemoryBackend small(100);  // a batch of 64 fits, another does not
  Json params = kBearer;
  params["count"] = 150;
  const Json reply = Json::parse(answer(Json{{"method", "bearer.add"}, {"params", params}}.dump(), small, [] {}));
  EXPECT_EQ(reply["error"], "after 64 of 150: no room; allowed: 100 bearers");
}

TEST_F(ControlMethods, an_identity_and_another_shard_contradict_each_other) {
  Json params = kBearer;
  params["id"] = ran::make_teid(1, ShardId{3}, 1);
  params["shard"] = 4;
  EXPECT_THAT(error("bearer.add", params), HasSubstr("shard: the id says shard 3"));
  params["shard"] = 3;
  EXPECT_TRUE(call("bearer.add", params).contains("result"));
}

TEST_F(ControlMethods, modify_changes_what_is_given_only) {
  const Json id = call("bearer.add", kBearer)["result"]["first"]["id"];
  const Json changed = call("bearer.modify", {{"id", id}, {"qfi", 6}})["result"];
  EXPECT_EQ(changed["qfi"], 6);
  EXPECT_EQ(changed["ul_teid"], 0x1001);
  EXPECT_THAT(error("bearer.modify", {{"id", id}}), HasSubstr("nothing to change"));
  EXPECT_THAT(error("bearer.modify", {{"id", 5}, {"qfi", 6}}), HasSubstr("no bearer 0x5"));
}

TEST_F(ControlMethods, releasing_twice_is_no_error) {
  const Json id = call("bearer.add", kBearer)["result"]["first"]["id"];
  EXPECT_EQ(call("bearer.release", {{"id", id}})["result"]["existed"], true);
  EXPECT_EQ(call("bearer.release", {{"id", id}})["result"]["existed"], false);
}

TEST_F(ControlMethods, pages_join_to_the_whole_list) {
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

TEST_F(ControlMethods, ping_stats_and_stop_answer) {
  EXPECT_TRUE(call("ping", nullptr)["result"]["process"].is_number());
  EXPECT_EQ(call("stats", Json::object())["result"]["totals"]["balanced"], true);
  EXPECT_EQ(stops_, 0);
  EXPECT_EQ(call("stop", Json::object())["result"]["stopping"], true);
  EXPECT_EQ(stops_, 1);
}

TEST_F(ControlMethods, the_id_comes_back) {
  EXPECT_EQ(ask(R"({"id":"a","method":"ping"})")["id"], "a");
  EXPECT_EQ(ask(R"({"id":-3,"method":"ping"})")["id"], -3);
  EXPECT_TRUE(ask(R"({"method":"ping"})")["id"].is_null());
}

TEST_F(ControlMethods, every_wrong_parameter_is_named) {
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
  EXPECT_THAT(error("ping", {{"loud", true}}), HasSubstr("loud: unknown"));
  EXPECT_THAT(error("stop", {{"now", true}}), HasSubstr("now: unknown"));
  EXPECT_EQ(stops_, 0);
  Json late = kBearer;
  late["ul_teid"] = 0xffffffff;
  late["count"] = 2;
  EXPECT_THAT(error("bearer.add", late), HasSubstr("ul_teid: with this count"));
  EXPECT_EQ(call("bearer.list", Json::object())["result"]["bearers"].size(), 0U);
}

TEST_F(ControlMethods, whatever_the_line_there_is_a_reply) {
  for (const std::string& line :
       {std::string("x"), std::string("[]"), std::string("5"), std::string("{}"), std::string("{\"method\":5}"),
        std::string("{\"method\":\"bearer.ad\"}"), std::string("{\"id\":[],\"method\":\"ping\"}"),
        std::string("{\"id\":1,\"method\":\"ping\",\"extra\":1}"), std::string("\xff\xfe"), std::string(60000, '['),
        std::string("{\"method\":\"p\0ng\"}", 17), std::string("\0", 1),
        std::string("{\"method\":\"ping\",\"params\":[1]}"), std::string("nan")}) {
    const Json reply = ask(line);
    EXPECT_TRUE(reply.contains("error")) << line.substr(0, 60);
    EXPECT_FALSE(reply.contains("result"));
  }
  EXPECT_THAT(ask("{\"method\":\"bearer.ad\"}").value("error", ""), HasSubstr("did you mean 'bearer.add'?"));
}

TEST_F(ControlMethods, a_backend_that_throws_gives_an_error_reply) {
  class Throwing : public MemoryBackend {
    Expected<nlohmann::json> stats() override { throw std::runtime_error("out of memory"); }
  } throwing;
  const Json reply = Json::parse(answer(R"({"id":1,"method":"stats"})", throwing, [] {}));
  EXPECT_EQ(reply["error"], "failed: out of memory");
}

TEST_F(ControlMethods, a_command_without_bearers_says_so) {
  class StatsOnly : public ControlBackend {
    Expected<nlohmann::json> stats() override { return nlohmann::json::object(); }
  } plain;
  const Json reply = Json::parse(answer(R"({"id":1,"method":"bearer.list"})", plain, [] {}));
  EXPECT_THAT(reply.value("error", ""), HasSubstr("has no bearers"));
}

TEST_F(ControlMethods, air_set_changes_what_is_named_and_refuses_the_rest) {
  EXPECT_EQ(error("air.set", {{"uplink", {{"loss_percent", 2.5}, {"reorder_percent", 1}}}}), "(no error)");
  for (std::size_t i = 0; i < phy::kImpairments.size(); ++i) {
    const auto name = phy::kImpairments[i].name;
    EXPECT_FALSE(backend_.air.downlink[i]);
    EXPECT_EQ(backend_.air.uplink[i].value_or(-1), name == "loss_percent" ? 2.5 : name == "reorder_percent" ? 1 : -1);
  }
  for (const auto& [params, says] :
       {std::pair{Json{{"uplink", {{"loss_percent", 100.5}}}},
                  "uplink: loss_percent: allowed is a number from 0 to 100"},
        {Json{{"downlink", {{"burst_length", "4"}}}}, "downlink: burst_length: allowed is a number from 1 to 1000000"},
        {Json{{"downlink", {{"los_percent", 4}}}}, "downlink: los_percent: unknown, did you mean 'loss_percent'?"},
        {Json{{"downlink", 5}}, "downlink: allowed is an object"},
        {Json{{"up", Json::object()}}, "up: unknown; allowed: downlink, uplink"}}) {
    EXPECT_THAT(error("air.set", params), HasSubstr(says));
  }
}

}  // namespace
}  // namespace splitplane::app
