#include "card/control/report.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

CardSeen seen_one() {
  CardSeen seen;
  seen.bearers = 3;
  seen.card.ports = {{.in = 10, .out = 4}, {.out = 5, .tx_full = 1}, {.clones = 2}};
  seen.card.punts[static_cast<std::size_t>(nic::PuntReason::arp)] = 7;
  seen.card.drops[static_cast<std::size_t>(nic::CardDrop::no_port)] = 1;
  seen.card.clones = 2;
  seen.totals = {.received = 10, .clones = 2, .transmitted = 10, .dropped = 2, .balanced = true};
  seen.cores.push_back({.card = seen.card, .moved = {}});
  seen.workers.emplace_back().name = "card0";
  return seen;
}

const std::vector<std::string> kNames{"n3", "air", ""};

TEST(CardReport, counters_name_reasons_that_happened_and_ports_that_are_connected) {
  const Json counters = counters_json(seen_one(), kNames);
  EXPECT_EQ(counters.at("punts"), (Json{{"arp", 7}}));
  EXPECT_EQ(counters.at("drops"), (Json{{"no_port", 1}}));
  ASSERT_EQ(counters.at("ports").size(), 2U);
  EXPECT_EQ(counters.at("ports")[1],
            (Json{{"name", "air"}, {"port", 1}, {"in", 0}, {"out", 5}, {"clones", 0}, {"tx_full", 1}}));
  EXPECT_EQ(counters.at("clones").at("made"), 2);
  EXPECT_EQ(counters.at("totals").at("received"), 10);
  EXPECT_EQ(counters.at("totals").at("balanced"), true);
}

TEST(CardReport, statistics_have_the_card_its_loops_and_its_ports) {
  const std::string name = "card0", program = "gnb-clone";
  std::vector<PortObservation> ports(1);
  ports[0].name = "n3";
  const Json stats = stats_json(seen_one(), ports, {name, program, kNames});
  EXPECT_EQ(stats.at("bearers"), 3);
  ASSERT_EQ(stats.at("cards").size(), 1U);
  EXPECT_EQ(stats.at("cards")[0].at("name"), "card0");
  EXPECT_EQ(stats.at("cards")[0].at("program"), "gnb-clone");
  EXPECT_EQ(stats.at("cards")[0].at("totals"), stats.at("totals"));
  ASSERT_EQ(stats.at("workers").size(), 1U);
  EXPECT_EQ(stats.at("workers")[0].at("name"), "card0");
  EXPECT_EQ(stats.at("workers")[0].at("drops"), (Json{{"no_port", 1}}));
  EXPECT_EQ(stats.at("ports")[0].at("name"), "n3");
}

TEST(CardReport, frames_that_a_full_queue_dropped_are_among_the_drops_of_their_core) {
  CardSeen seen = seen_one();
  seen.cores[0].card.tx_full = 1;
  const std::string name = "card0", program = "gnb-clone";
  EXPECT_EQ(stats_json(seen, {}, {name, program, kNames}).at("workers")[0].at("drops"),
            (Json{{"no_port", 1}, {"tx_full", 1}}));
}

}  // namespace
}  // namespace splitplane::app
