#include "phy/config/read.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

Expected<PhyProgramConfig> parse(const std::string& text) {
  return Document::parse(text, "f").and_then(read_phy);
}

std::string refused(const std::string& phy, const std::string& ue = "") {
  const auto config = parse("phy: {" + phy + "}\nue: {gnb_control: /run/c.sock" + ue + "}\n");
  return config ? "(good)" : config.error().message;
}

TEST(PhyFile, every_key_of_its_sections_arrives_where_it_belongs) {
  const auto config = parse(R"(file_prefix: air
phy:
  local: fd00::2
  local_p5_port: 1
  local_p7_port: 2
  address: fd00::1
  p5_port: 3
  p7_port: 65535
  phy_id: 7
  max_datagram: 8972
  core: 5
  seed: 9
  downlink: {loss_percent: 2.5, burst_length: 4}
  uplink: {loss_percent: 1}
  dci_loss_percent: 0.5
  capture: {file: out/mac.pcapng, lost: true, max_mb: 3, files: 2}
ue: {gnb_control: /run/c.sock, key_file: /run/k, tun: tun7, tun_mtu: 1280, default_route: true, tun_ues: 3, gnb_worker: 1}
)");
  ASSERT_TRUE(config) << config.error().message;
  const EmulatedPhyConfig& phy = config->phy;
  EXPECT_EQ(phy.local.to_string(), "fd00::2");
  EXPECT_EQ(phy.local_p5_port, 1);
  EXPECT_EQ(phy.local_p7_port, 2);
  EXPECT_EQ(phy.address.to_string(), "fd00::1");
  EXPECT_EQ(phy.p5_port, 3);
  EXPECT_EQ(phy.p7_port, 65535);
  EXPECT_EQ(phy.phy_id, 7);
  EXPECT_EQ(phy.max_datagram, 8972);
  EXPECT_EQ(phy.core, 5U);
  EXPECT_EQ(phy.seed, 9U);
  EXPECT_EQ(phy.loss.downlink.loss_percent, 2.5);
  EXPECT_EQ(phy.loss.downlink.burst_length, 4);
  EXPECT_EQ(phy.loss.uplink.loss_percent, 1);
  EXPECT_EQ(phy.loss.dci_loss_percent, 0.5);
  EXPECT_EQ(phy.capture->file, "out/mac.pcapng");
  EXPECT_TRUE(phy.capture->lost);
  EXPECT_EQ(phy.capture->max_mb, 3U);
  EXPECT_EQ(phy.capture->files, 2U);
  EXPECT_EQ(config->ue.gnb_control, "/run/c.sock");
  EXPECT_EQ(config->ue.key_file, "/run/k");
  EXPECT_EQ(config->ue.tun, "tun7");
  EXPECT_EQ(config->ue.tun_mtu, 1280U);
  EXPECT_TRUE(config->ue.default_route);
  EXPECT_EQ(config->ue.tun_ues, 3U);
  EXPECT_EQ(config->ue.gnb_worker, 1U);
  EXPECT_EQ(config->file_prefix, "air");
  EXPECT_EQ(memory_needs(*config).pools, 1U);
}

TEST(PhyFile, needs_little_and_has_no_ports) {
  const auto config = parse("phy: {}\nue: {gnb_control: /run/c.sock}\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->phy.local.to_string(), "127.0.0.1");
  EXPECT_EQ(config->phy.local_p7_port, 7702);
  EXPECT_EQ(config->phy.p7_port, 7712);
  EXPECT_EQ(config->phy.loss, phy::AirLoss{});
  EXPECT_FALSE(config->phy.capture);
  EXPECT_THAT(parse("phy: {}\n").error().message, HasSubstr("f:1: ue: is missing"));
  EXPECT_THAT(parse("ports: {p: {device: net_null0}}\nphy: {}\nue: {gnb_control: /run/c.sock}\n").error().message,
              HasSubstr("f:1: ports: unknown key"));
}

TEST(PhyFile, what_cannot_be_is_refused_with_its_key) {
  EXPECT_EQ(refused(""), "(good)");
  EXPECT_THAT(refused("local_p7_port: 7701"),
              HasSubstr("f:1: phy.local_p7_port: 127.0.0.1 port 7701 is phy.local_p5_port, too"));
  EXPECT_THAT(refused("p5_port: 7702"), HasSubstr("phy.p5_port: 127.0.0.1 port 7702 is phy.local_p7_port, too"));
  EXPECT_EQ(refused("p5_port: 7702, address: 127.0.0.2"), "(good)");
  EXPECT_THAT(refused("address: '::1'"), HasSubstr("phy.local: 127.0.0.1 is of another family"));
  EXPECT_THAT(refused("max_datagram: 255"), HasSubstr("phy.max_datagram: is 255"));
  EXPECT_THAT(refused("downlink: {loss_percent: 101}"), HasSubstr("phy.downlink.loss_percent: is 101"));
  EXPECT_THAT(refused("uplink: {delay_us: 1}"), HasSubstr("phy.uplink.delay_us: unknown key"));
  EXPECT_THAT(refused("capture: {lost: true}"), HasSubstr("phy.capture.file: is missing"));
  EXPECT_THAT(refused("", ", port: air"), HasSubstr("f:2: ue.port: unknown key"));
  EXPECT_THAT(refused("", ", tun_mtu: 2041"), HasSubstr("f:2: ue.tun_mtu: is 2041"));
  EXPECT_EQ(refused("", ", tun_mtu: 2040"), "(good)");
}

}  // namespace
}  // namespace splitplane::app
