#include "ran/control/session_methods.h"

#include <gmock/gmock.h>

#include "ran/control/bearer_json.h"
#include "ran/control/session_json.h"
#include "ran/test_sessions.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

class SessionMethods : public ::testing::Test {
 protected:
  SessionMethods() {
    const WaitForDisk settled = [] { return Expected<void>{}; };
    registry_.add("session.add", session_add(
                                     [this](const ran::WantedSession& wanted) -> Expected<AddedSession> {
                                       wanted_ = wanted;
                                       return AddedSession{session_, false};
                                     },
                                     settled));
    registry_.add("session.release",
                  session_release([this](Teid teid) { return Expected<bool>(teid == session_.teid()); }, settled));
    registry_.add("session.flow", session_flow(
                                      [this](Teid teid, Qfi qfi, ran::sdap::DrbId drb) -> Expected<ran::SessionConfig> {
                                        ran::SessionConfig moved = session_;
                                        if (teid != session_.teid() || !ran::set_flow(moved, qfi, drb))
                                          return fail("no such bearer");
                                        return moved;
                                      },
                                      settled));
    registry_.add("session.rekey", session_rekey([this](Teid teid, std::uint32_t key) {
                    EXPECT_EQ(teid, session_.teid());
                    return Expected<std::vector<RekeyedBearer>>(
                        {{session_.bearers[0].config.id, ran::sdap::DrbId{1}, {key, 4, true}},
                         {session_.bearers[2].config.id, ran::sdap::DrbId{5}, {key, 9, false}}});
                  }));
    registry_.add("session.show", session_show([this](Teid) { return Expected<SessionView>(view()); }));
    registry_.add("session.list", session_list([this](std::uint32_t, std::size_t) {
                    return Expected<std::vector<SessionView>>(std::vector{view()});
                  }));
  }
  [[nodiscard]] SessionView view() const {
    SessionView all{.config = session_, .bearers = {}, .flows = {}};
    for (const ran::SessionBearer& one : session_.bearers) {
      BearerView& bearer = all.bearers.emplace_back();
      bearer.config = one.config;
      bearer.session = InSession{session_.teid(), session_.spare, one.drb, one.drb == session_.default_drb,
                                 one.reflective,  one.flows};
    }
    all.bearers[1].downlink.transmitted = 12;
    all.flows = {{.qfi{63}, .drb{2}, .downlink = {3, 400}, .uplink = {5, 60}}};
    return all;
  }
  Json call(const std::string& method, const Json& params) {
    return Json::parse(registry_.answer(Json{{"id", 7}, {"method", method}, {"params", params}}.dump()));
  }
  // What is said of a session of which `pointer` is another value.
  std::string error(const char* pointer, const Json& value) {
    Json params = kSession;
    params[Json::json_pointer(pointer)] = value;
    return call("session.add", params).value("error", "(no error)");
  }

  const Json kSession{
      {"upf", "10.100.0.2"},
      {"ul_teid", 7},
      {"default_drb", 1},
      {"shard", 3},
      {"ue_ipv4", "10.45.0.2"},
      {"bearers",
       {{{"drb", 1}}, {{"drb", 2}, {"flows", {5, 63}}, {"rlc", "um12"}, {"pdcp_sn", 12}, {"reflective", true}}}}};
  const ran::SessionConfig session_ = ran::test::make_session_config(ran::make_teid(1, ShardId{3}, 9));
  std::optional<ran::WantedSession> wanted_;
  MethodRegistry registry_{[] {}};
};

TEST_F(SessionMethods, a_request_reaches_the_machine_with_every_key) {
  const Json answer = call("session.add", kSession);
  ASSERT_TRUE(wanted_) << answer.dump();
  EXPECT_EQ(wanted_->shard, 3U);
  const ran::SessionConfig& config = wanted_->config;
  EXPECT_EQ(config.default_drb.value, 1U);
  ASSERT_EQ(config.bearers.size(), 2U);
  for (const ran::SessionBearer& one : config.bearers) {
    EXPECT_EQ(one.config.uplink_teid.value, 7U);
    EXPECT_EQ(one.config.ue_ipv4->to_string(), "10.45.0.2");
  }
  EXPECT_EQ(config.bearers[1].flows, (std::vector{Qfi{5}, Qfi{63}}));
  EXPECT_EQ(config.bearers[1].config.rlc_mode, RlcMode::kUm);
  EXPECT_TRUE(config.bearers[1].reflective);
  EXPECT_EQ(answer["result"]["session"]["id"], session_.teid().value);
  EXPECT_EQ(answer["result"]["session"]["bearers"][1]["flows"], Json::array({1, 63}));
}

TEST_F(SessionMethods, what_is_wrong_is_named_and_reaches_no_machine) {
  EXPECT_THAT(error("/bearers/1/flows", Json::array({64})),
              HasSubstr("bearers[1]: flows: allowed are integers from 0 to 63"));
  EXPECT_THAT(error("/bearers/1/flows", "all"), HasSubstr("bearers[1]: flows: allowed is a list"));
  EXPECT_THAT(error("/bearers/1/flow", 3), HasSubstr("did you mean 'flows'?"));
  EXPECT_THAT(error("/bearers/1/drb", 33), HasSubstr("bearers[1]: drb: allowed is an integer from 1 to 32"));
  EXPECT_THAT(error("/bearers/1/drb", 1), HasSubstr("drb: two bearers have 1"));
  EXPECT_THAT(error("/bearers/1/upf", "10.100.0.3"), HasSubstr("upf: unknown"));
  EXPECT_THAT(error("/bearers/1/card", "card0"), HasSubstr("writes no RDI"));
  EXPECT_THAT(error("/bearers/1/sdap", Json{{"ul", false}}), HasSubstr("it carries one flow"));
  EXPECT_THAT(error("/bearers/0/flows", Json::array({5})), HasSubstr("QFI 5 has two rules"));
  EXPECT_THAT(error("/default_drb", 3), HasSubstr("default_drb: 3 is no bearer of the session"));
  EXPECT_THAT(error("/bearers", Json::array()), HasSubstr("the session has 0 bearers"));
  EXPECT_THAT(error("/bearers", Json::array({Json{{"drb", 1}}})), HasSubstr("the session has one bearer"));
  EXPECT_THAT(error("/bearers", Json::array({1, 2})), HasSubstr("bearers[0]: params: allowed is an object"));
  EXPECT_THAT(error("/count", 3), HasSubstr("count: unknown"));
  Json without = kSession;
  without.erase("ul_teid");
  EXPECT_THAT(call("session.add", without)["error"], HasSubstr("ul_teid: is missing"));
  EXPECT_FALSE(wanted_);
}

TEST_F(SessionMethods, a_shown_session_has_its_tunnel_once_and_each_bearer_with_its_counters) {
  const Json shown = call("session.show", {{"id", session_.teid().value}})["result"];
  EXPECT_EQ(shown["upf"], "10.100.0.2");
  EXPECT_EQ(shown["default_drb"], 1);
  ASSERT_EQ(shown["bearers"].size(), 3U);
  const Json& second = shown["bearers"][1];
  EXPECT_EQ(second["drb"], 2);
  EXPECT_EQ(second["flows"], Json::array({1, 63}));
  EXPECT_EQ(second["id"], session_.bearers[1].config.id.value);
  EXPECT_EQ(second["downlink"]["transmitted"], 12);
  EXPECT_FALSE(second.contains("upf"));
  EXPECT_EQ(shown["flows_counted"], Json::parse(R"([{"qfi":63,"drb":2,"downlink":{"sdus":3,"bytes":400},
                                                    "uplink":{"sdus":5,"bytes":60}}])"));
  const Json page = call("session.list", {{"limit", 1}})["result"];
  EXPECT_EQ(page["sessions"][0], shown);
  EXPECT_EQ(page["next"], session_.teid().value);
}

TEST_F(SessionMethods, a_bearer_of_a_ue_side_has_what_the_flows_of_its_session_counted) {
  BearerView bearer = view().bearers[1];
  EXPECT_FALSE(to_json(bearer)["session"].contains("flows_counted")) << "a gNB says it by session";
  bearer.session_flows = view().flows;
  EXPECT_EQ(to_json(bearer)["session"]["flows_counted"][0]["uplink"]["bytes"], 60);
}

TEST_F(SessionMethods, a_release_says_whether_there_was_a_session) {
  EXPECT_EQ(call("session.release", {{"id", session_.teid().value}})["result"]["existed"], true);
  EXPECT_EQ(call("session.release", {{"id", 3}})["result"]["existed"], false);
  EXPECT_THAT(call("session.release", Json::object())["error"], HasSubstr("id: is missing"));
}

TEST_F(SessionMethods, a_flow_is_given_to_another_bearer) {
  const std::uint32_t id = session_.teid().value;
  const Json answer = call("session.flow", {{"id", id}, {"qfi", 63}, {"drb", 5}});
  EXPECT_EQ(answer["result"]["session"]["bearers"][1]["flows"], Json::array({1}));
  EXPECT_EQ(answer["result"]["session"]["bearers"][2]["flows"], Json::array({2, 63}));
  EXPECT_EQ(call("session.flow", {{"id", id}, {"qfi", 63}, {"drb", 6}})["error"], "no such bearer");
  EXPECT_THAT(call("session.flow", {{"id", id}, {"qfi", 64}, {"drb", 5}})["error"],
              HasSubstr("qfi: allowed is an integer from 0 to 63"));
  EXPECT_THAT(call("session.flow", {{"id", id}, {"qfi", 6}})["error"], HasSubstr("drb: is missing"));
}

TEST_F(SessionMethods, new_keys_of_a_session_are_answered_by_bearer) {
  const std::uint32_t id = session_.teid().value;
  const Json answer = call("session.rekey", {{"id", id}, {"security", {{"key", 7}}}})["result"];
  EXPECT_EQ(answer["id"], id);
  EXPECT_EQ(answer["security"], (Json{{"key", 7}}));
  ASSERT_EQ(answer["bearers"].size(), 2U);
  EXPECT_EQ(answer["bearers"][0], (Json{{"id", id}, {"drb", 1}, {"epoch", 4}, {"changed", true}}));
  EXPECT_EQ(answer["bearers"][1]["changed"], false);
  EXPECT_THAT(call("session.rekey", {{"id", id}})["error"], HasSubstr("security: is missing"));
  EXPECT_THAT(call("session.rekey", {{"id", id}, {"security", {{"key", 0}}}})["error"], HasSubstr("key: allowed is"));
}

TEST_F(SessionMethods, a_bearer_with_security_has_its_own_drb_identity) {
  Json params = kSession;
  params["bearers"][1]["security"] = {{"key", 7}, {"cipher", "nea1"}};
  const Json answer = call("session.add", params);
  ASSERT_TRUE(wanted_) << answer.dump();
  ASSERT_TRUE(wanted_->config.bearers[1].config.security);
  EXPECT_EQ(wanted_->config.bearers[1].config.security->drb, 2);
  EXPECT_EQ(wanted_->config.bearers[1].config.security->key, 7U);
  EXPECT_FALSE(wanted_->config.bearers[0].config.security);
  EXPECT_THAT(error("/bearers/1/security", Json{{"key", 7}, {"drb", 3}}), HasSubstr("drb: unknown"));
}

TEST_F(SessionMethods, sessions_are_made_again_from_the_bearers_that_a_gnb_shows) {
  std::vector<Json> rows;
  for (const BearerView& bearer : view().bearers) rows.push_back(to_json(bearer));
  std::swap(rows[0], rows[2]);
  const auto sessions = sessions_from_json(rows);
  ASSERT_TRUE(sessions) << sessions.error().message;
  ASSERT_EQ(sessions->size(), 1U);
  ran::SessionConfig back = sessions->front().config;
  std::ranges::sort(back.bearers, {}, &ran::SessionBearer::drb);
  EXPECT_EQ(back, session_);
  rows[0]["session"]["default"] = rows[1]["session"]["default"] = rows[2]["session"]["default"] = false;
  EXPECT_FALSE(sessions_from_json(rows));
}

}  // namespace
}  // namespace splitplane::app
