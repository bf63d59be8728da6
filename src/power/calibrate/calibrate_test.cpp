// Costs from what sleeps were like, and profiles from points of a sensor: the arithmetic, and that it runs here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "power/calibrate/costs.h"
#include "power/calibrate/sweep.h"
#include "power/sensor/test_tree.h"

namespace splitplane::power::calibrate {
namespace {

using testing::Each;
using testing::HasSubstr;

std::uint64_t value_of(const std::vector<Cost>& costs, const std::string& name) {
  for (const Cost& cost : costs) {
    if (cost.name == name && cost.ns) return *cost.ns;
  }
  ADD_FAILURE() << name << " has no value";
  return 0;
}

TEST(Costs, of_timed_sleeps_add_up_to_their_lateness_and_their_cpu_time) {
  Sleeps sleeps{.cpu_ns = 100 * 3000.0};
  for (int i = 0; i < 100; ++i) sleeps.over_ns.push_back(i < 95 ? 8000 + i * 100 : 1e7);
  const auto costs = costs_of_timed(sleeps);
  EXPECT_EQ(value_of(costs, "system_call"), 3000U);
  EXPECT_EQ(value_of(costs, "c1_exit"), 0U);
  EXPECT_EQ(value_of(costs, "timer_late"), 8900U - 3000U);
  EXPECT_EQ(value_of(costs, "timer_late_mean"), 12700U - 8900U);
}

TEST(Costs, of_woken_sleeps_are_their_cpu_time_and_the_latency_is_told) {
  const auto costs = costs_of_woken({.over_ns = {20000, 30000, 40000}, .cpu_ns = 15000}, 3000);
  EXPECT_EQ(value_of(costs, "interrupt"), 2000U);
  EXPECT_THAT(costs[0].how, HasSubstr("30000 ns (median)"));
  EXPECT_EQ(value_of(costs_of_woken({.over_ns = {1}, .cpu_ns = 10}, 3000), "interrupt"), 0U);
  EXPECT_FALSE(costs_of_woken({}, 0)[0].ns);
}

TEST(Costs, of_deep_states_are_the_drivers_word_or_stay_assumed) {
  const sensor::FakeTree tree;
  EXPECT_THAT(costs_of_deep_states(tree.root(), 0)[0].how, HasSubstr("no driver of idle states"));
  const std::string idle = "sys/devices/system/cpu/cpu0/cpuidle/state";
  tree.set(idle + "0", {{"name", "POLL"}, {"time", "1"}, {"usage", "1"}});
  tree.set(idle + "1", {{"name", "C1"}, {"time", "1"}, {"usage", "1"}});
  EXPECT_FALSE(costs_of_deep_states(tree.root(), 0)[0].ns);
  tree.set(idle + "2", {{"name", "C6"}, {"time", "1"}, {"usage", "1"}, {"latency", "133"}, {"residency", "600"}});
  EXPECT_EQ(value_of(costs_of_deep_states(tree.root(), 0), "c6_after"), 600'000U);
  EXPECT_EQ(value_of(costs_of_deep_states(tree.root(), 0), "c6_exit"), 133'000U);
  tree.set(idle + "2/disable", "1");
  EXPECT_FALSE(costs_of_deep_states(tree.root(), 0)[0].ns);
}

TEST(Costs, are_printed_as_words_for_replay) {
  EXPECT_EQ(cost_words({{"a", 1, ""}, {"b", std::nullopt, ""}, {"c", 3, ""}}), "--cost a=1 --cost c=3");
}

TEST(Costs, can_be_measured_here) {
  const sensor::FakeTree tree;
  const unsigned last = std::thread::hardware_concurrency() - 1;
  const auto costs = measure_costs({.root = tree.root(), .core = 0, .waker = last, .sleeps = 50});
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_GT(value_of(*costs, "pause_step"), 0U);
  EXPECT_GT(value_of(*costs, "system_call"), 100U);
  EXPECT_LT(value_of(*costs, "system_call"), 1'000'000U);
  EXPECT_THAT(measure_costs({.root = tree.root(), .core = 1000}).error().message, HasSubstr("core 1000: Invalid"));
}

// 40 W asleep, 10 W for the first core, 4 W a core at 2 GHz, PAUSE 0.6 of it; at 1 GHz 0.7 of the voltage.
double truth(const Point& p) {
  const double core = p.mhz == 1000 ? 4 * 0.5 * 0.49 : 4;
  return 40 + (p.active + p.pausing > 0 ? 10 : 0) + p.active * core + p.pausing * core * 0.6;
}

std::vector<Point> points() {
  std::vector<Point> all{{.mhz = 2000},
                         {.active = 1, .mhz = 2000},
                         {.active = 2, .mhz = 2000},
                         {.active = 4, .mhz = 2000},
                         {.pausing = 4, .mhz = 2000},
                         {.active = 4, .mhz = 1000}};
  for (Point& point : all) point.watts = truth(point);
  return all;
}

TEST(Fit, gives_back_what_the_points_were_made_of) {
  const auto profile = fit_profile(points(), 2000);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_NEAR(profile->base_watts, 40, 1e-9);
  EXPECT_NEAR(profile->first_core_watts, 10, 1e-9);
  EXPECT_NEAR(profile->active_watts, 4, 1e-9);
  EXPECT_NEAR(profile->pause_share, 0.6, 1e-9);
  ASSERT_TRUE(profile->p_states);
  EXPECT_NEAR(profile->p_states->volts[0].volts, 0.7, 1e-9);
  EXPECT_NEAR(profile->p_states->volts[1].volts, 1, 1e-9);
  EXPECT_NEAR(profile->fit->max_watts, 0, 1e-9);
  EXPECT_EQ(profile->fit->points, 6U);
  EXPECT_EQ(profile->fit->parameters, 5U);
  EXPECT_EQ(profile->range.cores, 4U);
  EXPECT_TRUE(std::isnan(profile->c1_watts)) << "nothing was measured of it";
}

TEST(Fit, says_how_far_it_is_from_its_points) {
  auto noisy = points();
  noisy[1].watts += 2;
  const auto profile = fit_profile(noisy, 2000);
  ASSERT_TRUE(profile);
  EXPECT_GT(profile->fit->max_watts, 0.5);
  EXPECT_GT(profile->fit->rmse_watts, 0.1);
}

TEST(Fit, without_frequencies_the_profile_has_no_p_states_and_odd_points_are_refused) {
  auto all = points();
  all.pop_back();
  for (Point& point : all) point.mhz = 0;
  const auto profile = fit_profile(all, 0);
  ASSERT_TRUE(profile);
  EXPECT_FALSE(profile->p_states);
  EXPECT_THAT(fit_profile(std::span(all).subspan(1), 0).error().message, HasSubstr("all cores asleep is missing"));
  EXPECT_THAT(fit_profile(std::span(all).first(1), 0).error().message, HasSubstr("active core"));
  for (Point& point : all) point.watts = 100;
  EXPECT_THAT(fit_profile(all, 0).error().message, HasSubstr("does not see them"));
}

// A sensor that reads 10 W and 5 W for each thread of this process beyond the test's own.
class Threads : public sensor::Source {
 public:
  [[nodiscard]] std::string name() const override { return "threads"; }
  [[nodiscard]] Expected<std::vector<sensor::Reading>> sample(std::uint64_t) override {
    const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
    const auto count = std::distance(begin(tasks), end(tasks));
    return std::vector<sensor::Reading>{{.scope = "system", .name = "", .watts = 5 + 5.0 * static_cast<double>(count)}};
  }
};

TEST(Sweep, loads_more_and_more_cores_and_then_sets_frequencies) {
  Threads source;
  std::vector<unsigned> set;
  SweepSettings settings{.cores = {0, 0, 0}, .settle_s = 0.01, .mean_s = 0.1, .khz = {2000000, 1000000}};
  settings.set_frequency = [&](unsigned p_state) {
    set.push_back(p_state);
    return true;
  };
  std::vector<std::string> said;
  const auto got = sweep(settings, source, [&](const std::string& step) { said.push_back(step); });
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->size(), 6U) << "none, one, two, all, all in PAUSE, all at the second frequency";
  EXPECT_THAT(said[4], HasSubstr("3 cores in PAUSE at 2000 MHz"));
  EXPECT_THAT(set, Each(1U));
  EXPECT_NEAR((*got)[3].watts - (*got)[0].watts, 15, 1);
  EXPECT_EQ((*got)[5].mhz, 1000);
  settings.scope = "package";
  EXPECT_THAT(sweep(settings, source, [](const std::string&) {}).error().message,
              HasSubstr("nothing of scope package"));
  settings.scope = "system";
  settings.cores = {1000};
  EXPECT_THAT(sweep(settings, source, [](const std::string&) {}).error().message, HasSubstr("cannot be used"));
}

}  // namespace
}  // namespace splitplane::power::calibrate
