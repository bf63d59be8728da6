// That what was there comes back, whoever ended and however.
#include "power/governor/loan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "power/governor/test_sysfs.h"

namespace splitplane::governor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A process that changes values and dies without a word.
void crash(const FakeCore& core, const std::string& speed) {
  const pid_t child = ::fork();
  if (child == 0) {
    GovernorSettings settings = core.settings();
    Governor governor(settings);
    governor.take(3, 0);
    ::_exit(core.get("cpufreq/scaling_setspeed") == speed ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST(Loan, what_a_crash_left_is_given_back_by_restore_all) {
  FakeCore core;
  core.make_acpi();
  crash(core, "1600000");
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "userspace");
  const auto restored = restore_all(core.loans());
  ASSERT_EQ(restored.size(), 1U);
  EXPECT_THAT(restored[0].name, StartsWith("cpu3.frequency"));
  EXPECT_THAT(restored[0].refused, IsEmpty());
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
  EXPECT_THAT(restore_all(core.loans()), IsEmpty());
}

TEST(Loan, the_next_owner_gives_back_first_and_remembers_what_was_there_before_the_crash) {
  FakeCore core;
  core.make_acpi();
  crash(core, "1600000");
  {
    Governor governor(core.settings());
    EXPECT_EQ(governor.p_states(), 5U);
  }
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
}

TEST(Loan, restore_all_leaves_what_is_in_use) {
  FakeCore core;
  core.make_acpi();
  Governor governor(core.settings());
  const auto restored = restore_all(core.loans());
  ASSERT_EQ(restored.size(), 1U);
  EXPECT_TRUE(restored[0].in_use);
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "userspace");
}

TEST(Loan, a_line_that_a_crash_cut_short_changes_nothing) {
  FakeCore core;
  core.make_acpi();
  std::filesystem::create_directories(core.loans());
  const std::string path = core.cpufreq() + "/scaling_governor";
  std::ofstream(core.loans() + "/x.loan") << path << "\tperformance\n" << core.cpufreq() << "/scaling_min_freq\t5";
  const auto restored = restore_all(core.loans());
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "performance");
  EXPECT_EQ(core.get("cpufreq/scaling_min_freq"), "1200000");
}

TEST(Loan, what_cannot_be_given_back_is_named_and_kept) {
  FakeCore core;
  core.make_acpi();
  crash(core, "1600000");
  core.remove("cpufreq/scaling_governor");
  EXPECT_THAT(restore_all(core.loans())[0].refused.at(0), HasSubstr("scaling_governor: No such file"));
  EXPECT_TRUE(core.owes());
  const Governor next(core.settings());
  EXPECT_EQ(next.p_states(), 1U);
  EXPECT_THAT(next.why_not(), HasSubstr("what a run before left could not be given back"));
}

TEST(Loan, nothing_left_is_no_error) {
  FakeCore core;
  EXPECT_THAT(restore_all(core.loans()), IsEmpty());
}

}  // namespace
}  // namespace splitplane::governor
