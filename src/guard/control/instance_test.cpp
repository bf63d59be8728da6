// A guard between two ports of DPDK's null driver, with a worker that runs.
#include "guard/control/instance.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "guard/config/server_text.h"

namespace splitplane::app {
namespace {

using testing::HasSubstr;

guard::ServerRule a_rule(const std::string& name, const std::string& address) {
  guard::ServerRule rule;
  rule.name = name;
  EXPECT_TRUE(take_address(address, rule));
  return rule;
}

// Ports that receive nothing, or frames of zeros without end.
GuardConfig config_of(const std::string& name, bool receives = false) {
  GuardConfig config;
  const std::string arguments = receives ? "" : ",no-rx=1";
  config.file_prefix = "guard-" + name;
  config.client = "out" + name;
  config.server = "in" + name;
  config.memory.mbufs = 2047;
  config.ports = {{.name = config.client, .device = "net_null_out" + name + arguments},
                  {.name = config.server, .device = "net_null_in" + name + arguments}};
  config.sources.entries = 1024;
  config.flows.entries = 1024;
  config.servers = {a_rule("web", "10.70.0.2")};
  return config;
}

std::unique_ptr<GuardInstance> started(const GuardConfig& config) {
  auto instance = GuardInstance::start_on(std::nullopt, config);
  EXPECT_TRUE(instance) << instance.error().message;
  return instance ? *std::move(instance) : nullptr;
}

TEST(GuardInstance, passes_what_concerns_no_server_and_its_counters_add_up) {
  const auto guard = started(config_of("a", true));
  ASSERT_NE(guard, nullptr);
  const auto received = [&] { return guard->stats()->at("totals").at("received").get<std::uint64_t>(); };
  for (int i = 0; i < 500 && received() < 10'000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  guard->stop();
  const auto stats = guard->stats();
  ASSERT_TRUE(stats) << stats.error().message;
  const Json& totals = stats->at("totals");
  EXPECT_GE(totals.at("received"), 10'000);
  EXPECT_EQ(totals.at("balanced"), true);
  EXPECT_EQ(totals.at("received"), totals.at("transmitted"));
  const Json& worker = stats->at("workers")[0];
  EXPECT_EQ(worker.at("name"), "w0");
  EXPECT_EQ(worker.at("from_clients").size(), 1U) << "one outcome: " << worker.at("from_clients");
  EXPECT_EQ(worker.at("from_clients").at("passed"), stats->at("ports")[0].at("workers_received"));
  EXPECT_EQ(worker.at("from_clients").at("passed"), stats->at("ports")[1].at("workers_transmitted"));
}

TEST(GuardInstance, servers_come_change_and_go_while_it_runs) {
  const auto guard = started(config_of("b"));
  ASSERT_NE(guard, nullptr);
  const auto servers = [&] { return guard->show()->at("servers"); };
  ASSERT_EQ(servers().size(), 1U);
  EXPECT_EQ(servers()[0].at("state"), "at rest");

  const guard::ServerRule mail = a_rule("mail", "10.70.0.3");
  EXPECT_EQ(guard->add_server(mail)->at("existed"), false);
  EXPECT_EQ(guard->add_server(mail)->at("existed"), true) << "the same rule again is no error";
  guard::ServerRule other = mail;
  other.mode = guard::Mode::kProxy;
  EXPECT_THAT(guard->add_server(other).error().message, HasSubstr("name: 'mail' is another server's"));
  EXPECT_EQ(servers().size(), 2U);

  const auto changed = guard->set_server("mail", [](guard::ServerRule& rule) {
    rule.mode = guard::Mode::kProxy;
    rule.arm = guard::Arm::kAlways;
  });
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->at("server").at("mode"), "proxy");
  EXPECT_EQ(changed->at("server").at("state"), "armed") << "in force at once";
  EXPECT_EQ(changed->at("server").at("armings"), 1);
  EXPECT_THAT(
      guard->set_server("web", [](guard::ServerRule& rule) { rule.arming.hold_seconds = 1000; }).error().message,
      HasSubstr("max_hold_seconds: is 160, and hold_seconds is 1000"));
  EXPECT_THAT(guard->set_server("none", [](guard::ServerRule&) {}).error().message,
              HasSubstr("name: there is no server 'none'"));

  EXPECT_EQ(guard->remove_server("mail")->at("existed"), true);
  EXPECT_EQ(guard->remove_server("mail")->at("existed"), false);
  EXPECT_EQ(servers().size(), 1U);
}

TEST(GuardInstance, says_once_that_a_server_was_armed_and_came_to_rest) {
  const auto guard = started(config_of("c"));
  ASSERT_NE(guard, nullptr);
  const auto watch = [&] { guard->watch(std::chrono::steady_clock::now()); };
  watch();
  for (const auto arm : {guard::Arm::kAlways, guard::Arm::kAuto}) {
    ASSERT_TRUE(guard->set_server("web", [arm](guard::ServerRule& rule) { rule.arm = arm; }));
    watch();
    watch();
  }
  const Json events = guard->events()->at("events");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at("what"), "armed");
  EXPECT_EQ(events[1].at("what"), "at rest");
  EXPECT_EQ(events[0].at("server"), "web");
}

TEST(GuardInstance, a_client_is_looked_up_allowed_and_forgotten) {
  const auto guard = started(config_of("d"));
  ASSERT_NE(guard, nullptr);
  const auto proof = [&](const char* address, SourceAction action) {
    return guard->one_source(IpAddress::parse(address).value(), action)
        ->at("workers")[0]
        .at("proof")
        .get<std::string>();
  };
  EXPECT_EQ(proof("192.0.2.7", SourceAction::kShow), "none");
  EXPECT_EQ(proof("192.0.2.7", SourceAction::kAllow), "cookie");
  EXPECT_EQ(proof("192.0.2.7", SourceAction::kShow), "cookie");
  EXPECT_EQ(proof("192.0.2.8", SourceAction::kShow), "none");
  EXPECT_EQ(guard->count_sources()->at("workers")[0].at("inserted"), 1);
  EXPECT_EQ(proof("192.0.2.7", SourceAction::kForget), "none");
  EXPECT_EQ(proof("2001:db8::1", SourceAction::kAllow), "cookie");
  EXPECT_EQ(proof("2001:db8::2", SourceAction::kShow), "cookie") << "of IPv6 the /64 counts";
}

TEST(GuardInstance, what_it_has_learnt_survives_a_restart_with_a_state_file) {
  GuardConfig config = config_of("e");
  config.state_file = std::filesystem::temp_directory_path() / fmt::format("sp-guard-{}.state", ::getpid());
  const IpAddress client = IpAddress::parse("192.0.2.9").value();
  {
    const auto guard = started(config);
    ASSERT_NE(guard, nullptr);
    EXPECT_EQ(guard->show()->at("continued"), false);
    (void)guard->one_source(client, SourceAction::kAllow);
  }
  {
    const auto guard = started(config);
    ASSERT_NE(guard, nullptr);
    EXPECT_EQ(guard->show()->at("continued"), true);
    EXPECT_EQ(guard->one_source(client, SourceAction::kShow)->at("workers")[0].at("proof"), "cookie");
  }
  std::filesystem::remove(config.state_file);
  const auto guard = started(config);
  ASSERT_NE(guard, nullptr);
  EXPECT_EQ(guard->one_source(client, SourceAction::kShow)->at("workers")[0].at("proof"), "none");
  std::filesystem::remove(config.state_file);
}

TEST(GuardInstance, keys_rotate_connections_are_listed_and_policies_change_on_demand) {
  const auto guard = started(config_of("f"));
  ASSERT_NE(guard, nullptr);
  EXPECT_EQ(guard->rotate_keys()->at("rotations"), 1);
  EXPECT_EQ(guard->show()->at("keys").at("rotations"), 1);
  EXPECT_EQ(*guard->list_flows(10), (Json{{"used", 0}, {"flows", Json::array()}}));
  EXPECT_TRUE(guard->set_power("w0", power::Settings{.kind = power::Kind::busy}));
  EXPECT_EQ(guard->show_power()->at(0).at("policy").at("kind"), "busy");
  EXPECT_THAT(guard->set_power("w1", {}).error().message, HasSubstr("there is no 'w1'; allowed: w0"));
}

TEST(GuardInstance, metrics_have_the_rows_of_its_servers) {
  const auto guard = started(config_of("g"));
  ASSERT_NE(guard, nullptr);
  const std::string text = render_metrics(guard->observe(), MetricFormat::kOpenMetrics);
  EXPECT_THAT(text, HasSubstr("splitplane_guard_server_syns_packets_total{worker=\"w0\",server=\"web\"} 0\n"));
  EXPECT_THAT(
      text, HasSubstr("splitplane_guard_packets_total{worker=\"w0\",side=\"client\",outcome=\"challenged_rst\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("splitplane_guard_source_entries"));
  EXPECT_THAT(text, HasSubstr("splitplane_worker_received_packets_total{worker=\"w0\"}"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(GuardInstance, what_cannot_start_says_why) {
  GuardConfig config = config_of("h");
  config.state_file = "/no/such/folder/x.state";
  EXPECT_THAT(GuardInstance::start_on(std::nullopt, config).error().message, HasSubstr("/no/such/folder/x.state"));
  config = config_of("i");
  config.ports[1].device = "net_null_ini,nonsense=1";
  EXPECT_THAT(GuardInstance::start_on(std::nullopt, config).error().message, HasSubstr("port ini: device"));
}

}  // namespace
}  // namespace splitplane::app
