// The sections gen and sink: what they mean, beside the corpus of tests/config, which holds the refusals.
#include "traffic/config/read.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

Expected<TrafficConfig> parse(const std::string& text, const std::string& file) {
  return Document::parse(text, file).and_then(read_traffic);
}

TrafficConfig parsed(const std::string& gen) {
  const auto config = parse("ports: {p: {device: net_ring0}}\ngen: {port: p, rate: 10, " + gen + "}\n", "f");
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(TrafficConfig{.gen = GenConfig{}, .sink = {}});
}

constexpr const char* kBearers =
    "gnb_ipv4: 10.1.0.1, bearers: [{id: 0x04000000, count: 5, shards: 2, upf: 10.1.0.2, ue_ipv4: 10.45.0.255}]";

TEST(TrafficFile, imix_is_three_sizes_seven_to_four_to_one) {
  const TrafficConfig config = parsed(std::string("sizes: imix, ") + kBearers);
  ASSERT_EQ(config.gen->sizes.size(), 3U);
  EXPECT_EQ(config.gen->sizes[0].weight, 7U);
  EXPECT_EQ(config.gen->sizes[2].bytes, 1400U);
}

TEST(TrafficFile, arrivals_are_a_word_or_a_map) {
  EXPECT_EQ(parsed(std::string("arrivals: poisson, ") + kBearers).gen->arrivals, traffic::Arrivals{traffic::Poisson{}});
  EXPECT_EQ(parsed(std::string("arrivals: {kind: bursts, packets: 5}, ") + kBearers).gen->arrivals,
            traffic::Arrivals{traffic::Bursts{5}});
  EXPECT_EQ(parsed(std::string("arrivals: {kind: ramp, to: 50, over_s: 2}, ") + kBearers).gen->arrivals,
            (traffic::Arrivals{traffic::Ramp{50, 2}}));
}

TEST(TrafficFile, two_flows_do_not_number_one_bearers_uplink) {
  const auto refused = [](const std::string& direction, const std::string& bearers) {
    const auto config =
        parse("ports: {p: {device: net_ring0}}\ngen: {port: p, rate: 10, gnb_ipv4: 10.1.0.1, direction: " + direction +
                  ", bearers: [" + bearers + "]}\n",
              "f");
    return config ? std::string("(good)") : config.error().message;
  };
  const std::string same =
      "{id: 7, ue_ipv4: 10.45.0.2, upf: 10.1.0.2}, {id: 5, count: 3, ue_ipv4: 10.45.0.3, upf: 10.1.0.2}";
  EXPECT_THAT(refused("uplink", same),
              ::testing::StartsWith(
                  "f:2: gen.bearers[1]: has the bearer 0x00000007, which is in gen.bearers[0] already; allowed: "));
  EXPECT_EQ(refused("downlink", same), "(good)");  // the gNB numbers
  // The second bearer of the first shard, and of one in the middle.
  for (const char* id : {"0x04000001", "0x04140001"}) {
    EXPECT_THAT(refused("uplink", std::string("{id: 0x04000000, count: 20, shards: 10, ue_ipv4: 10.45.0.2}, {id: ") +
                                      id + ", ue_ipv4: 10.45.0.3}"),
                ::testing::HasSubstr("gen.bearers[1]: has the bearer"));
  }
  EXPECT_EQ(
      refused("uplink",
              "{id: 0x04000000, count: 20, shards: 10, ue_ipv4: 10.45.0.2}, {id: 0x04000002, count: 9, shards: 9, "
              "ue_ipv4: 10.45.0.3}"),
      "(good)");
  // A shard that runs over into the next.
  EXPECT_THAT(refused("uplink", "{id: 0x04000000, count: 600000, shards: 2, ue_ipv4: 10.45.0.2}"),
              ::testing::HasSubstr("has the bearer 0x04040000"));
}

}  // namespace
}  // namespace splitplane::app
