// Rates of `splitplane top` from two answers to `stats`.
#include "cli/top/rates.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

Json answer(std::uint64_t k) {
  return {{"bearers", 4},
          {"totals", {{"balanced", true}}},
          {"workers",
           {{{"name", "w0"},
             {"core", 2},
             {"received", 1000 * k},
             {"transmitted", 900 * k},
             {"dropped", 100 * k},
             {"cpu_cycles", 85'000 * k},
             {"cycles", {{"busy", 50'000 * k}, {"idle", 30'000 * k}, {"asleep", 20'000 * k}}},
             {"stages",
              {{{"name", "dl_tx"}, {"packets", 900 * k}, {"sampled_packets", 90 * k}, {"sampled_cycles", 1800 * k}}}},
             {"drops", {{"tx_full", 100 * k}}}}}},
          {"ports",
           {{{"name", "n3"},
             {"received", 1000 * k},
             {"received_bytes", 64'000 * k},
             {"rx_missed", 5 * k},
             {"rx_errors", 1 * k},
             {"rx_no_mbuf", 2 * k}}}}};
}

TEST(TopRates, differences_by_the_time_between) {
  const Rates rates = rates_between(answer(1), answer(3), 2.0);
  ASSERT_EQ(rates.workers.size(), 1U);
  const WorkerRate& w = rates.workers[0];
  EXPECT_EQ(w.received, 1000);
  EXPECT_EQ(w.transmitted, 900);
  EXPECT_EQ(w.dropped, 100);
  EXPECT_EQ(w.cycles_per_packet, 50);
  EXPECT_DOUBLE_EQ(w.busy, 0.5);
  EXPECT_DOUBLE_EQ(w.idle, 0.3);
  EXPECT_DOUBLE_EQ(w.asleep, 0.2);
  EXPECT_DOUBLE_EQ(w.cpu.value(), 0.85);
  ASSERT_EQ(rates.stages.size(), 2U) << "receive, and the one that is timed";
  EXPECT_EQ(rates.stages[1].packets, 900);
  EXPECT_EQ(rates.stages[1].cycles_per_packet, 20);
  ASSERT_EQ(rates.drops.size(), 1U);
  EXPECT_EQ(rates.drops[0].packets, 100);
  EXPECT_EQ(rates.drops[0].total, 300U);
  ASSERT_EQ(rates.ports.size(), 1U);
  EXPECT_EQ(rates.ports[0].rx_bits, 512'000);
  EXPECT_EQ(rates.ports[0].missed, 5);
  EXPECT_EQ(rates.ports[0].errors, 3);
  EXPECT_EQ(rates.ports[0].errors_total, 9U);
}

TEST(TopRates, placement_counts_moves_both_ways_and_is_absent_without_a_card) {
  const auto with = [](std::uint64_t k) {
    Json json = answer(k);
    json["cards"] = {{{"name", "card0"}}};
    json["placement"] = {{"mode", "ratio"}, {"bearers", 100U},        {"on_cards", 40U},   {"pinned", 2U},
                         {"load", 500.0},   {"load_on_cards", 125.0}, {"to_card", 30 * k}, {"to_host", 10 * k},
                         {"failed", 3U},    {"refused", 4U},          {"packets", 77U},    {"longest_hold_us", 900U}};
    return json;
  };
  const auto placement = rates_between(with(1), with(3), 2.0).placement;
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->mode, "ratio");
  EXPECT_EQ(placement->moves, 40);
  EXPECT_EQ(placement->to_card, 90U);
  EXPECT_EQ(placement->on_cards, 40U);
  EXPECT_EQ(placement->held, 77U);
  EXPECT_DOUBLE_EQ(placement->load_on_cards, 0.25);
  EXPECT_FALSE(rates_between(answer(1), answer(2), 1).placement);
  Json without_card = with(1);
  without_card["cards"] = Json::array();
  EXPECT_FALSE(rates_between(without_card, without_card, 1).placement) << "two workers have one, too";
  Json none = answer(2);
  none["placement"] = nullptr;
  EXPECT_FALSE(rates_between(none, none, 1).placement);
}

TEST(TopRates, the_buffering_service_says_what_became_of_sdus) {
  const auto service = [](std::uint64_t k) {
    Json json = answer(k);
    json["workers"][0]["baas"] = {{"held", 7U},         {"copies", 100 * k},  {"without_copy", 10 * k},
                                  {"released", 90 * k}, {"withdrawn", 2 * k}, {"sent_again", 6 * k}};
    return json;
  };
  const Rates rates = rates_between(service(1), service(3), 2.0);
  ASSERT_EQ(rates.buffering.size(), 1U);
  const BufferingRate& loop = rates.buffering[0];
  EXPECT_EQ(loop.name, "w0");
  EXPECT_EQ(loop.held, 7U);
  EXPECT_EQ(loop.told, 110);
  EXPECT_EQ(loop.acknowledged, 90);
  EXPECT_EQ(loop.withdrawn, 2);
  EXPECT_EQ(loop.sent_again, 6);
  EXPECT_EQ(loop.sent_again_total, 18U);
  EXPECT_TRUE(rates_between(answer(1), answer(3), 2.0).buffering.empty());
}

TEST(TopRates, a_guard_has_rates_of_its_servers_and_the_fill_of_its_tables) {
  const auto guard = [](std::uint64_t k) {
    Json json = answer(k);
    json["guard"] = {{"servers",
                      {{{"name", "web"},
                        {"mode", "proxy"},
                        {"state", "armed"},
                        {"syns", 1000 * k},
                        {"unknown_syns", 900 * k},
                        {"challenged", 800 * k},
                        {"proved", 10 * k},
                        {"dropped", 5 * k},
                        {"half_open_percent", 99U},
                        {"armings", 2U}}}},
                     {"sources", {{"entries", 1024U}, {"live", 7U}}},
                     {"flows", {{"entries", 512U}, {"used", 3U}}}};
    return json;
  };
  const Rates rates = rates_between(guard(1), guard(3), 2.0);
  ASSERT_TRUE(rates.guard);
  EXPECT_EQ(rates.guard->sources, 7U);
  EXPECT_EQ(rates.guard->flow_entries, 512U);
  ASSERT_EQ(rates.guarded.size(), 1U);
  EXPECT_EQ(rates.guarded[0].syns, 1000);
  EXPECT_EQ(rates.guarded[0].unknown, 900);
  EXPECT_EQ(rates.guarded[0].challenged, 800);
  EXPECT_EQ(rates.guarded[0].proved, 10);
  EXPECT_EQ(rates.guarded[0].dropped, 5);
  EXPECT_EQ(rates.guarded[0].state, "armed");
  EXPECT_FALSE(rates_between(answer(1), answer(3), 2.0).guard);
}

TEST(TopRates, a_stage_without_timed_packets_has_no_cycles) {
  const Rates rates = rates_between(answer(2), answer(2), 1.0);
  EXPECT_EQ(rates.stages[1].packets, 0);
  EXPECT_FALSE(rates.stages[1].cycles_per_packet);
  EXPECT_FALSE(rates.workers[0].cycles_per_packet);
}

TEST(TopRates, receive_is_a_stage_so_that_the_parts_add_up_to_the_cycles_of_a_packet) {
  Json before = answer(1), after = answer(3);
  after["workers"][0]["stages"].push_back(
      {{"name", "ul_parse"}, {"packets", 500U}, {"sampled_packets", 50U}, {"sampled_cycles", 400U}});
  const Rates rates = rates_between(before, after, 2.0);
  ASSERT_EQ(rates.stages.size(), 3U);
  EXPECT_EQ(rates.stages[0].stage, "receive");
  EXPECT_EQ(rates.stages[0].packets, rates.workers[0].received);
  EXPECT_DOUBLE_EQ(rates.stages[1].part.value(), 20 * 0.9) << "900 of 1,000 packets pass it";
  EXPECT_DOUBLE_EQ(rates.stages[2].part.value(), 8 * 0.25);
  double sum = 0;
  for (const auto& stage : rates.stages) sum += stage.part.value();
  EXPECT_DOUBLE_EQ(sum, rates.workers[0].cycles_per_packet.value());
}

TEST(TopRates, an_instance_that_began_anew_counts_from_zero) {
  EXPECT_EQ(rates_between(answer(1000), answer(1), 1.0).workers[0].received, 1000);
}

TEST(TopRates, what_is_missing_or_odd_counts_as_zero) {
  EXPECT_TRUE(rates_between(Json(), Json("text"), 1.0).workers.empty());
  const Rates rates = rates_between(Json::array(), {{"workers", {{{"name", 7}, {"received", "x"}}, 5}}}, 1.0);
  ASSERT_EQ(rates.workers.size(), 2U);
  EXPECT_EQ(rates.workers[0].received, 0);
  EXPECT_FALSE(rates.workers[0].cpu) << "an older instance";
}

TEST(TopRates, a_bearer_that_is_new_has_no_rate_yet) {
  const auto bearer = [](std::uint64_t id, std::uint64_t n) {
    return Json{{"id", id}, {"downlink", {{"transmitted", n}, {"bytes", 100 * n}}}, {"uplink", {{"dropped", n}}}};
  };
  const auto rates = bearer_rates({bearer(1, 10)}, {bearer(1, 30), bearer(2, 5)}, 2.0);
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(rates[0].dl_packets, 10);
  EXPECT_EQ(rates[0].dl_bits, 8000);
  EXPECT_EQ(rates[0].dropped, 10);
  EXPECT_EQ(rates[1].dl_packets, 0);
  EXPECT_EQ(rates[1].dl_total, 5U);
}

TEST(TopRates, a_bearer_of_a_session_has_its_drb_and_flows) {
  const auto rate = [](const Json& session) {
    return bearer_rates({}, {{{"id", 1U}, {"session", session}}}, 1.0).front();
  };
  const BearerRate ruled = rate({{"drb", 2U}, {"flows", {5, 63}}, {"default", false}});
  EXPECT_EQ(ruled.drb, 2U);
  EXPECT_EQ(ruled.flows, "QFI 5 63");
  EXPECT_EQ(rate({{"drb", 1U}, {"flows", {0}}, {"default", true}}).flows, "QFI 0 others");
  EXPECT_EQ(rate({{"drb", 1U}, {"flows", Json::array()}, {"default", true}}).flows, "others");
  EXPECT_EQ(rate("odd").drb, 0U);
  EXPECT_EQ(rate("odd").flows, "");
}

}  // namespace
}  // namespace splitplane::app
