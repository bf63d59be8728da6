#include "phy/control/loss.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

class LossSet : public ::testing::Test {
 protected:
  LossSet() {
    registry_.add("air.set", loss_set([this](const LossPatch& patch) -> Expected<Json> {
                    loss_ = patch.applied_to(loss_);
                    ++calls_;
                    return json_of(loss_);
                  }));
  }
  Json answer(const Json& params) {
    return Json::parse(registry_.answer(Json{{"id", 1}, {"method", "air.set"}, {"params", params}}.dump()));
  }
  phy::AirLoss loss_{.downlink = {.loss_percent = 1, .burst_length = 2}, .uplink = {}, .dci_loss_percent = 3};
  unsigned calls_ = 0;
  MethodRegistry registry_{[] {}};
};

TEST_F(LossSet, changes_what_is_named_and_shows_all) {
  const Json result = answer({{"uplink", {{"loss_percent", 2.5}}}, {"downlink", {{"burst_length", 4}}}}).at("result");
  EXPECT_EQ(loss_, (phy::AirLoss{{1, 4}, {2.5, 1}, 3}));
  EXPECT_EQ(result, (Json{{"downlink", {{"loss_percent", 1.0}, {"burst_length", 4.0}}},
                          {"uplink", {{"loss_percent", 2.5}, {"burst_length", 1.0}}},
                          {"dci_loss_percent", 3.0}}));
  (void)answer({{"dci_loss_percent", 0}});
  EXPECT_EQ(loss_.dci_loss_percent, 0);
}

TEST_F(LossSet, what_this_air_cannot_do_is_refused) {
  for (const auto& [params, says] :
       {std::pair{Json{{"uplink", {{"loss_percent", 100.5}}}},
                  "uplink: loss_percent: allowed is a number from 0 to 100"},
        {Json{{"downlink", {{"delay_us", 4}}}}, "downlink: delay_us: unknown; allowed: loss_percent, burst_length"},
        {Json{{"dci_loss_percent", -1}}, "dci_loss_percent: allowed is a number from 0 to 100"},
        {Json{{"up", Json::object()}}, "up: unknown; allowed: downlink, uplink, dci_loss_percent"}}) {
    EXPECT_THAT(answer(params).value("error", "(no error)"), HasSubstr(says));
  }
  EXPECT_EQ(calls_, 0U);
}

}  // namespace
}  // namespace splitplane::app
