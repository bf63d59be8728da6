// A governor on a core in a directory: what it writes, how often, and that it restores everything.
#include "power/governor/governor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "power/governor/test_sysfs.h"

namespace splitplane::governor {
namespace {

using testing::HasSubstr;

void take(Governor& governor, unsigned p_state, std::uint64_t now) {
  static_cast<void>(governor.take(p_state, now));
}

TEST(Governor, sets_a_frequency_where_the_governor_userspace_is_and_gives_all_back) {
  FakeCore core;
  core.make_acpi();
  {
    Governor governor(core.settings());
    EXPECT_EQ(governor.why_not(), "");
    EXPECT_EQ(governor.p_states(), 5U);
    EXPECT_EQ(core.get("cpufreq/scaling_governor"), "userspace");
    EXPECT_EQ(core.get("cpufreq/scaling_setspeed"), "2401000");
    take(governor, 4, 1000);
    EXPECT_EQ(core.get("cpufreq/scaling_setspeed"), "1200000");
    EXPECT_EQ(governor.p_state(), 4U);
    EXPECT_TRUE(core.owes());
  }
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
  EXPECT_EQ(core.get("cpufreq/scaling_max_freq"), "2401000");
  EXPECT_FALSE(core.owes());
}

TEST(Governor, a_speed_that_somebody_had_set_comes_back) {
  FakeCore core;
  core.make_acpi();
  core.set("cpufreq/scaling_governor", "userspace");
  core.set("cpufreq/scaling_setspeed", "1600000");
  {
    Governor governor(core.settings());
  }
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "userspace");
  EXPECT_EQ(core.get("cpufreq/scaling_setspeed"), "1600000");
}

TEST(Governor, moves_both_limits_where_there_is_no_governor_userspace) {
  FakeCore core;
  core.make_intel_active();
  {
    Governor governor(core.settings());
    ASSERT_EQ(governor.p_states(), 10U);
    for (const unsigned p_state : {9, 3, 0, 1}) {
      take(governor, p_state, 0);
      const std::string khz = std::to_string(governor.khz()[p_state]);
      EXPECT_EQ(core.get("cpufreq/scaling_min_freq"), khz);
      EXPECT_EQ(core.get("cpufreq/scaling_max_freq"), khz);
    }
    EXPECT_EQ(core.get("cpufreq/scaling_governor"), "powersave");
  }
  EXPECT_EQ(core.get("cpufreq/scaling_min_freq"), "800000");
  EXPECT_EQ(core.get("cpufreq/scaling_max_freq"), "3700000");
}

TEST(Governor, takes_an_amd_core_in_passive_mode_by_its_speed) {
  FakeCore core;
  core.make_amd_passive();
  Governor governor(core.settings());
  take(governor, governor.p_states() - 1, 0);
  EXPECT_EQ(governor.driver(), "amd-pstate");
  EXPECT_EQ(core.get("cpufreq/scaling_setspeed"), "400000");
}

TEST(Governor, writes_only_what_is_new_and_no_lower_than_the_lowest) {
  FakeCore core;
  core.make_acpi();
  Governor governor(core.settings());
  const auto before = governor.writes();
  for (std::uint64_t now = 0; now < 100; ++now) take(governor, 0, now);
  EXPECT_EQ(governor.writes(), before);
  for (std::uint64_t now = 0; now < 100; ++now) take(governor, 3, now);
  EXPECT_EQ(governor.writes(), before + 1);
  for (std::uint64_t now = 0; now < 100; ++now) take(governor, 31, now);
  EXPECT_EQ(governor.writes(), before + 2);
  EXPECT_EQ(core.get("cpufreq/scaling_setspeed"), "1200000");
}

TEST(Governor, speeds_are_relative_to_the_fastest_and_fall) {
  FakeCore core;
  core.make_acpi();
  const Governor governor(core.settings());
  const auto speed = governor.speed();
  EXPECT_EQ(speed[0], 1.0F);
  for (std::size_t i = 1; i < governor.p_states(); ++i) EXPECT_LT(speed[i], speed[i - 1]);
  EXPECT_NEAR(speed[4], 0.4998, 0.0001);
}

TEST(Governor, without_cpufreq_there_is_one_p_state_and_a_reason_and_no_file) {
  FakeCore core;
  Governor governor(core.settings());
  EXPECT_EQ(governor.p_states(), 1U);
  EXPECT_THAT(governor.why_not(), HasSubstr("cpufreq is not there"));
  take(governor, 5, 1000);
  EXPECT_EQ(governor.writes(), 0U);
  EXPECT_EQ(governor.errors(), 0U);
  EXPECT_FALSE(core.owes());
}

TEST(Governor, a_file_that_takes_nothing_leaves_everything_as_it_was) {
  FakeCore core;
  core.make_acpi();
  FakeCore::seal(core.make_sealable("cpufreq/scaling_setspeed"));
  Governor governor(core.settings());
  EXPECT_EQ(governor.p_states(), 1U);
  EXPECT_THAT(governor.why_not(), HasSubstr("core 3: 2401000 kHz is refused"));
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
  EXPECT_FALSE(core.owes());
}

TEST(Governor, a_file_that_cannot_be_opened_is_named) {
  FakeCore core;
  core.make_acpi();
  core.remove("cpufreq/scaling_setspeed");
  std::filesystem::create_directory(core.cpu() / "cpufreq/scaling_setspeed");
  Governor governor(core.settings());
  EXPECT_THAT(governor.why_not(), HasSubstr("scaling_setspeed: Is a directory"));
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
}

TEST(Governor, refused_writes_are_counted_and_tried_again_only_after_a_while) {
  FakeCore core;
  core.make_acpi();
  const int fd = core.make_sealable("cpufreq/scaling_setspeed");
  Governor governor(core.settings());
  ASSERT_EQ(governor.p_states(), 5U);
  FakeCore::seal(fd);
  for (std::uint64_t now = 0; now < Governor::kPatienceUs; now += 1000) take(governor, 1, now);
  EXPECT_EQ(governor.errors(), 1U);
  EXPECT_EQ(governor.p_state(), 0U);
  take(governor, 1, Governor::kPatienceUs);
  EXPECT_EQ(governor.errors(), 2U);
}

TEST(Governor, a_faster_p_state_does_not_wait_behind_a_refusal_and_stays_owed_until_it_is_in_force) {
  FakeCore core;
  core.make_acpi();
  Governor governor(core.settings());
  ASSERT_TRUE(governor.take(2, 0));
  {
    const Refusal refusal;
    EXPECT_FALSE(governor.take(3, 1000));
    EXPECT_FALSE(governor.take(0, 2000));
    EXPECT_EQ(governor.errors(), 2U) << "it was tried";
    EXPECT_FALSE(governor.take(0, 3000));
    EXPECT_EQ(governor.errors(), 2U) << "but not again at once";
  }
  EXPECT_FALSE(governor.take(0, 1999 + Governor::kPatienceUs));
  EXPECT_TRUE(governor.take(0, 2000 + Governor::kPatienceUs));
  EXPECT_EQ(core.get("cpufreq/scaling_setspeed"), "2401000");
  EXPECT_TRUE(governor.take(1, 2001 + Governor::kPatienceUs)) << "all is as before";
}

TEST(Governor, with_one_of_two_limits_moved_no_p_state_counts_as_in_force) {
  FakeCore core;
  core.make_intel_active();
  const int fd = core.make_sealable("cpufreq/scaling_max_freq");
  Governor governor(core.settings());
  ASSERT_EQ(governor.p_states(), 10U);
  FakeCore::seal(fd);
  EXPECT_FALSE(governor.take(9, 0));
  EXPECT_EQ(core.get("cpufreq/scaling_min_freq"), "800000");
  EXPECT_FALSE(governor.take(0, 1));
  EXPECT_EQ(governor.errors(), 2U);
}

TEST(Governor, a_file_that_vanished_is_counted_at_the_end_and_kept_for_later) {
  FakeCore core;
  core.make_acpi();
  Governor governor(core.settings());
  core.remove("cpufreq/scaling_governor");
  governor.give_back();
  EXPECT_EQ(governor.errors(), 1U);
  EXPECT_EQ(governor.p_states(), 1U);
  EXPECT_TRUE(core.owes());
  core.set("cpufreq/scaling_governor", "userspace");
  EXPECT_TRUE(restore_all(core.loans())[0].refused.empty());
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
}

TEST(Governor, a_core_belongs_to_one_worker_at_a_time) {
  FakeCore core;
  core.make_acpi();
  Governor first(core.settings());
  const Governor second(core.settings());
  EXPECT_EQ(second.p_states(), 1U);
  EXPECT_THAT(second.why_not(), HasSubstr("another worker has it"));
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "userspace");
}

TEST(Governor, cores_of_one_clock_domain_belong_together) {
  FakeCore core;
  core.make_acpi();
  const auto cpus = core.cpu().parent_path();
  std::filesystem::create_directories(cpus / "cpufreq");
  std::filesystem::rename(core.cpu() / "cpufreq", cpus / "cpufreq/policy2");
  for (const char* cpu : {"cpu2", "cpu3"}) {
    std::filesystem::create_directories(cpus / cpu);
    std::filesystem::create_directory_symlink("../cpufreq/policy2", cpus / cpu / "cpufreq");
  }
  GovernorSettings settings = core.settings();
  const Governor first(settings);
  settings.core = 2;
  const Governor second(settings);
  EXPECT_EQ(first.p_states(), 5U);
  EXPECT_THAT(second.why_not(), HasSubstr("core 2: another worker has it"));
}

TEST(Governor, bounds_how_long_the_core_needs_to_wake_up) {
  FakeCore core;
  {
    Governor governor(core.settings());
    ASSERT_TRUE(governor.bound_wake_up(20));
    EXPECT_EQ(core.get("power/pm_qos_resume_latency_us"), "20");
    ASSERT_TRUE(governor.bound_wake_up(0));
    EXPECT_EQ(core.get("power/pm_qos_resume_latency_us"), "n/a");
    governor.free_wake_up();
    EXPECT_EQ(core.get("power/pm_qos_resume_latency_us"), "0");
    ASSERT_TRUE(governor.bound_wake_up(100));
  }
  EXPECT_EQ(core.get("power/pm_qos_resume_latency_us"), "0");
  EXPECT_FALSE(core.owes());
  core.remove("power/pm_qos_resume_latency_us");
  Governor governor(core.settings());
  EXPECT_FALSE(governor.bound_wake_up(20));
}

}  // namespace
}  // namespace splitplane::governor
