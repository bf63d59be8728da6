#include "ue/control/report.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

ue::UeReport report() {
  ue::UeReport r;
  r.downlink = {.received = 10, .good = 6, .consumed = 1, .dropped = 3, .drops = {{"late", 1}, {"duplicate", 2}}};
  r.uplink = {.received = 5, .good = 3, .consumed = 0, .dropped = 2, .drops = {{"late", 2}}};
  r.transmitted_air = 3;
  r.received_air = 10;
  r.bearer_count = 4;
  return r;
}

const std::string kPort = "air0";

TEST(UeStats, both_directions_are_added_up_and_drops_of_one_name_too) {
  const Json stats = stats_json(report(), {}, {kPort, 3});
  EXPECT_EQ(stats.at("totals").at("received"), 15);
  EXPECT_EQ(stats.at("totals").at("transmitted"), 9);
  EXPECT_EQ(stats.at("totals").at("dropped"), 5);
  EXPECT_EQ(stats.at("totals").at("balanced"), true);
  EXPECT_EQ(stats.at("bearers"), 4);
  const Json& worker = stats.at("workers")[0];
  EXPECT_EQ(worker.at("core"), 3);
  EXPECT_EQ(worker.at("drops"), (Json{{"late", 3}, {"duplicate", 2}}));
  EXPECT_EQ(worker.at("transmitted_tun"), 6);
}

TEST(UeStats, counters_that_do_not_add_up_are_said_so) {
  ue::UeReport r = report();
  ++r.downlink.received;
  EXPECT_EQ(stats_json(r, {}, {kPort, 0}).at("totals").at("balanced"), false);
}

TEST(UeStats, a_bearer_is_one_flat_row) {
  ue::UeReport r = report();
  ue::UeBearer& bearer = r.bearers.emplace_back();
  bearer.config.id = BearerId{9};
  bearer.downlink.received = 8;
  const Json stats = stats_json(r, {}, {kPort, 0});
  ASSERT_EQ(stats.at("bearer_counters").size(), 1U);
  const Json& row = stats.at("bearer_counters")[0];
  EXPECT_EQ(row.at("id"), 9);
  EXPECT_EQ(row.at("rlc"), "am18");
  EXPECT_EQ(row.at("dl_received"), 8);
  for (const auto& [name, value] : row.items()) EXPECT_TRUE(value.is_primitive()) << name;
}

TEST(UeStats, the_port_is_named_and_an_air_is_there_only_if_there_is_one) {
  datapath::PortCounters port{};
  port.rx_missed = 2;
  const Json stats = stats_json(report(), port, {kPort, 0});
  EXPECT_EQ(stats.at("ports")[0].at("name"), "air0");
  EXPECT_EQ(stats.at("ports")[0].at("rx_missed"), 2);
  EXPECT_EQ(stats.at("ports")[0].at("workers_received"), 10);
  EXPECT_TRUE(stats.at("air").empty());
  ue::UeReport with_air = report();
  with_air.air_downlink.emplace();
  with_air.air_uplink.emplace();
  EXPECT_TRUE(stats_json(with_air, port, {kPort, 0}).at("air").contains("uplink"));
}

}  // namespace
}  // namespace splitplane::app
