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

}  // namespace
}  // namespace splitplane::app
