// The earlier values come back, whichever process ended and however.
#include "power/governor/loan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <thread>

#include "power/governor/test_sysfs.h"

namespace splitplane::governor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A driver, and what a governor changes of it.
struct Driver {
  void (FakeCore::*make)() const;
  std::string file, before;
  unsigned p_states;
};
const std::array kDrivers{Driver{&FakeCore::make_acpi, "cpufreq/scaling_governor", "schedutil", 5},
                          Driver{&FakeCore::make_intel_active, "cpufreq/scaling_max_freq", "3700000", 10}};

// A process that changes values and dies without restoring them.
void crash(const FakeCore& core) {
  const pid_t child = ::fork();
  if (child == 0) {
    Governor governor(core.settings());
    ::_exit(governor.take(3, 0) && governor.p_state() == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST(Loan, what_a_crash_left_is_given_back_by_restore_all) {
  for (const Driver& driver : kDrivers) {
    SCOPED_TRACE(driver.file);
    FakeCore core;
    (core.*driver.make)();
    crash(core);
    EXPECT_NE(core.get(driver.file), driver.before);
    const auto restored = restore_all(core.loans());
    ASSERT_EQ(restored.size(), 1U);
    EXPECT_THAT(restored[0].name, StartsWith("cpu3.frequency"));
    EXPECT_THAT(restored[0].refused, IsEmpty());
    EXPECT_EQ(core.get(driver.file), driver.before);
    EXPECT_THAT(restore_all(core.loans()), IsEmpty());
  }
}

TEST(Loan, the_next_owner_gives_back_first_and_remembers_what_was_there_before_the_crash) {
  for (const Driver& driver : kDrivers) {
    SCOPED_TRACE(driver.file);
    FakeCore core;
    (core.*driver.make)();
    crash(core);
    {
      Governor governor(core.settings());
      EXPECT_EQ(governor.p_states(), driver.p_states);
    }
    EXPECT_EQ(core.get(driver.file), driver.before);
    EXPECT_FALSE(core.owes());
  }
}

// The owner removes the loan's file and the next owner makes it anew, between any two steps of restore_all.
TEST(Loan, restore_all_never_takes_the_place_of_a_living_owner) {
  FakeCore core;
  core.make_acpi();
  std::atomic<bool> stop{false};
  std::thread restorer([&] {
    while (!stop.load()) static_cast<void>(restore_all(core.loans()));
  });
  unsigned lent = 0, lost = 0;
  for (int i = 0; i < 4'000; ++i) {
    auto loan = Loan::begin(core.loans(), "x");
    if (!loan || !loan->change(core.cpufreq() + "/scaling_governor", "userspace")) continue;
    ++lent;
    std::this_thread::yield();
    lost += core.owes() ? 0 : 1;
  }
  stop.store(true);
  restorer.join();
  EXPECT_GT(lent, 100U);
  EXPECT_EQ(lost, 0U);
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
  crash(core);
  core.remove("cpufreq/scaling_governor");
  EXPECT_THAT(restore_all(core.loans())[0].refused.at(0), HasSubstr("scaling_governor: No such file"));
  EXPECT_TRUE(core.owes());
  const Governor next(core.settings());
  EXPECT_EQ(next.p_states(), 1U);
  EXPECT_THAT(next.why_not(), HasSubstr("what a run before left could not be given back"));
}

TEST(Loan, what_belongs_to_a_tree_that_is_gone_is_forgotten) {
  FakeCore core;
  std::filesystem::create_directories(core.loans());
  std::ofstream(core.loans() + "/x.loan")
      << "/nowhere/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor\tpowersave\n";
  const auto restored = restore_all(core.loans());
  ASSERT_EQ(restored.size(), 1U);
  EXPECT_EQ(restored[0].root, "/nowhere/sys");
  EXPECT_THAT(restored[0].refused, IsEmpty());
  EXPECT_FALSE(core.owes());
}

TEST(Loan, nothing_left_is_no_error) {
  FakeCore core;
  EXPECT_THAT(restore_all(core.loans()), IsEmpty());
}

}  // namespace
}  // namespace splitplane::governor
