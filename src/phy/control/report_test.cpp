#include "phy/control/report.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

phy::WorkerReport report() {
  phy::WorkerReport r;
  r.downlink = {.received = 10, .good = 7, .consumed = 1, .dropped = 2, .drops = {{"tun_full", 2}}};
  r.uplink = {.received = 5, .good = 3, .consumed = 0, .dropped = 2, .drops = {{"tun_full", 1}, {"not_ip", 1}}};
  r.balanced = true;
  r.state = fapi::PhyState::kRunning;
  r.air = {{"slots", 1000}, {"dl_decoded", 90}, {"dl_lost", 10}, {"ul_decoded", 40}, {"ul_lost", 4}};
  r.blocks = {{"delivered", 90}};
  r.loss.uplink.loss_percent = 4;
  return r;
}

TEST(PhyStats, both_directions_are_added_up_and_what_is_below_is_named) {
  const Json stats = stats_json(report(), nullptr, 3);
  EXPECT_EQ(
      stats.at("totals"),
      (Json{{"received", 15}, {"transmitted", 10}, {"dropped", 4}, {"consumed", 1}, {"held", 0}, {"balanced", true}}));
  EXPECT_EQ(stats.at("workers")[0].at("core"), 3);
  EXPECT_EQ(stats.at("workers")[0].at("drops"), (Json{{"tun_full", 3}, {"not_ip", 1}}));
  EXPECT_EQ(stats.at("workers")[0].at("transmitted_tun"), 7);
  EXPECT_EQ(stats.at("workers")[0].at("sunk"), 1);
  EXPECT_EQ(stats.at("phy").at("state"), "running");
  EXPECT_EQ(stats.at("air").at("dl_lost"), 10);
  EXPECT_EQ(stats.at("air").at("loss").at("uplink").at("loss_percent"), 4);
  EXPECT_EQ(stats.at("radio").at("blocks").at("delivered"), 90);
  EXPECT_TRUE(stats.at("capture").empty());
}

TEST(PhyStats, the_last_words_say_what_passed_and_what_does_not_add_up) {
  const std::string text = summary_of(stats_json(report(), nullptr, 0));
  EXPECT_THAT(
      text,
      HasSubstr("phy: downlink 10 received, 7 delivered, 1 to UEs without the TUN device, 2 dropped (tun_full 2)\n"));
  EXPECT_THAT(text, HasSubstr("phy: uplink 5 received, 3 sent, 2 dropped (not_ip 1, tun_full 1)\n"));
  EXPECT_THAT(text,
              HasSubstr("phy: air: 1000 slots; 100 blocks down, 10 of them lost; 44 blocks up, 4 of them lost\n"));
  EXPECT_THAT(text, Not(HasSubstr("capture")));
  EXPECT_THAT(text, Not(HasSubstr("NOT ADD UP")));
  phy::WorkerReport wrong = report();
  wrong.balanced = false;
  EXPECT_THAT(summary_of(stats_json(wrong, nullptr, 0)), HasSubstr("THE COUNTERS DO NOT ADD UP"));
}

}  // namespace
}  // namespace splitplane::app
