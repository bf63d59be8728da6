// The other ways to set a frequency, on files that look like those of their drivers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "power/governor/epp.h"
#include "power/governor/test_sysfs.h"
#include "power/governor/uclamp.h"
#include "power/governor/uncore.h"

namespace splitplane::governor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kPreference = "cpufreq/energy_performance_preference";

void make_epp(const FakeCore& core, const std::string& words = "default performance balance_performance power ") {
  core.make_intel_active();
  core.set(kPreference, "balance_performance");
  core.set("cpufreq/energy_performance_available_preferences", words);
}

GovernorSettings settings_of(const FakeCore& core, Kind kind) {
  GovernorSettings settings = core.settings();
  settings.kind = kind;
  return settings;
}

TEST(Epp, has_two_steps_and_gives_back_what_was_there) {
  const FakeCore core;
  make_epp(core);
  {
    Governor governor(settings_of(core, Kind::epp));
    ASSERT_EQ(governor.why_not(), "");
    EXPECT_THAT(governor.khz(), ElementsAre(3700000, 800000));
    EXPECT_EQ(core.get(kPreference), "performance");
    EXPECT_TRUE(governor.take(1, 0));
    EXPECT_EQ(core.get(kPreference), "power");
    EXPECT_TRUE(governor.take(0, 0));
    EXPECT_EQ(core.get(kPreference), "performance");
    EXPECT_EQ(core.get("cpufreq/scaling_max_freq"), "3700000") << "the limits stay";
  }
  EXPECT_EQ(core.get(kPreference), "balance_performance");
  EXPECT_FALSE(core.owes());
}

TEST(Epp, takes_the_next_best_preference_and_refuses_odd_lists) {
  const FakeCore core;
  make_epp(core, "performance balance_power");
  {
    Governor governor(settings_of(core, Kind::epp));
    EXPECT_TRUE(governor.take(1, 0));
    EXPECT_EQ(core.get(kPreference), "balance_power");
  }
  for (const auto& [words, why] : {std::pair{"default", "has no preference performance; it has: default"},
                                   {"performance", "has no preference balance_power"},
                                   {"", "has no preference performance"}}) {
    make_epp(core, words);
    const Governor governor(settings_of(core, Kind::epp));
    EXPECT_THAT(governor.why_not(), HasSubstr(why));
    EXPECT_EQ(core.get(kPreference), "balance_performance");
  }
  core.remove("cpufreq/energy_performance_available_preferences");
  EXPECT_THAT(Governor(settings_of(core, Kind::epp)).why_not(), HasSubstr("available_preferences: No such file"));
  make_epp(core);
  core.set("cpufreq/cpuinfo_min_freq", "3700000");
  EXPECT_THAT(Governor(settings_of(core, Kind::epp)).why_not(), HasSubstr("does not say between which"));
  EXPECT_FALSE(core.owes());
}

TEST(Epp, a_preference_that_the_kernel_refuses_leaves_everything_as_it_was) {
  const FakeCore core;
  make_epp(core);
  FakeCore::seal(core.make_sealable(kPreference));
  const Governor governor(settings_of(core, Kind::epp));
  EXPECT_EQ(governor.p_states(), 1U);
  EXPECT_THAT(governor.why_not(), HasSubstr("'performance' is refused"));
}

TEST(Epp, what_a_kill_left_comes_back_by_restore) {
  const FakeCore core;
  make_epp(core);
  const pid_t child = ::fork();
  if (child == 0) {
    Governor governor(settings_of(core, Kind::epp));
    ::_exit(governor.take(1, 0) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(core.get(kPreference), "power");
  EXPECT_EQ(restore_all(core.loans()).size(), 1U);
  EXPECT_EQ(core.get(kPreference), "balance_performance");
}

TEST(Uclamp, asks_the_scheduler_for_the_thread_and_needs_schedutil) {
  const FakeCore core;
  core.make_acpi();
  core.set("cpufreq/scaling_governor", "ondemand");
  {
    Governor governor(settings_of(core, Kind::uclamp));
    if (governor.p_states() == 1) {
      EXPECT_THAT(governor.why_not(), HasSubstr("the kernel has no utilization clamping"));
      EXPECT_EQ(core.get("cpufreq/scaling_governor"), "ondemand");
      EXPECT_FALSE(core.owes());
      return;  // a kernel without CONFIG_UCLAMP_TASK
    }
    EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
    EXPECT_TRUE(governor.take(0, 0));
    EXPECT_EQ(governor.writes(), 2U) << "P0 is set on the worker's thread, too";
    EXPECT_TRUE(governor.take(4, 0));
  }
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "ondemand");
}

TEST(Uclamp, without_schedutil_it_says_what_there_is) {
  const FakeCore core;
  core.make_intel_active();
  const Governor governor(settings_of(core, Kind::uclamp));
  EXPECT_THAT(governor.why_not(), HasSubstr("has no governor schedutil; it has: performance powersave"));
  EXPECT_FALSE(core.owes());
}

TEST(NoGovernor, leaves_all_as_it_is) {
  const FakeCore core;
  core.make_acpi();
  for (const Kind kind : {Kind::none, Kind::rte_power}) {
    const Governor governor(settings_of(core, kind));
    EXPECT_EQ(governor.p_states(), 1U);
    EXPECT_NE(governor.why_not(), "");
    EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
    EXPECT_FALSE(core.owes());
  }
}

// Two packages with one die each, beside cpu3.
std::string make_uncore(const FakeCore& core) {
  for (const char* domain : {"package_00_die_00", "package_01_die_00"}) {
    const std::string at = std::string("../intel_uncore_frequency/") + domain;
    core.set(at + "/initial_min_freq_khz", "800000");
    core.set(at + "/initial_max_freq_khz", "2400000");
    core.set(at + "/min_freq_khz", "800000");
    core.set(at + "/max_freq_khz", "2400000");
  }
  return "../intel_uncore_frequency/package_01_die_00/";
}

TEST(Uncore, holds_the_package_at_a_frequency_and_gives_it_back) {
  const FakeCore core;
  const std::string package = make_uncore(core);
  {
    const auto uncore = Uncore::hold(core.settings(), 1, 1500);
    ASSERT_TRUE(uncore) << uncore.error().message;
    EXPECT_EQ(core.get(package + "min_freq_khz"), "1500000");
    EXPECT_EQ(core.get(package + "max_freq_khz"), "1500000");
    EXPECT_EQ(core.get("../intel_uncore_frequency/package_00_die_00/max_freq_khz"), "2400000");
    EXPECT_TRUE(core.owes());
    EXPECT_THAT(Uncore::hold(core.settings(), 1, 1200).error().message, HasSubstr("another worker has it"));
  }
  EXPECT_EQ(core.get(package + "min_freq_khz"), "800000");
  EXPECT_EQ(core.get(package + "max_freq_khz"), "2400000");
  EXPECT_FALSE(core.owes());
}

TEST(Uncore, refuses_what_the_hardware_has_not) {
  const FakeCore core;
  EXPECT_THAT(Uncore::hold(core.settings(), 0, 1500).error().message, HasSubstr("intel_uncore_frequency"));
  const std::string package = make_uncore(core);
  EXPECT_THAT(Uncore::hold(core.settings(), 1, 700).error().message, HasSubstr("700 MHz; allowed: 800 to 2400"));
  EXPECT_THAT(Uncore::hold(core.settings(), 2, 1500).error().message, HasSubstr("no die of package 2"));
  core.set(package + "initial_max_freq_khz", "soon");
  EXPECT_THAT(Uncore::hold(core.settings(), 1, 1500).error().message, HasSubstr("does not say between which"));
  make_uncore(core);
  FakeCore::seal(core.make_sealable(package + "max_freq_khz"));
  EXPECT_THAT(Uncore::hold(core.settings(), 1, 1500).error().message, HasSubstr("is refused"));
  EXPECT_EQ(core.get(package + "min_freq_khz"), "800000") << "what had been changed came back";
  EXPECT_FALSE(core.owes());
}

}  // namespace
}  // namespace splitplane::governor
