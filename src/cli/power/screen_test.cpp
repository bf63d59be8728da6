// What people see of power policies: shares of time between two looks, and every line of a worker.
#include "cli/power/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

Json answer_with(std::uint64_t busy, std::uint64_t idle, std::uint64_t paused, std::uint64_t asleep) {
  return {{"workers",
           {{{"name", "w0"},
             {"core", 3},
             {"policy", {{"kind", "budget"}, {"latency_us", 20}}},
             {"state", {{"rate", 1234.5}}},
             {"queues_without_interrupt", {"net_ring0 queue 0"}},
             {"governor", nullptr},
             {"sleeps", 1000},
             {"wakeups", 7},
             {"cpu_cycles", busy + idle + asleep / 4},
             {"cycles", {{"busy", busy}, {"idle", idle}, {"paused", paused}, {"asleep", asleep}}}}}}};
}

TEST(PowerScreen, shares_are_of_the_time_between_two_looks_and_pauses_are_not_polling) {
  const Json before = answer_with(100, 1000, 500, 0);
  Json now = answer_with(110, 1030, 520, 60);
  add_shares(now, before);
  const Json& share = now["workers"][0]["share"];
  EXPECT_DOUBLE_EQ(share["busy"], 0.1);
  EXPECT_DOUBLE_EQ(share["idle"], 0.1);
  EXPECT_DOUBLE_EQ(share["paused"], 0.2);
  EXPECT_DOUBLE_EQ(share["asleep"], 0.6);
  EXPECT_DOUBLE_EQ(now["workers"][0]["cpu_share"], 0.55) << "a quarter of each sleep";
}

TEST(PowerScreen, without_an_earlier_look_shares_are_since_the_start) {
  Json now = answer_with(25, 25, 0, 50);
  add_shares(now, nullptr);
  EXPECT_DOUBLE_EQ(now["workers"][0]["share"]["asleep"], 0.5);
  Json never_ran = answer_with(0, 0, 0, 0);
  add_shares(never_ran, nullptr);
  EXPECT_DOUBLE_EQ(never_ran["workers"][0]["share"]["busy"], 0);
}

TEST(PowerScreen, a_worker_has_a_row_and_its_state_below) {
  Json now = answer_with(25, 25, 0, 50);
  add_shares(now, nullptr);
  const std::string text = render_power(now);
  EXPECT_THAT(text, HasSubstr("50.0%"));
  EXPECT_THAT(text, HasSubstr("62.0%")) << "cpu";
  EXPECT_THAT(text, HasSubstr("w0: budget, latency_us 20\n"));
  EXPECT_THAT(text, HasSubstr("interrupts: none from net_ring0 queue 0\n"));
  EXPECT_THAT(text, HasSubstr("frequency: not set by this policy\n"));
  EXPECT_THAT(text, HasSubstr("rate: 1234.5\n"));
}

TEST(PowerScreen, a_frequency_says_where_it_is_or_why_it_stays) {
  Json now = answer_with(1, 0, 0, 0);
  add_shares(now, nullptr);
  Json& governor = now["workers"][0]["governor"];
  governor = {{"p_states", 3}, {"p_state", 2}, {"driver", "acpi-cpufreq"}, {"khz", {2401000, 2400000, 1600000}},
              {"turbo", true}, {"errors", 4}};
  EXPECT_THAT(render_power(now), HasSubstr("frequency: P2 of 3 by acpi-cpufreq, 1600 MHz, 4 refused\n"));
  governor["p_state"] = 0;
  EXPECT_THAT(render_power(now), HasSubstr("2401 MHz (turbo)"));
  governor = {{"p_states", 1}, {"reason", "no cpufreq"}};
  EXPECT_THAT(render_power(now), HasSubstr("frequency: stays as it is: no cpufreq\n"));
}

TEST(PowerScreen, the_list_of_kinds_has_every_setting_with_its_default) {
  EXPECT_THAT(kinds_table(true), HasSubstr("| `budget` | `utilisation` | 0.7 | 0.05 to 1 |"));
  EXPECT_THAT(kinds_table(false), HasSubstr("long_idle_polls"));
  const Json kinds = kinds_json();
  EXPECT_EQ(kinds.size(), 5U);
  EXPECT_TRUE(kinds["busy"].empty());
  EXPECT_EQ(kinds["paper"]["trend_limit"]["default"], 10000);
}

}  // namespace
}  // namespace splitplane::app
