// What cores did, by their counters and the kernel's: frequency, idle states, packages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "power/sensor/c_states.h"
#include "power/sensor/frequency.h"
#include "power/sensor/test_tree.h"
#include "power/sensor/topology.h"

namespace splitplane::sensor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kTscMhz = 256 * 2000;  // as MPERF of the fake registers counts 256 times as fast
const std::string kCpu = "sys/devices/system/cpu/";

TEST(CoreFrequency, the_mean_between_two_looks_comes_from_aperf_and_mperf) {
  const FakeTree tree;
  tree.set_msr(3, 1000);
  auto frequency = CoreFrequency::open(tree.root(), 3, kTscMhz);
  ASSERT_TRUE(frequency) << frequency.error().message;
  EXPECT_EQ(frequency->how(), "APERF/MPERF");
  tree.set_msr(3, 3000);
  EXPECT_DOUBLE_EQ(frequency->sample().value(), 2000);
  EXPECT_DOUBLE_EQ(frequency->sample().value(), 0) << "the core did not run";
  tree.set_msr(3, 3001, 255);
  EXPECT_NEAR(frequency->sample().value(), 2000 * 256.0 / 511, 0.01);
}

TEST(CoreFrequency, without_counters_the_kernels_word_counts_and_both_reasons_are_told) {
  const FakeTree tree;
  const auto none = CoreFrequency::open(tree.root(), 3, kTscMhz);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("dev/cpu/3/msr: No such file"));
  EXPECT_THAT(none.error().message, HasSubstr("scaling_cur_freq: No such file"));
  tree.set(kCpu + "cpu3/cpufreq/scaling_cur_freq", "1800000");
  tree.set_msr(3, 0);
  auto frequency = CoreFrequency::open(tree.root(), 3, kTscMhz);
  ASSERT_TRUE(frequency);
  EXPECT_EQ(frequency->how(), "scaling_cur_freq");
  EXPECT_THAT(frequency->why_not_counters(), HasSubstr("stand still at 0"));
  EXPECT_DOUBLE_EQ(frequency->sample().value(), 1800);
  tree.set(kCpu + "cpu3/cpufreq/scaling_cur_freq", "<unknown>");
  EXPECT_THAT(frequency->sample().error().message, HasSubstr("scaling_cur_freq: holds '<unknown>'"));
  tree.remove(kCpu + "cpu3/cpufreq");
  EXPECT_THAT(frequency->sample().error().message, HasSubstr("No such file"));
}

TEST(CoreFrequency, registers_that_only_root_may_read_are_a_reason) {
  const FakeTree tree;
  tree.set_msr(0, 5);
  tree.forbid("dev/cpu/0/msr");
  const AsNobody nobody;
  EXPECT_THAT(CoreFrequency::open(tree.root(), 0, 1).error().message, HasSubstr("msr: Permission denied"));
}

TEST(CStates, the_kernels_counts_are_read_in_order_and_subtracted) {
  const FakeTree tree;
  const std::string idle = kCpu + "cpu1/cpuidle/state";
  EXPECT_THAT(read_c_states(tree.root(), 1).error().message, HasSubstr("no driver of idle states"));
  const std::vector<const char*> names{"POLL", "C1", "C1E", "C6"};
  for (std::size_t i = 0; i < names.size(); ++i)
    tree.set(idle + std::to_string(i),
             {{"name", names[i]}, {"time", "100"}, {"usage", "7"}, {"latency", "2"}, {"disable", "0"}});
  tree.set(idle + "3", {{"above", "5"}, {"below", "6"}, {"disable", "1"}});
  const auto before = read_c_states(tree.root(), 1);
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_EQ(before->size(), 4U);
  EXPECT_TRUE((*before)[3].disabled);
  EXPECT_EQ((*before)[3].above, 5U);
  EXPECT_EQ((*before)[2].above, 0U) << "not counted by this kernel";
  tree.set(idle + "3/time", "600");
  tree.set(idle + "1/time", "0");
  const auto added = since(*before, *read_c_states(tree.root(), 1));
  EXPECT_EQ(added[3].time_us, 500U);
  EXPECT_EQ(added[1].time_us, 0U) << "a counter that fell";
  tree.remove(idle + "3");
  EXPECT_TRUE(since(*before, *read_c_states(tree.root(), 1)).empty());
  tree.remove(idle + "0/usage");
  EXPECT_THAT(read_c_states(tree.root(), 1).error().message, HasSubstr("state0/usage: No such file"));
}

TEST(CStates, names_say_how_deep_a_state_is) {
  const auto depth = [](const char* name) { return CState{.name = name}.depth(); };
  EXPECT_EQ(depth("POLL"), Depth::polls);
  for (const char* name : {"C1", "C1E", "C1_ACPI"}) EXPECT_EQ(depth(name), Depth::c1) << name;
  for (const char* name : {"C2", "C6", "C6P", "C10"}) EXPECT_EQ(depth(name), Depth::deeper) << name;
  for (const char* name : {"haltpoll", "ACPI FFH MWAIT 0x20", "", "C", "C0"}) EXPECT_EQ(depth(name), Depth::unknown);
}

void add_cpu(const FakeTree& tree, int cpu, const char* package, const char* core, const char* threads) {
  tree.set(kCpu + "cpu" + std::to_string(cpu) + "/topology",
           {{"physical_package_id", package}, {"core_id", core}, {"thread_siblings_list", threads}});
}

TEST(Topology, packages_and_second_threads_are_found) {
  const FakeTree tree;
  tree.set(kCpu + "online", "0-3");
  add_cpu(tree, 0, "0", "0", "0,2");
  add_cpu(tree, 1, "1", "0", "1,3");
  add_cpu(tree, 2, "0", "0", "0,2");
  add_cpu(tree, 3, "1", "0", "1,3");
  const auto places = read_topology(tree.root());
  ASSERT_TRUE(places) << places.error().message;
  ASSERT_EQ(places->size(), 4U);
  EXPECT_EQ((*places)[1].package, 1U);
  EXPECT_FALSE((*places)[1].second_thread);
  EXPECT_TRUE((*places)[2].second_thread);
  tree.set(kCpu + "cpu2/topology/thread_siblings_list", "0,,2");
  EXPECT_THAT(read_topology(tree.root()).error().message, HasSubstr("thread_siblings_list: '0,,2' is no list of CPUs"));
  tree.remove(kCpu + "cpu2");
  EXPECT_THAT(read_topology(tree.root()).error().message, HasSubstr("cpu2/topology/physical_package_id: No such file"));
}

TEST(Topology, lists_of_cpus_are_read_or_refused) {
  EXPECT_THAT(cpus_in("0-2,7").value(), ElementsAre(0, 1, 2, 7));
  EXPECT_THAT(cpus_in("").value(), ElementsAre());
  for (const char* text : {"a", "1-", "2-1", "1,", "-1", "0-99999999", "1 2"}) EXPECT_FALSE(cpus_in(text)) << text;
}

}  // namespace
}  // namespace splitplane::sensor
