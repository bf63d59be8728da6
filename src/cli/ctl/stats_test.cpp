// `ctl stats` for people: what fits a terminal of 80 columns, and the parts of it.
#include "cli/ctl/stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace splitplane::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// As an instance answers, with the numbers of a long run.
Json answer() {
  constexpr std::uint64_t kMany = 123'456'789'012'345ULL;
  Json worker{{"name", "w0"},
              {"core", 0},
              {"received", kMany},
              {"balanced", true},
              {"cycles", {{"busy", kMany}, {"idle", kMany}, {"asleep", 0}}},
              {"stages",
               {{{"name", "dl_headers"}, {"packets", kMany}, {"cycles_per_packet", 21.84}},
                {{"name", "copies"}, {"packets", 7}}}},
              {"drops", {{"icmp_unreachable", 3}, {"tx_full", kMany}}}};
  Json port{{"name", "n3"}, {"received", kMany}, {"received_bytes", kMany}};
  for (int i = 0; i < 40; ++i) {
    worker["counter_with_a_long_name_" + std::to_string(i)] = i < 30 ? 0 : kMany;
    port["port_counter_" + std::to_string(i)] = 0;
  }
  return {{"bearers", 65536},
          {"tsc_hz", 2'300'000'000ULL},
          {"totals", {{"received", kMany}, {"dropped", 0}, {"balanced", true}}},
          {"ports", {port, {{"name", "air"}, {"transmitted", 5}}}},
          {"workers", {worker}},
          {"peers", {{{"name", "10.100.0.2"}, {"state", "up"}, {"restarts", 0}}}},
          {"gtpu", {{{"name", "n3"}, {"echo_requests_received", 2}}}},
          {"cards",
           {{{"name", "card0"}, {"state", "away"}, {"reason", std::string(50, 'a') + " " + std::string(50, 'b')}}}}};
}

TEST(CtlStats, no_line_is_longer_than_80_columns) {
  std::istringstream lines(render_stats(answer()));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(CtlStats, a_record_has_a_line_for_each_counter_and_one_for_those_that_are_0) {
  const Json stats{
      {"ports", {{{"name", "n3"}, {"received", 1234567}, {"transmitted", 1}, {"rx_missed", 0}, {"tx_errors", 0}}}}};
  EXPECT_EQ(render_stats(stats),
            "ports\n"
            "  n3\n"
            "    received     1,234,567\n"
            "    transmitted          1\n"
            "    0: rx_missed, tx_errors\n");
}

TEST(CtlStats, drops_say_what_they_mean_and_the_most_frequent_comes_first) {
  const std::string text = render_stats(answer());
  EXPECT_THAT(text, HasSubstr("tx_full: transmit queue stayed full"));
  EXPECT_LT(text.find("tx_full: "), text.find("icmp_unreachable: "));
  EXPECT_THAT(render_stats({{"totals", Json::object()}, {"workers", {{{"name", "w0"}, {"drops", Json::object()}}}}}),
              HasSubstr("nothing was dropped"));
}

TEST(CtlStats, a_part_is_shown_alone) {
  const std::string drops = render_stats(*part_of_stats(answer(), "drops", ""));
  EXPECT_THAT(drops, AllOf(HasSubstr("tx_full"), Not(HasSubstr("ports")), Not(HasSubstr("dl_headers"))));
  const std::string port = render_stats(*part_of_stats(answer(), "port", "n3"));
  EXPECT_THAT(port, AllOf(HasSubstr("received_bytes"), Not(HasSubstr("air")), Not(HasSubstr("drops"))));
  const std::string workers = render_stats(*part_of_stats(answer(), "workers", ""));
  EXPECT_THAT(workers, AllOf(HasSubstr("cycles"), Not(HasSubstr("dl_headers")), Not(HasSubstr("tx_full"))));
  EXPECT_EQ(part_of_stats(answer(), "workers", "w0").value()["workers"].size(), 1U);
  EXPECT_EQ(*part_of_stats(answer(), "", ""), answer());
}

TEST(CtlStats, an_unknown_part_or_name_is_refused_with_those_that_there_are) {
  EXPECT_THAT(part_of_stats(answer(), "drosp", "").error().message,
              AllOf(HasSubstr("did you mean 'drops'?"), HasSubstr("allowed: totals, ports")));
  EXPECT_THAT(part_of_stats(answer(), "ports", "n4").error().message, HasSubstr("allowed: n3, air"));
  EXPECT_FALSE(part_of_stats(answer(), "totals", "x"));
}

TEST(CtlStats, odd_answers_do_no_harm) {
  for (const char* text :
       {"{}", R"({"ports": 5, "workers": {"a": 1}, "totals": []})", R"({"workers": [1, null, {"drops": 3}]})",
        R"({"cards": [{"ports": [{"x": {"y": [1]}}]}]})"}) {
    EXPECT_NO_THROW((void)render_stats(Json::parse(text))) << text;
  }
}

}  // namespace
}  // namespace splitplane::app
