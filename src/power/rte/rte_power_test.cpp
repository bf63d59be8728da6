// DPDK's power library behind a governor: with calls that a test answers, and as it is on a machine without cpufreq.
#include "power/rte/rte_power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "power/governor/test_sysfs.h"
#include "power/rte/pw_compat.h"

namespace splitplane::governor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What the library would do to the files of a core.
struct FakeLibrary {
  const FakeCore& core;
  std::vector<std::uint32_t> khz{2401000, 2400000, 1200000};
  std::string init_fails = {};
  int set_result = 1;
  std::vector<std::uint32_t> set = {};
  int exits = 0;
  bool on_lcore = true;

  RtePowerCalls calls() {
    return {.number_of = [this](unsigned cpu) { return on_lcore ? std::optional(cpu + 100) : std::nullopt; },
            .init = [this](unsigned number) -> Expected<void> {
              EXPECT_EQ(number, 103U);
              if (!init_fails.empty()) return fail("{}", init_fails);
              core.set("cpufreq/scaling_governor", "userspace");
              return {};
            },
            .exit = [this](unsigned) { ++exits; },
            .freqs =
                [this](unsigned, std::uint32_t* list, std::uint32_t most) {
                  for (std::size_t i = 0; i < khz.size() && i < most; ++i) list[i] = khz[i];
                  return static_cast<int>(khz.size());
                },
            .set_freq =
                [this](unsigned number, std::uint32_t index) {
                  EXPECT_EQ(number, 103U);
                  set.push_back(index);
                  return set_result;
                }};
  }
  GovernorSettings settings() {
    GovernorSettings settings = core.settings();
    settings.kind = Kind::rte_power;
    settings.rte_power = [this](const GovernorSettings& of) { return std::make_unique<RtePower>(of, calls()); };
    return settings;
  }
};

TEST(RtePower, sets_by_the_index_of_the_library_and_restores_even_if_the_library_does_not) {
  const FakeCore core;
  core.make_acpi();
  FakeLibrary library{.core = core};
  {
    Governor governor(library.settings());
    ASSERT_EQ(governor.why_not(), "");
    EXPECT_THAT(governor.khz(), ElementsAre(2401000, 2400000, 1200000));
    EXPECT_TRUE(governor.turbo());
    EXPECT_TRUE(governor.take(2, 0));
    EXPECT_THAT(library.set, ElementsAre(0, 2));
    library.set_result = -1;
    EXPECT_FALSE(governor.take(1, 1));
    EXPECT_EQ(governor.errors(), 1U);
  }
  EXPECT_EQ(library.exits, 1);
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
  EXPECT_FALSE(core.owes());
}

TEST(RtePower, what_a_kill_left_comes_back_by_restore) {
  const FakeCore core;
  core.make_acpi();
  FakeLibrary library{.core = core};
  const pid_t child = ::fork();
  if (child == 0) {
    const Governor governor(library.settings());
    ::_exit(governor.p_states() == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "userspace");
  EXPECT_EQ(restore_all(core.loans()).size(), 1U);
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
}

TEST(RtePower, odd_lists_and_refusals_leave_all_as_it_was) {
  const FakeCore core;
  core.make_acpi();
  const auto why_not = [&](const std::function<void(FakeLibrary&)>& change) {
    FakeLibrary library{.core = core};
    change(library);
    const Governor governor(library.settings());
    EXPECT_EQ(governor.p_states(), 1U);
    EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
    EXPECT_FALSE(core.owes());
    return governor.why_not();
  };
  EXPECT_THAT(why_not([](FakeLibrary& l) { l.init_fails = "no driver"; }), HasSubstr("no driver"));
  EXPECT_THAT(why_not([](FakeLibrary& l) { l.on_lcore = false; }), HasSubstr("none runs on core 3 alone"));
  EXPECT_THAT(why_not([](FakeLibrary& l) { l.khz = {}; }), HasSubstr("has 0 frequencies of core 3"));
  EXPECT_THAT(why_not([](FakeLibrary& l) { l.khz = {5, 5}; }), HasSubstr("do not fall"));
  EXPECT_THAT(why_not([](FakeLibrary& l) { l.khz = {5, 0}; }), HasSubstr("do not fall"));
  EXPECT_THAT(why_not([](FakeLibrary& l) { l.set_result = -1; }), HasSubstr("refuses 2401000 kHz"));
  core.remove("cpufreq/scaling_governor");
  FakeLibrary library{.core = core};
  EXPECT_THAT(Governor(library.settings()).why_not(), HasSubstr("scaling_governor: No such file"));
}

TEST(RtePower, of_a_long_list_at_most_sixteen_are_used_with_both_ends) {
  const FakeCore core;
  core.make_acpi();
  FakeLibrary library{.core = core};
  library.khz.clear();
  for (std::uint32_t khz = 3000000; khz >= 1000000; khz -= 50000) library.khz.push_back(khz);
  Governor governor(library.settings());
  EXPECT_EQ(governor.p_states(), kMaxPStates);
  EXPECT_EQ(governor.khz().front(), 3000000U);
  EXPECT_EQ(governor.khz().back(), 1000000U);
  EXPECT_TRUE(governor.take(15, 0));
  EXPECT_EQ(library.set.back(), 40U);
}

// On a machine with cpufreq this core's governor is taken and given back.
TEST(RtePower, the_library_itself_never_calls_a_null_pointer) {
  if (pw_environment() != PM_ENV_NOT_SET) return;
  std::uint32_t khz = 0;
#if RTE_VERSION < RTE_VERSION_NUM(24, 11, 0, 0)
  EXPECT_EQ(pw_freqs(0, &khz, 1), -ENOTSUP);
  EXPECT_EQ(pw_set_freq(0, 0), -ENOTSUP);
#endif
  const FakeCore core;
  core.make_acpi();
  GovernorSettings settings = core.settings();
  settings.kind = Kind::rte_power;
  settings.rte_power = make_rte_power;
  EXPECT_THAT(Governor(settings).why_not(), HasSubstr("rte_power knows"));
  EXPECT_EQ(core.get("cpufreq/scaling_governor"), "schedutil");
}

}  // namespace
}  // namespace splitplane::governor
