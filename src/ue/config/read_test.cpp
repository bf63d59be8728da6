#include "ue/config/read.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

Expected<UeConfig> parse(const std::string& text, const std::string& file) {
  return Document::parse(text, file).and_then(read_ue);
}

TEST(UeFile, the_air_of_a_ue_side_arrives_where_it_belongs) {
  const std::string text = R"(ports: {air: {device: net_null0}}
ue:
  port: air
  gnb_control: /run/c.sock
)";
  const auto without = parse(text, "t.yaml");
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_FALSE(without->air);
  const auto config = parse(text +
                                "  air: {seed: 9, downlink: {loss_percent: 2.5, burst_length: +4}, "
                                "uplink: {duplicate_percent: 3, delay_us: 1e3, jitter_us: 0x10, "
                                "reorder_percent: .5}}\n",
                            "t.yaml");
  ASSERT_TRUE(config) << config.error().message;
  const UeAirConfig& air = *config->air;
  EXPECT_EQ(air.seed, 9U);
  EXPECT_EQ(air.capacity, 4096U);
  EXPECT_EQ(air.downlink.loss_percent, 2.5);
  EXPECT_EQ(air.downlink.burst_length, 4);
  EXPECT_EQ(air.downlink.delay_us, 0);
  EXPECT_EQ(air.uplink.loss_percent, 0);
  EXPECT_EQ(air.uplink.burst_length, 1);
  EXPECT_EQ(air.uplink.duplicate_percent, 3);
  EXPECT_EQ(air.uplink.delay_us, 1000);
  EXPECT_EQ(air.uplink.jitter_us, 16);
  EXPECT_EQ(air.uplink.reorder_percent, 0.5);
}

constexpr const char* kUe = "ue: {port: air, gnb_control: /run/c.sock";

TEST(UeFile, every_key_of_the_section_arrives_where_it_belongs) {
  const auto config =
      parse(std::string("ports: {air: {device: net_null0}}\n") + kUe +
                ", tun: tun7, tun_mtu: 1280, default_route: true, peer_mac: 02:00:00:00:00:07, core: 3, "
                "policy: busy}\n",
            "t.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->port, "air");
  EXPECT_EQ(config->gnb_control, "/run/c.sock");
  EXPECT_EQ(config->tun, "tun7");
  EXPECT_EQ(config->tun_mtu, 1280U);
  EXPECT_TRUE(config->default_route);
  EXPECT_EQ(config->peer_mac, (MacAddress{{2, 0, 0, 0, 0, 7}}));
  EXPECT_EQ(config->core, 3U);
  EXPECT_EQ(config->policy.kind, power::Kind::busy);
  EXPECT_EQ(memory_needs(*config).pools, 1U);
}

TEST(UeFile, what_does_not_fit_together_is_refused_with_its_key) {
  const auto refused = [](const std::string& ports, const std::string& more) {
    const auto config = parse("ports: {" + ports + "}\n" + kUe + more + "}\n", "f");
    return config ? std::string("(good)") : config.error().message;
  };
  using ::testing::HasSubstr;
  const std::string air = "air: {device: net_null0}";
  EXPECT_EQ(refused(air, ""), "(good)");
  EXPECT_THAT(refused("other: {device: net_null0}", ""), HasSubstr("ue.port: "));
  EXPECT_THAT(refused(air + ", spare: {device: net_null1}", ""), HasSubstr("ports.spare: is not used"));
  EXPECT_EQ(refused("air: {device: net_null0, mtu: 1500}", ", tun_mtu: 1481"), "(good)");
  EXPECT_THAT(refused("air: {device: net_null0, mtu: 1500}", ", tun_mtu: 1482"), HasSubstr("f:2: ue.tun_mtu: is 1482"));
  EXPECT_THAT(refused(air, ", air: {capacity: 1048576}"), HasSubstr("ue.air.capacity: is 1048576"));
  EXPECT_THAT(refused(air, ", air: {downlink: {reorder_percent: 1}}"), HasSubstr("has nothing to overtake"));
}

}  // namespace
}  // namespace splitplane::app
