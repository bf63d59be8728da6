// What the frequency drivers of Linux show, and what is read from it.
#include "power/governor/frequencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "power/governor/test_sysfs.h"

namespace splitplane::governor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Frequencies read(const FakeCore& core) {
  const auto got = read_frequencies(core.cpufreq());
  if (got) return *got;
  ADD_FAILURE() << got.error().message;
  return {};
}

TEST(Frequencies, acpi_cpufreq_lists_them_and_names_turbo_by_one_megahertz) {
  FakeCore core;
  core.make_acpi();
  const Frequencies got = read(core);
  EXPECT_EQ(got.driver, "acpi-cpufreq");
  EXPECT_TRUE(got.turbo);
  EXPECT_TRUE(got.userspace);
  EXPECT_THAT(got.khz, ElementsAre(2401000, 2400000, 2000000, 1600000, 1200000));
}

TEST(Frequencies, turbo_that_is_switched_off_is_left_out) {
  FakeCore core;
  core.make_acpi();
  core.set("../cpufreq/boost", "0");
  const Frequencies got = read(core);
  EXPECT_FALSE(got.turbo);
  EXPECT_EQ(got.khz.front(), 2400000U);
}

TEST(Frequencies, two_frequencies_that_are_not_one_megahertz_apart_are_no_turbo) {
  FakeCore core;
  core.make_acpi();
  core.set("cpufreq/scaling_available_frequencies", "1200000 2400000");
  const Frequencies got = read(core);
  EXPECT_FALSE(got.turbo);
  EXPECT_THAT(got.khz, ElementsAre(2400000, 1200000));
}

TEST(Frequencies, without_a_list_they_are_steps_from_base_to_lowest_with_turbo_on_top) {
  FakeCore core;
  core.make_intel_active();
  const Frequencies got = read(core);
  EXPECT_TRUE(got.turbo);
  EXPECT_FALSE(got.userspace);
  EXPECT_THAT(got.khz,
              ElementsAre(3700000, 2400000, 2200000, 2000000, 1800000, 1600000, 1400000, 1200000, 1000000, 800000));
  core.set("../intel_pstate/no_turbo", "1");
  EXPECT_EQ(read(core).khz.front(), 2400000U);
}

TEST(Frequencies, there_are_at_most_sixteen_with_both_ends_and_each_lower_than_the_one_before) {
  FakeCore core;
  core.make_amd_passive();
  for (const unsigned highest : {500000, 900000, 1999999, 3400000, 5881000}) {
    core.set("cpufreq/cpuinfo_max_freq", std::to_string(highest));
    core.set("cpufreq/scaling_max_freq", std::to_string(highest));
    const auto khz = read(core).khz;
    EXPECT_LE(khz.size(), kMaxPStates);
    EXPECT_EQ(khz.front(), highest);
    EXPECT_EQ(khz.back(), 400000U);
    EXPECT_TRUE(std::is_sorted(khz.rbegin(), khz.rend(), std::less_equal<>())) << highest;
  }
  std::string list = "3001000 ";
  for (unsigned khz = 3000000; khz >= 800000; khz -= 50000) list += std::to_string(khz) + " ";
  core.set("cpufreq/scaling_available_frequencies", list);
  core.set("cpufreq/scaling_max_freq", "3001000");
  const auto khz = read(core).khz;
  EXPECT_EQ(khz.size(), kMaxPStates);
  EXPECT_EQ(khz[0], 3001000U);
  EXPECT_EQ(khz[1], 3000000U);
  EXPECT_EQ(khz.back(), 800000U);
}

TEST(Frequencies, limits_of_the_machines_owner_are_kept) {
  FakeCore core;
  core.make_acpi();
  core.set("cpufreq/scaling_max_freq", "2000000");
  EXPECT_THAT(read(core).khz, ElementsAre(2000000, 1600000, 1200000));
  core.set("cpufreq/scaling_min_freq", "2000000");
  const auto none = read_frequencies(core.cpufreq());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("one frequency only"));
}

TEST(Frequencies, a_core_without_cpufreq_is_said_to_have_none) {
  FakeCore core;
  const auto got = read_frequencies(core.cpufreq());
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("cpu3/cpufreq is not there: a virtual machine"));
}

TEST(Frequencies, numbers_that_are_none_are_no_frequencies) {
  FakeCore core;
  core.make_intel_active();
  core.set("cpufreq/cpuinfo_max_freq", "fast");
  EXPECT_FALSE(read_frequencies(core.cpufreq()));
}

}  // namespace
}  // namespace splitplane::governor
