// What people see of power policies: shares of time between two looks, and every line of a worker.
#include "cli/power/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "power/meter/meter.h"

namespace splitplane::app {
namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST(PowerScreen, a_meter_says_what_is_measured_what_is_modelled_and_what_is_not_known) {
  Json answer = answer_with(1, 0, 0, 0);
  add_shares(answer, nullptr);
  EXPECT_THAT(render_power(answer), Not(HasSubstr("measured")));
  answer["meter"] = nullptr;
  EXPECT_THAT(render_power(answer), HasSubstr("power: neither measured nor modelled"));
  MeterView view{.source = "rapl", .refused = {{"acpi", "no chip"}}};
  view.measured = {{.scope = "package", .name = "package-0", .watts = 81.26, .mean_watts = 80, .packet_joules = 0.002}};
  view.profile = "small";
  view.profile_scope = "system";
  view.citation = "a test";
  view.modelled = {.watts = 90, .low = 80, .high = 120};
  view.cores = {
      {.core = 3, .facts = {.mhz = 2000, .package = 1}, .frequency_by = "APERF/MPERF", .idle_error = "none here"}};
  view.cores[0].residency = power::model::Residency{.running = {{2000, 0.25, 0}}, .c1 = 0.75};
  answer["meter"] = to_json(view);
  std::string text = render_power(answer);
  EXPECT_THAT(text, HasSubstr("measured: by rapl\n    not acpi: no chip\n"));
  EXPECT_THAT(text, HasSubstr("package-0 (package): 81.3 W now, 80.0 W over 20 s, 0.002 J a packet\n"));
  EXPECT_THAT(
      text,
      HasSubstr("modelled: 90.0 W, 80.0 W to 120.0 W by its assumptions\n    profile small, of the system: a test\n"));
  EXPECT_THAT(text, HasSubstr("core 3 of package 1: 2000 MHz by APERF/MPERF; active 25.0%; c1 75.0%\n"));
  EXPECT_THAT(text, HasSubstr("idle not known: none here"));
  view.modelled = {.why = "800 MHz; the profile is of 1000 to 3000"};
  view.error = "gone";
  answer["meter"] = to_json(view);
  text = render_power(answer);
  EXPECT_THAT(text, HasSubstr("modelled: not known: 800 MHz; the profile is of 1000 to 3000"));
  EXPECT_THAT(text, HasSubstr("the last reading failed: gone"));
}

TEST(PowerScreen, the_list_of_kinds_has_every_setting_with_its_default) {
  EXPECT_THAT(kinds_table(true), HasSubstr("| `budget` | `utilisation` | 0.85 | 0.05 to 1 |"));
  EXPECT_THAT(kinds_table(false), HasSubstr("long_idle_polls"));
  const Json kinds = kinds_json();
  EXPECT_EQ(kinds.size(), 7U);
  EXPECT_TRUE(kinds["busy"].empty());
  EXPECT_EQ(kinds["paper"]["trend_limit"]["default"], 10000);
}

}  // namespace
}  // namespace splitplane::app
