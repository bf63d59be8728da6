// Watts from the states of cores: what each state adds, where nothing is said, and the band.
#include "power/model/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace splitplane::power::model {
namespace {

using testing::HasSubstr;

Profile table_profile() {
  Profile profile{.name = "table", .base_watts = 86, .first_core_watts = 10.2, .active_watts = 4.37};
  profile.pause_share = 1;
  profile.second_thread_watts = 0.26;
  profile.fit = Fit{.rmse_watts = 0.37, .max_watts = 0.69, .points = 8, .parameters = 4};
  profile.range = {.packages = 1, .cores = 6, .threads_per_core = 2};
  return profile;
}

Profile scaled_profile() {
  Profile profile{.name = "scaled", .base_watts = 50, .first_core_watts = 20, .active_watts = 4};
  profile.pause_share = 0.5;
  profile.tpause_watts = 1.5;
  profile.c1_watts = 1;
  profile.c6_watts = 0.1;
  profile.p_states = PStates{.nominal_mhz = 2000, .leakage_watts = 1, .volts = {{1000, 0.5}, {2000, 1}, {3000, 1.2}}};
  profile.range = {.packages = 2, .cores = 4};
  profile.assumed = {"c1_watts", "volts"};
  return profile;
}

Residency running(double mhz, double active, double pause = 0, double c1 = 0, double c6 = 0) {
  return {.running = {{mhz, active, pause}}, .c1 = c1, .c6 = c6};
}

TEST(Profile, the_table_of_threads_comes_back_within_the_error_of_its_fit) {
  const std::vector<std::pair<unsigned, double>> table{{0, 86},  {1, 100}, {2, 105}, {3, 110},
                                                       {4, 114}, {5, 118}, {6, 122}, {12, 124}};
  for (const auto& [threads, watts] : table) {
    std::vector<Residency> cores(threads, running(0, 1));
    for (std::size_t i = 6; i < cores.size(); ++i) cores[i].second_thread = true;
    const Estimate got = estimate(table_profile(), cores);
    EXPECT_NEAR(got.watts, watts, 0.7) << threads;
    EXPECT_NEAR(got.high - got.watts, 0.69, 1e-9);
  }
}

TEST(Profile, each_state_adds_its_watts_for_its_share_of_the_time) {
  const Profile profile = scaled_profile();
  EXPECT_DOUBLE_EQ(estimate(profile, {}).watts, 50);
  EXPECT_DOUBLE_EQ(estimate(profile, std::vector{running(2000, 1)}).watts, 74);
  EXPECT_DOUBLE_EQ(estimate(profile, std::vector{running(2000, 0, 1)}).watts, 72);
  EXPECT_DOUBLE_EQ(estimate(profile, std::vector{running(2000, 0, 0, 1)}).watts, 71);
  EXPECT_DOUBLE_EQ(estimate(profile, std::vector{running(2000, 0, 0, 0, 1)}).watts, 50.1);
  Residency mixed = running(2000, 0.25, 0.25, 0.125, 0.25);
  mixed.tpause = 0.125;
  EXPECT_DOUBLE_EQ(estimate(profile, std::vector{mixed}).watts,
                   50 + 20 * 0.75 + 1 + 0.5 + 0.125 + 0.1 * 0.25 + 1.5 * 0.125);
}

TEST(Profile, a_package_is_awake_while_any_of_its_cores_is) {
  const Profile profile = scaled_profile();
  std::vector<Residency> cores{running(2000, 0.5, 0, 0, 0.5), running(2000, 0.5, 0, 0, 0.5)};
  EXPECT_NEAR(estimate(profile, cores).watts, 50 + 20 * 0.75 + 2 * (2 + 0.05), 1e-9);
  cores[1].package = 1;
  EXPECT_NEAR(estimate(profile, cores).watts, 50 + 20 * 0.5 * 2 + 2 * (2 + 0.05), 1e-9);
}

TEST(Profile, a_slower_core_takes_less_by_clock_and_square_of_voltage) {
  const Profile profile = scaled_profile();
  EXPECT_DOUBLE_EQ(state_watts(profile, 2000).active, 4);
  EXPECT_DOUBLE_EQ(state_watts(profile, 1000).active, 1 * 0.5 + 3 * 0.5 * 0.25);
  EXPECT_DOUBLE_EQ(state_watts(profile, 1500).active, 1 * 0.75 + 3 * 0.75 * 0.5625);
  EXPECT_DOUBLE_EQ(state_watts(profile, 1000).pause, state_watts(profile, 1000).active / 2);
  EXPECT_DOUBLE_EQ(state_watts(profile, 3000).c1, 1);
  EXPECT_DOUBLE_EQ(mhz_of(profile, 0.5), 1500);
  EXPECT_DOUBLE_EQ(mhz_of(profile, 0.5, 2000), 1000);
  EXPECT_DOUBLE_EQ(mhz_of(table_profile(), 1), 0);
  EXPECT_TRUE(std::isnan(mhz_of(table_profile(), 0.5)));
}

TEST(Profile, outside_its_range_it_says_nan_and_why) {
  const auto refused = [](const Profile& profile, const std::vector<Residency>& cores) {
    const Estimate got = estimate(profile, cores);
    EXPECT_TRUE(std::isnan(got.watts) && std::isnan(got.low) && std::isnan(got.high));
    return got.why;
  };
  const Profile scaled = scaled_profile(), table = table_profile();
  EXPECT_THAT(refused(scaled, {running(800, 1)}), HasSubstr("800 MHz; the profile is of 1000 to 3000"));
  EXPECT_THAT(refused(scaled, {running(3100, 1)}), HasSubstr("3100 MHz"));
  EXPECT_THAT(refused(scaled, {running(0, 1)}), HasSubstr("frequency of a core is not known"));
  EXPECT_THAT(refused(table, {running(2000, 1)}), HasSubstr("no P-states"));
  EXPECT_THAT(refused(table, {running(0, 0.5, 0, 0.5)}), HasSubstr("nothing of C1"));
  EXPECT_THAT(refused(table, std::vector(7, running(0, 1))), HasSubstr("7 cores of package 0; the profile is of 6"));
  EXPECT_THAT(refused(scaled, {running(2000, 0.5)}), HasSubstr("add up to 0.500"));
  EXPECT_THAT(refused(scaled, {running(2000, kUnknown)}), HasSubstr("add up to nan"));
  Residency second = running(2000, 1), elsewhere = running(2000, 1);
  second.second_thread = true;
  EXPECT_THAT(refused(scaled, {running(2000, 1), second}), HasSubstr("two threads of a core"));
  EXPECT_THAT(refused(table, {second}), HasSubstr("more second threads than cores"));
  elsewhere.package = 1;
  EXPECT_THAT(refused(table, {running(0, 1), elsewhere}), HasSubstr("2 packages; the profile is of 1"));
  Residency tpause;
  tpause.tpause = 1;
  EXPECT_THAT(refused(table, {tpause}), HasSubstr("nothing of TPAUSE"));
}

TEST(Profile, a_state_that_no_core_was_in_may_be_unknown) {
  Profile profile = table_profile();
  profile.pause_share = kUnknown;
  EXPECT_DOUBLE_EQ(estimate(profile, std::vector{running(0, 1)}).watts, 86 + 10.2 + 4.37);
  EXPECT_THAT(estimate(profile, std::vector{running(0, 0.5, 0.5)}).why, HasSubstr("nothing of PAUSE"));
}

TEST(Profile, the_band_is_each_assumption_halved_and_doubled) {
  const Profile profile = scaled_profile();
  const Estimate asleep = estimate(profile, std::vector{running(2000, 0, 0, 1)});
  EXPECT_DOUBLE_EQ(asleep.low, 50 + 20 + 0.5);
  EXPECT_DOUBLE_EQ(asleep.high, 50 + 20 + 2);
  const Estimate nominal = estimate(profile, std::vector{running(2000, 1)});
  EXPECT_DOUBLE_EQ(nominal.low, nominal.high) << "nothing of it is assumed";
  const Estimate slow = estimate(profile, std::vector{running(1000, 1)});
  EXPECT_NEAR(slow.high - 70, 1 * 0.75 + 3 * 0.5 * 0.5625, 1e-9) << "half as far from the nominal voltage";
  EXPECT_NEAR(slow.low - 70, 1 * 0.3 + 3 * 0.5 * 0.09, 1e-9) << "no voltage falls to nothing";
}

TEST(Profile, variants_say_what_they_change) {
  std::vector<std::string> names;
  for (const Variant& variant : variants(scaled_profile())) names.push_back(variant.what);
  EXPECT_THAT(names,
              testing::ElementsAre("c1_watts x0.5", "volts x0.5", "all x0.5", "c1_watts x2", "volts x2", "all x2"));
  EXPECT_TRUE(variants(table_profile()).empty());
  Profile pauses = scaled_profile();
  pauses.assumed = {"pause_share"};
  pauses.pause_share = 0.8;
  EXPECT_DOUBLE_EQ(variants(pauses)[1].profile.pause_share, 1) << "PAUSE takes no more than work";
}

}  // namespace
}  // namespace splitplane::power::model
