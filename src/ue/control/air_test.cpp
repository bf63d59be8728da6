#include "ue/control/air.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

class AirSet : public ::testing::Test {
 protected:
  AirSet() {
    registry_.add("air.set", air_set([this](const AirPatch& patch) -> Expected<Json> {
                    air_ = patch;
                    return Json::object();
                  }));
  }
  std::string error(const Json& params) {
    const Json request{{"id", 1}, {"method", "air.set"}, {"params", params}};
    return Json::parse(registry_.answer(request.dump())).value("error", "(no error)");
  }
  std::optional<AirPatch> air_;
  MethodRegistry registry_{[] {}};
};

TEST_F(AirSet, changes_what_is_named_and_nothing_else) {
  EXPECT_EQ(error({{"uplink", {{"loss_percent", 2.5}, {"reorder_percent", 1}}}}), "(no error)");
  ASSERT_TRUE(air_);
  for (std::size_t i = 0; i < phy::kImpairments.size(); ++i) {
    const auto name = phy::kImpairments[i].name;
    EXPECT_FALSE(air_->downlink[i]);
    EXPECT_EQ(air_->uplink[i].value_or(-1), name == "loss_percent" ? 2.5 : name == "reorder_percent" ? 1 : -1);
  }
}

TEST_F(AirSet, what_no_air_can_do_is_refused_before_it_reaches_the_air) {
  for (const auto& [params, says] :
       {std::pair{Json{{"uplink", {{"loss_percent", 100.5}}}},
                  "uplink: loss_percent: allowed is a number from 0 to 100"},
        {Json{{"downlink", {{"burst_length", "4"}}}}, "downlink: burst_length: allowed is a number from 1 to 1000000"},
        {Json{{"downlink", {{"los_percent", 4}}}}, "downlink: los_percent: unknown, did you mean 'loss_percent'?"},
        {Json{{"downlink", 5}}, "downlink: allowed is an object"},
        {Json{{"up", Json::object()}}, "up: unknown; allowed: downlink, uplink"}}) {
    EXPECT_THAT(error(params), HasSubstr(says));
    EXPECT_FALSE(air_);
  }
}

}  // namespace
}  // namespace splitplane::app
