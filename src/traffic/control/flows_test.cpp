#include "traffic/control/flows.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::ElementsAre;

TEST(Flows, identities_are_spread_over_shards_as_the_gnb_spreads_them) {
  GenConfig gen;
  gen.gnb_ipv4 = IpAddress::v4({10, 1, 0, 1});
  GenBearersConfig& bearers = gen.bearers.emplace_back();
  bearers.count = 5;
  bearers.shards = 2;
  bearers.first.id = BearerId{0x04000000};
  bearers.first.upf = IpAddress::v4({10, 1, 0, 2});
  bearers.first.ue_ipv4 = IpAddress::v4({10, 45, 0, 255});
  const auto flows = make_flows(gen);
  ASSERT_TRUE(flows) << flows.error().message;
  std::vector<std::uint32_t> ids;
  for (const auto& flow : *flows) ids.push_back(flow.bearer.id.value);
  EXPECT_THAT(ids, ElementsAre(0x04000000, 0x04040000, 0x04000001, 0x04040001, 0x04000002));
  EXPECT_EQ(flows->back().bearer.ue_ipv4->to_string(), "10.45.1.3");
  EXPECT_EQ(flows->back().gnb.to_string(), "10.1.0.1");
}

TEST(Flows, a_gnb_that_does_not_answer_is_named) {
  GenConfig gen;
  gen.gnb_control = "/no/such/socket";
  const auto flows = make_flows(gen);
  ASSERT_FALSE(flows);
  EXPECT_THAT(flows.error().message, ::testing::HasSubstr("/no/such/socket"));
}

}  // namespace
}  // namespace splitplane::app
