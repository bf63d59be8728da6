#include "gnb/config/read.h"

#include <gmock/gmock.h>

#include <random>

#include "gnb/config/test_read.h"

namespace splitplane::app {
namespace {

using test::parse;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kGood = R"(file_prefix: test
instance: 3
max_bearers: 1024
memory: {hugepages: never, megabytes: 400, mbufs: 32767}
ports:
  n3: {device: "net_af_packet0,iface=a", mtu: 1600, promiscuous: false}
  air:
    device: net_null0
n3:
  - {port: n3, ipv4: 10.100.0.1, ipv6: "fd00:100::1", gateway_ipv4: 10.100.0.254, peer_mac: 02:00:00:00:00:01}
air: [{port: air}]
workers:
  w0:
    function: gnb
    core: 1
    features: mat
    n3: n3
    air: air
    shards: 0-127
    policy: {kind: yield, empty_rounds: 10, sleep_us: 20}
bearers:
  - {count: 4, upf: 10.100.0.2, ul_teid: 0x1001, qfi: 5, rlc: um12, pdcp_sn: 12, sdap: {ul: false}, poll_pdu: 8, shard: 2,
     ue_ipv4: 10.45.0.254, ue_ipv6: "fd00:45::2"}
)";

TEST(GnbFile, every_key_arrives_where_it_belongs) {
  const auto got = parse(kGood, "t.yaml");
  ASSERT_TRUE(got) << got.error().message;
  const GnbConfig& c = *got;
  EXPECT_EQ(c.file_prefix, "test");
  EXPECT_EQ(c.instance, 3U);
  EXPECT_EQ(c.max_bearers, 1024U);
  EXPECT_EQ(c.memory.hugepages, MemoryConfig::Hugepages::kNever);
  EXPECT_EQ(c.memory.mbufs, 32767U);
  ASSERT_EQ(c.ports.size(), 2U);
  EXPECT_EQ(c.ports[0].name, "n3");
  EXPECT_EQ(c.ports[0].mtu, 1600);
  EXPECT_FALSE(c.ports[0].promiscuous);
  EXPECT_TRUE(c.ports[1].promiscuous);
  EXPECT_EQ(c.n3[0].ipv6->to_string(), "fd00:100::1");
  EXPECT_EQ(c.n3[0].gateway_ipv4->to_string(), "10.100.0.254");
  EXPECT_EQ(c.n3[0].peer_mac->to_string(), "02:00:00:00:00:01");
  EXPECT_EQ(c.air[0].peer_mac.to_string(), "ff:ff:ff:ff:ff:ff");
  const WorkerConfig& w = c.workers[0];
  EXPECT_EQ(w.core, 1U);
  EXPECT_EQ(w.features, datapath::FeatureSet::mat);
  EXPECT_EQ(w.shard_last, 127U);
  EXPECT_EQ(w.policy.kind, power::Kind::yield);
  EXPECT_EQ(w.policy.yield.empty_rounds, 10U);
  EXPECT_EQ(w.policy.yield.sleep_us, 20U);
  const auto& group = c.bearers[0];
  EXPECT_EQ(group.count, 4U);
  EXPECT_EQ(group.shard, 2U);
  EXPECT_EQ(group.first.rlc_mode, RlcMode::kUm);
  EXPECT_EQ(group.first.rlc_sn_bits, 12);
  EXPECT_EQ(group.first.pdcp_sn_bits, 12);
  EXPECT_TRUE(group.first.sdap_header_dl);
  EXPECT_FALSE(group.first.sdap_header_ul);
  EXPECT_EQ(group.first.poll_pdu, 8);
  EXPECT_EQ(c.lines.at("workers.w0.core"), 15);
}

TEST(GnbFile, the_bearers_of_a_group_go_up_by_one) {
  const auto config = parse(kGood, "t.yaml");
  ASSERT_TRUE(config);
  const auto third = bearer_at(config->bearers[0], 2);
  EXPECT_EQ(third.uplink_teid.value, 0x1003U);
  EXPECT_EQ(third.ue_ipv4->to_string(), "10.45.1.0");
  EXPECT_EQ(third.ue_ipv6->to_string(), "fd00:45::4");
}

TEST(GnbFile, control_defaults_to_the_runtime_directory) {
  EXPECT_THAT(parse(kGood, "t.yaml")->control, ::testing::EndsWith("/test.sock"));
}

TEST(GnbFile, text_from_the_file_cannot_break_the_line) {
  const auto config = parse("\"a\\nb\\e[31m\": 1\n", "t.yaml");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, StartsWith("t.yaml:1: a\\x0ab\\x1b[31m: unknown key"));
}

// Whatever the octets: a configuration or one line that begins with the file's name; no crash, no hang.
void expect_value_or_one_line(const std::string& text) {
  const auto config = parse(text, "t.yaml");
  if (config) return;
  const std::string& message = config.error().message;
  ASSERT_THAT(message, StartsWith("t.yaml:")) << text;
  ASSERT_THAT(message, HasSubstr("allowed")) << text;
  for (const char c : message) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20) << message;
}

TEST(GnbFile, every_truncation_gives_a_value_or_one_line) {
  const std::string good = kGood;
  for (std::size_t n = 0; n <= good.size(); ++n) expect_value_or_one_line(good.substr(0, n));
}

TEST(GnbFile, random_mutations_give_a_value_or_one_line) {
  std::mt19937 random(20240607);
  const std::string good = kGood;
  const std::string alphabet = "{}[]:,-#&*!|>'\"%@` \n\t~0x9a.\\\xff";
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (unsigned edit = 1 + random() % 4; edit > 0; --edit) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text = text.substr(0, at) + text.substr(random() % text.size(), random() % 20) + text.substr(at);
      }
      if (text.empty()) text.assign(1, ' ');
    }
    expect_value_or_one_line(text);
  }
}

TEST(GnbFile, deep_nesting_recursion_and_a_leading_comma_come_back) {
  expect_value_or_one_line(std::string(100000, '['));
  expect_value_or_one_line(std::string(20000, '{'));
  for (const char* comma : {",", ",a", "\n,\n", "a: 1\n...\n,", "---\n,", "- [(\n,\n)]\n,"})
    expect_value_or_one_line(comma);
  expect_value_or_one_line("ports: &a {p: *a}\nworkers: *a\n");
  expect_value_or_one_line("a: &a [x,x]\nb: &b [*a,*a]\nports: &c [*b,*b]\nworkers: [*c,*c]\n");
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep.append(static_cast<std::size_t>(i % 900), ' ').append("- \n");
  expect_value_or_one_line(deep);
}

TEST(GnbFile, a_finding_without_a_line_takes_that_of_the_nearest_key_above) {
  const auto config = parse(kGood, "t.yaml");
  ASSERT_TRUE(config);
  EXPECT_THAT(located(*config, {"workers.w0.queue", "x"}), StartsWith("t.yaml:13: workers.w0.queue: x"));
  EXPECT_THAT(located(*config, {"nothing.like.it", "x"}), StartsWith("t.yaml:1: "));
}

// A worker that leaves its windows to the buffering service, and the section that says where that runs.
std::string with_service(const std::string& section, const std::string& hugepages = "auto",
                         const std::string& baas = "process") {
  std::string text = kGood;
  const auto replace = [&text](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("hugepages: never", "hugepages: " + hugepages);
  replace("features: mat", "features: clone\n    baas: " + baas);
  replace("\nbearers:", "\n" + section + "bearers:");
  return text;
}

TEST(GnbFile, the_buffering_service_has_cores_and_a_policy) {
  const auto got =
      parse(with_service("baas: {cores: [3, 2], policy: {kind: yield, sleep_us: 30}}\n").c_str(), "t.yaml");
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_TRUE(got->baas);
  EXPECT_THAT(got->baas->cores, ::testing::ElementsAre(3U, 2U));
  EXPECT_TRUE(uses_service(got->workers[0]));
  EXPECT_EQ(baas_instance(*got), "test-baas");
}

TEST(GnbFile, what_is_wrong_with_a_buffering_service_is_said_in_one_line) {
  const auto refusal = [](const std::string& text) {
    const auto got = parse(text.c_str(), "t.yaml");
    return got ? std::string("taken") : got.error().message;
  };
  EXPECT_THAT(refusal(with_service("")), HasSubstr("workers.w0.baas: is process, and the section baas is absent"));
  EXPECT_THAT(refusal(with_service("baas: {cores: [3]}\n", "auto", "inline")), HasSubstr("baas: serves no worker"));
  EXPECT_THAT(refusal(with_service("baas: {cores: [3]}\n", "never")),
              HasSubstr("memory.hugepages is never; allowed: auto or require"));
  EXPECT_THAT(refusal(with_service("baas: {cores: []}\n")), HasSubstr("baas.cores: has 0 cores; allowed: 1 to 16"));
  EXPECT_THAT(refusal(with_service("baas: {cores: [3, 3]}\n")), HasSubstr("is core 3 again; allowed: each core once"));
  EXPECT_THAT(refusal(with_service("baas: {}\n")), HasSubstr("baas.cores"));
  EXPECT_THAT(refusal(with_service("baas: {cores: [1], policy: {kind: busy}}\n")),
              HasSubstr("baas.cores: core 1 is the core of worker w0 too; allowed: a core of its own"));
  EXPECT_THAT(refusal(with_service("baas: {core: 3}\n")), HasSubstr("baas.core: unknown key, did you mean 'cores'?"));
}

TEST(GnbFile, the_metrics_of_a_buffering_service_are_not_where_those_of_the_gnb_are) {
  const auto outcome = [](const std::string& gnb, const std::string& service) {
    const auto got = parse(
        with_service("metrics: {listen: '" + gnb + "'}\nbaas: {cores: [3], metrics: {listen: '" + service + "'}}\n")
            .c_str(),
        "t.yaml");
    return got ? std::string("taken") : got.error().message;
  };
  EXPECT_THAT(outcome("127.0.0.1:9464", "127.0.0.1:9464"),
              testing::ContainsRegex("^t.yaml:[0-9]+: baas.metrics.listen: is 127.0.0.1:9464, and the gNB's own "
                                     "metrics.listen is 127.0.0.1:9464; allowed: another port or address"));
  for (const auto& [gnb, service] :
       {std::pair{"0.0.0.0:9464", "127.0.0.1:9464"}, {"127.0.0.1:9464", "0.0.0.0:9464"}, {"[::]:9464", "[::1]:9464"}}) {
    EXPECT_THAT(outcome(gnb, service), HasSubstr("baas.metrics.listen: is ")) << gnb << ' ' << service;
  }
  for (const auto& [gnb, service] : {std::pair{"127.0.0.1:9464", "127.0.0.1:9465"},
                                     {"127.0.0.1:9464", "127.0.0.2:9464"},
                                     {"127.0.0.1:9464", "[::1]:9464"},
                                     {"0.0.0.0:9464", "[::]:9464"}}) {
    EXPECT_EQ(outcome(gnb, service), "taken") << gnb << ' ' << service;
  }
}

std::string with_placement(const std::string& members) {
  std::string text = kGood;
  const std::string at = "\nbearers:";
  text.replace(text.find(at), at.size(), "\nplacement: {" + members + "}" + at);
  return text;
}

TEST(GnbFile, placement_is_static_until_the_file_says_more) {
  const auto usual = parse(kGood, "t.yaml");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->placement, placement::Settings{});
  const auto got = parse(with_placement("load_of: octets, min_stay_ms: 7").c_str(), "t.yaml");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->placement.load_of, placement::LoadOf::kOctets);
  EXPECT_EQ(got->placement.min_stay_ms, 7U);
}

TEST(GnbFile, lists_of_pinned_bearers_name_them_by_upf_and_uplink_teid) {
  const auto got = parse(with_placement("pin: [{on: host, upf: 10.100.0.2, ul_teid: 0x1001, count: 3}, "
                                        "{on: host, upf: 'fd00::2', ul_teid: 0x1002}, "
                                        "{on: host, upf: 10.100.0.2, ul_teid: 0xffffffff}]")
                             .c_str(),
                         "t.yaml");
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->pins.size(), 3U);
  EXPECT_EQ(got->pins[0].on, "host");
  EXPECT_EQ(got->pins[0].upf, IpAddress::v4({10, 100, 0, 2}));
  EXPECT_EQ(got->pins[0].ul_teid, Teid{0x1001});
  EXPECT_EQ(got->pins[0].count, 3U);
  EXPECT_EQ(got->pins[1].count, 1U);
  EXPECT_EQ(got->placement, placement::Settings{});
}

TEST(GnbFile, what_is_wrong_with_placement_is_said_in_one_line) {
  const auto refusal = [](const std::string& members) {
    const auto got = parse(with_placement(members).c_str(), "t.yaml");
    return got ? std::string("taken") : got.error().message;
  };
  EXPECT_THAT(refusal("mode: spill"),
              HasSubstr("placement.mode: is spill, and there is no section cards; allowed: static"));
  EXPECT_THAT(refusal("mode: best"), HasSubstr("placement.mode: 'best'"));
  EXPECT_THAT(refusal("ratio: 101"), HasSubstr("placement.ratio"));
  const std::string one = "{on: host, upf: 10.100.0.2, ul_teid: 5, count: 3}";
  EXPECT_THAT(refusal("pin: [{on: card0, upf: 10.100.0.2, ul_teid: 5}]"),
              HasSubstr("placement.pin[0].on: there is no card 'card0'; allowed: host"));
  EXPECT_THAT(refusal("pin: [" + one + ", {on: host, upf: 10.100.0.2, ul_teid: 7}]"),
              HasSubstr("placement.pin[1].ul_teid: names bearer 0x7 at 10.100.0.2 again, after placement.pin[0]; "
                        "allowed: each bearer once"));
  EXPECT_THAT(refusal("pin: [{on: host, upf: 10.100.0.2, ul_teid: 4, count: 2}, " + one + "]"),
              HasSubstr("placement.pin[1].ul_teid: names bearer 0x5 at"));
  EXPECT_EQ(
      refusal("pin: [" + one + ", {on: host, upf: 10.100.0.3, ul_teid: 5}, {on: host, upf: 10.100.0.2, ul_teid: 8}]"),
      "taken");
  EXPECT_THAT(refusal("pin: [{on: host, upf: 10.100.0.2, ul_teid: 0xffffffff, count: 2}]"),
              HasSubstr("placement.pin[0].ul_teid: with count 2 it runs past the last value"));
  EXPECT_THAT(refusal("pin: [{on: host, upf: 10.100.0.2}]"), HasSubstr("placement.pin[0].ul_teid"));
  EXPECT_THAT(refusal("pin: [{on: host, upf: 10.100.0.2, ul_teid: 5, to: x}]"),
              HasSubstr("placement.pin[0].to: unknown key"));
  EXPECT_THAT(refusal("pin: host"), HasSubstr("placement.pin: "));
  EXPECT_THAT(refusal("ration: 1"), HasSubstr("placement.ration: unknown key, did you mean 'ratio'?"));
}

}  // namespace
}  // namespace splitplane::app
