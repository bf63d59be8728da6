#include "guard/config/read.h"

#include <gmock/gmock.h>

#include "guard/config/server_text.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPorts = "ports: {out: {device: net_null0}, in: {device: net_null1}}\n";

Expected<GuardConfig> parse(const std::string& text) {
  return Document::parse(text, "f").and_then(read_guard);
}

std::string refused(const std::string& guard, const std::string& ports = kPorts) {
  const auto config = parse(ports + "guard: {client: out, server: in" + guard + "}\n");
  return config ? "(good)" : config.error().message;
}

std::string refused_server(const std::string& keys) {
  return refused(", servers: [{name: web, address: 10.0.0.1" + keys + "}]");
}

TEST(GuardFile, every_key_of_the_section_arrives_where_it_belongs) {
  const auto config = parse(std::string("file_prefix: wall\nmetrics: {listen: '127.0.0.1:9469'}\n") + kPorts + R"(guard:
  client: out
  server: in
  core: 3
  policy: busy
  schedule: fifo
  fifo_priority: 7
  key_seconds: 30
  unproven_per_second: 5
  replies_per_second: 6
  state_file: /run/splitplane/wall.state
  sources: {entries: 1024, cookie_seconds: 1, vouched_seconds: 2, syn_per_second: 3, flows_each: 4}
  flows: {entries: 2048, connecting_seconds: 5, established_seconds: 6, closing_seconds: 7, closed_seconds: 8}
  servers:
    - {name: web, address: 10.0.0.0/24, ports: 8000-8099, mode: proxy, arm: always, arm_syns_per_second: 11,
       arm_half_open_percent: 12, always_syns_per_second: 13, disarm_syns_per_second: 10, hold_seconds: 15,
       rearm_seconds: 16, max_hold_seconds: 17, mss: 1400, window_scale: 9}
    - {name: mail, address: 'fd00::1', ports: 25}
    - {name: all, address: 10.1.0.1}
)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->client, "out");
  EXPECT_EQ(config->server, "in");
  ASSERT_EQ(config->workers.size(), 1U);
  EXPECT_EQ(config->workers[0].core, 3U);
  EXPECT_EQ(config->workers[0].policy.kind, power::Kind::busy);
  EXPECT_EQ(config->workers[0].schedule.kind, ScheduleConfig::Kind::kFifo);
  EXPECT_EQ(config->workers[0].schedule.fifo_priority, 7U);
  EXPECT_EQ(config->key_seconds, 30U);
  EXPECT_EQ(config->limits.unproven_per_second, 5U);
  EXPECT_EQ(config->limits.replies_per_second, 6U);
  EXPECT_EQ(config->state_file, "/run/splitplane/wall.state");
  EXPECT_EQ(config->metrics->port, 9469);
  EXPECT_EQ(config->sources.entries, 1024U);
  EXPECT_EQ(config->sources.cookie_seconds, 1);
  EXPECT_EQ(config->sources.vouched_seconds, 2);
  EXPECT_EQ(config->sources.syn_per_second, 3);
  EXPECT_EQ(config->sources.flows_each, 4);
  EXPECT_EQ(config->flows.entries, 2048U);
  EXPECT_EQ(config->flows.connecting_seconds, 5);
  EXPECT_EQ(config->flows.established_seconds, 6);
  EXPECT_EQ(config->flows.closing_seconds, 7);
  EXPECT_EQ(config->flows.closed_seconds, 8);
  ASSERT_EQ(config->servers.size(), 3U);
  const guard::ServerRule& web = config->servers[0];
  EXPECT_EQ(web.name, "web");
  EXPECT_EQ(address_text(web), "10.0.0.0/24");
  EXPECT_EQ(ports_text(web), "8000-8099");
  EXPECT_EQ(web.mode, guard::Mode::kProxy);
  EXPECT_EQ(web.arm, guard::Arm::kAlways);
  EXPECT_EQ(web.arming.arm_syns_per_second, 11U);
  EXPECT_EQ(web.arming.arm_half_open_percent, 12U);
  EXPECT_EQ(web.arming.always_syns_per_second, 13U);
  EXPECT_EQ(web.arming.disarm_syns_per_second, 10U);
  EXPECT_EQ(web.arming.hold_seconds, 15U);
  EXPECT_EQ(web.arming.rearm_seconds, 16U);
  EXPECT_EQ(web.arming.max_hold_seconds, 17U);
  EXPECT_EQ(web.mss, 1400);
  EXPECT_EQ(web.window_scale, 9);
  EXPECT_EQ(address_text(config->servers[1]), "fd00::1");
  EXPECT_EQ(ports_text(config->servers[1]), "25");
  EXPECT_EQ(ports_text(config->servers[2]), "0-65535");
  EXPECT_EQ(config->servers[2].mode, guard::Mode::kAuth);
  EXPECT_FALSE(config->servers[2].mss);
}

TEST(GuardFile, several_workers_have_a_queue_of_each_port_each) {
  const auto with = [](unsigned rx, unsigned tx) {
    return fmt::format(
        "ports: {{out: {{device: net_null0, rx_queues: {0}, tx_queues: {1}}}, in: {{device: net_null1, "
        "rx_queues: {0}, tx_queues: {1}}}}}\n",
        rx, tx);
  };
  const std::string two = ", workers: [{core: 1, policy: busy}, {core: 2}]";
  EXPECT_EQ(refused(two, with(2, 2)), "(good)");
  EXPECT_THAT(refused(two, with(1, 2)),
              HasSubstr("ports.out.rx_queues: is 1, and the guard has 2 workers; allowed: 2"));
  EXPECT_THAT(refused(two, with(2, 3)),
              HasSubstr("ports.out.tx_queues: is 3, and the guard has 2 workers; allowed: 2"));
  EXPECT_THAT(refused("", with(2, 2)), HasSubstr("is 2, and the guard has 1 worker; allowed: 1"));
  const auto config = parse(with(2, 2) + "guard: {client: out, server: in" + two + "}\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->workers[0].core, 1U);
  EXPECT_EQ(config->workers[0].policy.kind, power::Kind::busy);
  EXPECT_EQ(config->workers[1].policy.kind, power::Kind::yield);
  EXPECT_EQ(memory_needs(*config).pools, 2U);
}

TEST(GuardFile, loops_that_cannot_be_are_refused) {
  EXPECT_THAT(refused(", core: 1, workers: [{core: 2}]"), HasSubstr("guard.workers: stands beside core"));
  EXPECT_THAT(refused(", policy: busy, workers: [{core: 2}]"), HasSubstr("guard.workers: stands beside policy"));
  EXPECT_THAT(refused(", workers: []"), HasSubstr("guard.workers: has 0 workers; allowed: 1 to 16"));
  EXPECT_THAT(refused(", workers: [{policy: busy}]"), HasSubstr("guard.workers[0].core: is missing"));
  EXPECT_THAT(refused(", workers: [{core: 2}, {core: 2}]"), HasSubstr("guard.workers[1].core: is core 2 again"));
  EXPECT_THAT(refused(", fifo_priority: 3"), HasSubstr("guard.fifo_priority"));
}

TEST(GuardFile, it_has_two_ports_of_one_mtu) {
  EXPECT_THAT(parse(std::string(kPorts) + "guard: {client: out}\n").error().message,
              HasSubstr("f:2: guard.server: is missing"));
  EXPECT_THAT(parse(std::string(kPorts) + "guard: {client: out, server: out}\n").error().message,
              HasSubstr("guard.server: port out is named twice"));
  EXPECT_THAT(parse(std::string(kPorts) + "guard: {client: out, server: at}\n").error().message,
              HasSubstr("guard.server: there is no port 'at'; allowed: out, in"));
  EXPECT_THAT(refused("", "ports: {out: {device: net_null0}, in: {device: net_null1}, more: {device: net_null2}}\n"),
              HasSubstr("f:1: ports.more: is not used"));
  EXPECT_THAT(refused("", "ports: {out: {device: net_null0, mtu: 1400}, in: {device: net_null1}}\n"),
              HasSubstr("ports.in.mtu: is 1500, and that of port out is 1400; allowed: the same"));
  EXPECT_THAT(parse(std::string("metrics: {listen: '127.0.0.1:9469', bearers: 1}\n") + kPorts +
                    "guard: {client: out, server: in}\n")
                  .error()
                  .message,
              HasSubstr("f:1: metrics: has bearers"));
}

TEST(GuardFile, a_server_that_cannot_be_is_refused_with_its_key) {
  EXPECT_EQ(refused_server(""), "(good)");
  EXPECT_THAT(refused(", servers: [{name: web}]"), HasSubstr("guard.servers[0].address: is missing"));
  EXPECT_THAT(refused(", servers: [{address: 10.0.0.1}]"), HasSubstr("guard.servers[0].name: is missing"));
  EXPECT_THAT(refused(", servers: [{name: web, address: 10.0.0.1/8}]"),
              HasSubstr("guard.servers[0].address: '10.0.0.1/8' has bits behind its prefix; allowed: 10.0.0.0/8"));
  EXPECT_THAT(refused_server(", ports: 80-79"), HasSubstr("guard.servers[0].ports: '80-79' is no port"));
  EXPECT_THAT(refused_server(", ports: 65536"), HasSubstr("guard.servers[0].ports: is 65536"));
  EXPECT_THAT(refused_server(", mode: prox"), HasSubstr("did you mean 'proxy'?"));
  EXPECT_THAT(refused_server(", arm_syns_per_second: 500"),
              HasSubstr("disarm_syns_per_second: is 500, and arm_syns_per_second is 500; allowed: less than that"));
  EXPECT_THAT(refused_server(", always_syns_per_second: 999"), HasSubstr("is 999, and arm_syns_per_second is 1000"));
  EXPECT_THAT(refused_server(", hold_seconds: 161"), HasSubstr("max_hold_seconds: is 160, and hold_seconds is 161"));
  EXPECT_THAT(refused_server(", window_scale: 15"), HasSubstr("window_scale: is 15; allowed: an integer from 0 to 14"));
}

TEST(GuardFile, each_place_has_one_server) {
  const auto servers = [](const std::string& first, const std::string& second) {
    return refused(", servers: [{name: a, " + first + "}, {name: b, " + second + "}]");
  };
  EXPECT_EQ(servers("address: 10.0.0.1, ports: 443", "address: 10.0.0.0/24"), "(good)");
  EXPECT_THAT(servers("address: 10.0.0.1, ports: 443", "address: 10.0.0.1/32, ports: '443'"),
              HasSubstr("guard.servers[1].address: 10.0.0.1 with ports 443 is server a already"));
  EXPECT_THAT(refused(", servers: [{name: a, address: 10.0.0.1}, {name: a, address: 10.0.0.2}]"),
              HasSubstr("guard.servers[1].name: 'a' is another server's"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += fmt::format("{{name: s{0}, address: 10.0.0.{0}}}, ", i + 1);
  EXPECT_THAT(refused(", servers: [" + many + "]"), HasSubstr("guard.servers: has 65 servers; allowed: at most 64"));
}

TEST(GuardFile, tables_have_sizes_of_powers_of_two) {
  EXPECT_THAT(refused(", sources: {entries: 1000}"),
              HasSubstr("guard.sources.entries: is 1000; allowed: a power of two"));
  EXPECT_THAT(refused(", flows: {entries: 32}"), HasSubstr("guard.flows.entries: is 32"));
  EXPECT_THAT(refused(", state_file: wall.state"), HasSubstr("guard.state_file: "));
}

}  // namespace
}  // namespace splitplane::app
