#include "guard/control/report.h"

#include <gmock/gmock.h>

#include "guard/config/server_text.h"

namespace splitplane::app {
namespace {

using guard::Made;
using guard::Outcome;
using guard::Side;
using ::testing::HasSubstr;

std::uint64_t& count(GuardSeen& seen, Side side, Outcome outcome) {
  return seen.outcomes[static_cast<std::size_t>(side)][static_cast<std::size_t>(outcome)];
}

guard::ServerRule web() {
  guard::ServerRule rule;
  rule.name = "web";
  EXPECT_TRUE(take_address("10.70.0.2", rule));
  EXPECT_TRUE(take_ports("443", rule));
  rule.mode = guard::Mode::kProxy;
  return rule;
}

GuardSeen busy(const std::string& name) {
  GuardSeen seen;
  seen.name = name;
  seen.received = {100, 40};
  count(seen, Side::kClient, Outcome::challenged_syn) = 60;
  count(seen, Side::kClient, Outcome::connected) = 10;
  count(seen, Side::kClient, Outcome::translated) = 20;
  count(seen, Side::kClient, Outcome::proved_rst) = 1;
  count(seen, Side::kClient, Outcome::forged_ack) = 8;
  count(seen, Side::kClient, Outcome::tcp_truncated) = 1;
  count(seen, Side::kServer, Outcome::handshake) = 10;
  count(seen, Side::kServer, Outcome::translated) = 30;
  seen.made[static_cast<std::size_t>(Made::window_update)] = 10;
  seen.made[static_cast<std::size_t>(Made::syn_again)] = 2;
  seen.source_entries = 1024;
  seen.sources_live = 7;
  seen.servers.push_back({.rule = web()});
  GuardServerSeen& server = seen.servers.back();
  server.syns = 70;
  server.challenged = 60;
  server.armings = 1;
  server.syns_per_second = 1000;
  server.half_open_percent = 90;
  server.window_scale = 7;
  return seen;
}

TEST(GuardReport, every_outcome_is_sent_consumed_or_dropped) {
  EXPECT_EQ(fate_of(Outcome::passed), GuardFate::kSent);
  EXPECT_EQ(fate_of(Outcome::challenged_rst), GuardFate::kSent);
  EXPECT_EQ(fate_of(Outcome::refused_by_server), GuardFate::kSent);
  EXPECT_EQ(fate_of(Outcome::proved_rst), GuardFate::kConsumed);
  EXPECT_EQ(fate_of(Outcome::unproven), GuardFate::kDropped);
  EXPECT_EQ(fate_of(Outcome::tx_full), GuardFate::kDropped);
  EXPECT_EQ(fate_of(Outcome::tcp_bad_header_length), GuardFate::kDropped);
}

TEST(GuardReport, the_counters_add_up_or_it_says_so) {
  GuardSeen seen = busy("w0");
  EXPECT_TRUE(seen.balanced());
  EXPECT_EQ(seen.sum(GuardFate::kSent), 130U);
  EXPECT_EQ(seen.sum(GuardFate::kDropped), 9U);
  EXPECT_EQ(seen.sum(GuardFate::kConsumed), 1U);
  // Answers and window updates go to the clients, SYNs and ACKs of the guard to the servers.
  EXPECT_EQ(seen.sent_to(Side::kClient), 60U + 30 + 10);
  EXPECT_EQ(seen.sent_to(Side::kServer), 10U + 20 + 10 + 2);
  const Json stats = stats_json(std::array{seen}, {}, guard_json(std::array{web()}, std::array{seen}, 64));
  EXPECT_EQ(
      stats.at("totals"),
      (Json{
          {"received", 140}, {"transmitted", 130}, {"dropped", 9}, {"consumed", 1}, {"held", 0}, {"balanced", true}}));
  EXPECT_EQ(stats.at("workers")[0].at("drops"), (Json{{"forged_ack", 8}, {"tcp_truncated", 1}}));
  EXPECT_THAT(guard_summary(stats),
              HasSubstr("guard: 140 received, 130 sent, 1 proofs consumed, 9 dropped (forged_ack 8, tcp_truncated 1)"));
  EXPECT_THAT(guard_summary(stats), HasSubstr("guard: web: 70 SYNs, 60 challenged, 0 proved, armed 1 times"));
  seen.received[0] += 1;
  EXPECT_FALSE(seen.balanced());
  const Json wrong = stats_json(std::array{seen}, {}, guard_json({}, std::array{seen}, 64));
  EXPECT_THAT(guard_summary(wrong), HasSubstr("THE COUNTERS DO NOT ADD UP"));
}

TEST(GuardReport, a_server_is_the_sum_of_its_workers) {
  GuardSeen first = busy("w0"), second = busy("w1");
  first.servers[0].armed = 1;
  second.servers[0].syns_per_second = 3000;
  second.servers[0].half_open_percent = 10;
  second.servers[0].mss = 1460;
  second.servers[0].window_scale = guard::ProtectedServer::kNoScale;
  const Json server = server_json(web(), std::array{first, second});
  EXPECT_EQ(server.at("syns"), 140);
  EXPECT_EQ(server.at("state"), "armed");
  EXPECT_EQ(server.at("syns_per_second"), 4000);
  EXPECT_EQ(server.at("half_open_percent"), 30) << "by SYNs";
  EXPECT_EQ(server.at("mss"), 1460);
  EXPECT_EQ(server.at("window_scale"), 7);
  EXPECT_EQ(server.at("settings").at("arm"), "auto");
  EXPECT_FALSE(server.at("settings").contains("name"));
  const Json all = guard_json(std::array{web()}, std::array{first, second}, 64);
  EXPECT_EQ(all.at("sources").at("live"), 14);
  EXPECT_EQ(all.at("workers"), 2);
}

TEST(GuardReport, the_state_of_a_server_is_a_word) {
  guard::ServerRule rule = web();
  const GuardSeen seen = busy("w0");
  EXPECT_EQ(server_json(rule, std::array{seen}).at("state"), "at rest");
  rule.mode = guard::Mode::kObserve;
  EXPECT_EQ(server_json(rule, std::array{seen}).at("state"), "observed");
  rule.mode = guard::Mode::kBypass;
  EXPECT_EQ(server_json(rule, std::array{seen}).at("state"), "bypassed");
  rule.name = "nobody knows it";
  EXPECT_EQ(server_json(rule, std::array{seen}).at("mss"), nullptr);
}

TEST(GuardReport, a_connection_has_both_ends_state_and_options) {
  guard::Flow flow;
  flow.client = {192, 0, 2, 7};
  flow.server = {10, 70, 0, 2};
  flow.client_port = 50000;
  flow.server_port = 443;
  flow.state = guard::FlowState::kEstablished;
  flow.flags = guard::Flow::kHasTimestamps | guard::Flow::kSackPermitted | guard::Flow::kHasScale;
  flow.server_scale = 10;
  flow.seen = 100;
  const Json json = flow_json(flow, 103);
  EXPECT_EQ(json.at("client"), "192.0.2.7:50000");
  EXPECT_EQ(json.at("server"), "10.70.0.2:443");
  EXPECT_EQ(json.at("state"), "established");
  EXPECT_EQ(json.at("silent_s"), 3);
  EXPECT_EQ(json.at("options"), "timestamps, SACK, scale 10");
  flow.is_v6 = 1;
  flow.flags = 0;
  EXPECT_EQ(flow_json(flow, 103).at("options"), "none");
  EXPECT_THAT(flow_json(flow, 103).at("server").get<std::string>(), HasSubstr("]:443"));
}

}  // namespace
}  // namespace splitplane::app
