#include "guard/control/methods.h"

#include <gmock/gmock.h>

#include "guard/config/server_text.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

class GuardMethods : public ::testing::Test {
 protected:
  GuardMethods() {
    registry_.add("guard.add", guard_add([this](const guard::ServerRule& rule) -> Expected<Json> {
                    rule_ = rule;
                    ++calls_;
                    return Json{{"existed", false}};
                  }));
    registry_.add("guard.set", guard_set([this](const std::string& name, const ChangeRule& change) -> Expected<Json> {
                    name_ = name;
                    change(rule_);
                    ++calls_;
                    return Json::object();
                  }));
    registry_.add("guard.remove", guard_remove([this](const std::string& name) -> Expected<Json> {
                    name_ = name;
                    ++calls_;
                    return Json::object();
                  }));
    registry_.add("guard.sources",
                  guard_sources([]() -> Expected<Json> { return Json{{"counted", true}}; },
                                [this](const IpAddress& client, SourceAction action) -> Expected<Json> {
                                  name_ = client.to_string();
                                  action_ = action;
                                  return Json::object();
                                }));
    registry_.add("guard.flows",
                  guard_flows([](std::size_t limit) -> Expected<Json> { return Json{{"limit", limit}}; }));
  }
  Json answer(const std::string& method, const Json& params) {
    return Json::parse(registry_.answer(Json{{"id", 1}, {"method", method}, {"params", params}}.dump()));
  }
  std::string error(const std::string& method, const Json& params) {
    return answer(method, params).value("error", "(no error)");
  }
  guard::ServerRule rule_;
  std::string name_;
  SourceAction action_ = SourceAction::kShow;
  unsigned calls_ = 0;
  MethodRegistry registry_{[] {}};
};

TEST_F(GuardMethods, a_server_is_added_with_the_keys_of_a_file) {
  const Json params{{"name", "web"},   {"address", "10.70.0.0/24"}, {"ports", "8000-8099"},
                    {"mode", "proxy"}, {"arm", "always"},           {"hold_seconds", 20},
                    {"mss", 1400},     {"window_scale", 7},         {"arm_syns_per_second", 2000}};
  EXPECT_EQ(answer("guard.add", params).at("result").at("existed"), false);
  EXPECT_EQ(rule_.name, "web");
  EXPECT_EQ(address_text(rule_), "10.70.0.0/24");
  EXPECT_EQ(ports_text(rule_), "8000-8099");
  EXPECT_EQ(rule_.mode, guard::Mode::kProxy);
  EXPECT_EQ(rule_.arm, guard::Arm::kAlways);
  EXPECT_EQ(rule_.arming.hold_seconds, 20U);
  EXPECT_EQ(rule_.arming.arm_syns_per_second, 2000U);
  EXPECT_EQ(rule_.mss, 1400);
}

TEST_F(GuardMethods, what_is_missing_or_wrong_changes_nothing) {
  EXPECT_THAT(error("guard.add", {{"address", "10.70.0.2"}}), HasSubstr("name: is missing"));
  EXPECT_THAT(error("guard.add", {{"name", "web"}}), HasSubstr("address: is missing"));
  EXPECT_THAT(error("guard.add", {{"name", "a b"}, {"address", "10.70.0.2"}}), HasSubstr("name: 'a b' is no name"));
  EXPECT_THAT(error("guard.add", {{"name", "web"}, {"address", "10.70.0.2/24"}}),
              HasSubstr("address: '10.70.0.2/24' has bits behind its prefix"));
  EXPECT_THAT(error("guard.add", {{"name", "web"}, {"address", "10.70.0.2"}, {"ports", "80-79"}}),
              HasSubstr("ports: '80-79' is no port"));
  EXPECT_THAT(error("guard.add", {{"name", "web"}, {"address", "10.70.0.2"}, {"mode", "off"}}),
              HasSubstr("mode: allowed are bypass, observe, auth, proxy"));
  EXPECT_THAT(error("guard.set", {{"name", "web"}}), HasSubstr("nothing to change; allowed: mode, arm,"));
  EXPECT_THAT(error("guard.set", {{"name", "web"}, {"address", "10.70.0.3"}}), HasSubstr("address: unknown"));
  EXPECT_THAT(error("guard.remove", Json::object()), HasSubstr("name: is missing"));
  EXPECT_EQ(calls_, 0U);
}

TEST_F(GuardMethods, a_change_leaves_what_it_does_not_name) {
  rule_.mode = guard::Mode::kAuth;
  rule_.arming.hold_seconds = 33;
  (void)answer("guard.set", {{"name", "web"}, {"arm", "always"}, {"window_scale", 3}});
  EXPECT_EQ(name_, "web");
  EXPECT_EQ(rule_.mode, guard::Mode::kAuth);
  EXPECT_EQ(rule_.arm, guard::Arm::kAlways);
  EXPECT_EQ(rule_.arming.hold_seconds, 33U);
  EXPECT_EQ(rule_.window_scale, 3);
}

TEST_F(GuardMethods, clients_are_counted_or_one_is_named) {
  EXPECT_EQ(answer("guard.sources", Json::object()).at("result").at("counted"), true);
  (void)answer("guard.sources", {{"address", "192.0.2.7"}, {"action", "allow"}});
  EXPECT_EQ(name_, "192.0.2.7");
  EXPECT_EQ(action_, SourceAction::kAllow);
  EXPECT_THAT(error("guard.sources", {{"action", "forget"}}), HasSubstr("address: is missing"));
  EXPECT_THAT(error("guard.sources", {{"address", "192.0.2.7"}, {"action", "ban"}}),
              HasSubstr("action: allowed are show, allow, forget"));
  EXPECT_EQ(answer("guard.flows", {{"limit", 7}}).at("result").at("limit"), 7);
  EXPECT_THAT(error("guard.flows", {{"limit", 1001}}), HasSubstr("limit: "));
}

}  // namespace
}  // namespace splitplane::app
