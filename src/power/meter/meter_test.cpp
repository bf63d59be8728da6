// A meter on a tree of files: what it measures, what it models beside that, and what it says when a file vanishes.
#include "power/meter/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "power/sensor/test_tree.h"

namespace splitplane::app {
namespace {

using sensor::FakeTree;
using sensor::kSecond;
using testing::HasSubstr;

const std::string kCpu3 = "sys/devices/system/cpu/cpu3/";

constexpr const char* kProfile = R"(name: small
citation: a test
base_watts: 50
first_core_watts: 20
active_watts: 4
pause_share: 0.5
c1_watts: 1
c6_watts: 0
range: {cores: 2}
assumed: [c1_watts]
)";

MeterSettings settings_of(const FakeTree& tree) {
  return {.machine = {.root = tree.root(), .ipmi_tool = tree.path("absent")}, .tsc_mhz = 2000};
}

void add_cpu(const FakeTree& tree) {
  tree.set(kCpu3 + "topology", {{"physical_package_id", "1"}, {"core_id", "3"}, {"thread_siblings_list", "3"}});
}

struct Loops {
  std::vector<LoopTime> now{{.core = 3}};
  Meter::Look look() {
    return [this] { return now; };
  }
};

std::unique_ptr<Meter> opened(const MeterSettings& settings, Loops& loops) {
  auto meter = Meter::open(settings, loops.look());
  EXPECT_TRUE(meter) << (meter ? "" : meter.error().message);
  return meter ? *std::move(meter) : nullptr;
}

TEST(Residency, shares_of_the_time_between_two_looks_add_up) {
  const LoopTime before{.core = 3, .busy = 100, .idle = 100, .paused = 50, .asleep = 100};
  LoopTime now{.core = 3, .busy = 110, .idle = 150, .paused = 80, .asleep = 140};
  const auto got = residency_between(before, now, {.mhz = 2000, .package = 1});
  ASSERT_TRUE(got);
  EXPECT_DOUBLE_EQ(got->running[0].active, 0.3);
  EXPECT_DOUBLE_EQ(got->running[0].pause, 0.3);
  EXPECT_DOUBLE_EQ(got->c1, 0.4) << "the kernel does not say, so the most that it can take";
  EXPECT_EQ(got->package, 1U);
  now.timed_pause = true;
  EXPECT_DOUBLE_EQ(residency_between(before, now, {})->tpause, 0.3);
  EXPECT_FALSE(residency_between(before, before, {}));
}

TEST(Residency, a_sleep_is_as_deep_as_the_kernels_idle_states_say) {
  const LoopTime none, now{.asleep = 100};
  CoreFacts facts{
      .idle = {{.name = "POLL", .time_us = 10}, {.name = "C1", .time_us = 15}, {.name = "C6", .time_us = 75}}};
  EXPECT_DOUBLE_EQ(residency_between(none, now, facts)->c6, 0.75);
  facts.idle = {{.name = "haltpoll", .time_us = 100}};
  EXPECT_DOUBLE_EQ(residency_between(none, now, facts)->c1, 1);
}

TEST(Meter, measures_watts_and_joules_and_their_share_of_a_packet) {
  const FakeTree tree;
  tree.set("pdu", "100");
  MeterSettings settings = settings_of(tree);
  settings.sensor = "file:" + tree.path("pdu");
  settings.supply = sensor::PowerSupply{};
  Loops loops;
  const auto meter = opened(settings, loops);
  ASSERT_NE(meter, nullptr);
  meter->turn(kSecond);
  tree.set("pdu", "300");
  loops.now[0].packets = 1000;
  meter->turn(3 * kSecond);
  const MeterView view = meter->view();
  EXPECT_EQ(view.source, "file");
  ASSERT_EQ(view.measured.size(), 1U);
  EXPECT_DOUBLE_EQ(view.measured[0].watts, 300);
  EXPECT_DOUBLE_EQ(view.measured[0].joules, 600);
  EXPECT_DOUBLE_EQ(view.measured[0].packet_joules, 0.6);
  EXPECT_NEAR(view.wall_watts, 300 / (0.9 + 0.02 * (300.0 / 920 - 0.2) / 0.3), 1e-9);
  EXPECT_EQ(view.profile, "");
  EXPECT_TRUE(to_json(view).at("modelled").is_null());
}

TEST(Meter, a_sensor_that_fails_later_says_why_and_its_watts_are_gone) {
  const FakeTree tree;
  tree.set("pdu", "100");
  MeterSettings settings = settings_of(tree);
  settings.sensor = "file:" + tree.path("pdu");
  Loops loops;
  const auto meter = opened(settings, loops);
  ASSERT_NE(meter, nullptr);
  meter->turn(kSecond);
  tree.remove("pdu");
  meter->turn(2 * kSecond);
  EXPECT_THAT(meter->view().error, HasSubstr("pdu: No such file"));
  EXPECT_EQ(meter->view().errors, 1U);
  EXPECT_TRUE(std::isnan(meter->view().measured.at(0).watts));
  EXPECT_TRUE(to_json(meter->view()).at("measured")[0].at("watts").is_null());
  tree.set("pdu", "40");
  meter->turn(3 * kSecond);
  EXPECT_EQ(meter->view().error, "");
  EXPECT_DOUBLE_EQ(meter->view().measured.at(0).watts, 40);
}

TEST(Meter, a_chosen_sensor_or_profile_that_cannot_be_read_is_an_error) {
  const FakeTree tree;
  MeterSettings settings = settings_of(tree);
  settings.sensor = "rapl";
  Loops loops;
  EXPECT_THAT(Meter::open(settings, loops.look()).error().message, HasSubstr("sensor rapl: no zone"));
  settings.sensor = "auto";
  settings.profile = tree.path("absent.yaml");
  EXPECT_THAT(Meter::open(settings, loops.look()).error().message, HasSubstr("absent.yaml"));
  settings.profile.clear();
  const auto meter = opened(settings, loops);
  ASSERT_NE(meter, nullptr);
  EXPECT_EQ(meter->view().source, "");
  EXPECT_EQ(meter->view().refused.size(), 4U) << "auto found none, and says why";
}

TEST(Meter, models_watts_from_the_time_of_the_loops_and_never_measures_them) {
  const FakeTree tree;
  add_cpu(tree);
  tree.set("profile.yaml", kProfile);
  MeterSettings settings = settings_of(tree);
  settings.profile = tree.path("profile.yaml");
  Loops loops;
  const auto meter = opened(settings, loops);
  ASSERT_NE(meter, nullptr);
  EXPECT_THAT(meter->view().modelled.why, HasSubstr("no time"));
  meter->turn(kSecond);
  loops.now[0] = {.core = 3, .busy = 250, .idle = 500, .paused = 250, .asleep = 250, .packets = 75};
  meter->turn(2 * kSecond);
  const MeterView view = meter->view();
  EXPECT_TRUE(view.measured.empty());
  EXPECT_DOUBLE_EQ(view.modelled.watts, 50 + 20 + 0.5 * 4 + 0.25 * 2 + 0.25 * 1);
  EXPECT_DOUBLE_EQ(view.modelled.high - view.modelled.watts, 0.25);
  EXPECT_DOUBLE_EQ(view.modelled_packet_joules, view.modelled.watts / 75);
  ASSERT_EQ(view.cores.size(), 1U);
  EXPECT_EQ(view.cores[0].facts.package, 1U);
  EXPECT_THAT(view.cores[0].idle_error, HasSubstr("no driver of idle states"));
  EXPECT_EQ(to_json(view).at("cores")[0].at("residency").at("c1"), 0.25);
}

TEST(Meter, a_profile_with_p_states_needs_the_frequency_and_says_so) {
  const FakeTree tree;
  add_cpu(tree);
  const std::string volts = "p_states: {nominal_mhz: 2000, volts: [{mhz: 1000, volts: 0.7}, {mhz: 2000, volts: 1}]}\n";
  tree.set("profile.yaml", kProfile + volts);
  MeterSettings settings = settings_of(tree);
  settings.profile = tree.path("profile.yaml");
  Loops loops;
  const auto blind = opened(settings, loops);
  tree.set(kCpu3 + "cpufreq/scaling_cur_freq", "1000000");
  const auto meter = opened(settings, loops);
  for (const auto& each : {blind.get(), meter.get()}) {
    ASSERT_NE(each, nullptr);
    loops.now[0].busy = 0;
    if (each == blind.get()) tree.remove(kCpu3 + "cpufreq");
    each->turn(kSecond);
    loops.now[0].busy = 100;
    each->turn(2 * kSecond);
    if (each == blind.get()) tree.set(kCpu3 + "cpufreq/scaling_cur_freq", "1000000");
  }
  EXPECT_TRUE(std::isnan(blind->view().modelled.watts));
  EXPECT_THAT(blind->view().modelled.why, HasSubstr("frequency of a core is not known"));
  EXPECT_NEAR(meter->view().modelled.watts, 70 + 4 * 0.5 * 0.49, 1e-9);
  EXPECT_EQ(meter->view().cores.at(0).frequency_by, "scaling_cur_freq");
}

TEST(Meter, its_thread_looks_until_it_is_stopped) {
  const FakeTree tree;
  tree.set("pdu", "100");
  MeterSettings settings = settings_of(tree);
  settings.sensor = "file:" + tree.path("pdu");
  settings.interval_ms = 1;
  Loops loops;
  const auto meter = opened(settings, loops);
  ASSERT_NE(meter, nullptr);
  meter->start();
  for (int i = 0; i < 5000 && !(meter->view().measured.size() == 1 && meter->view().measured[0].joules > 0); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  meter->stop();
  EXPECT_GT(meter->view().measured.at(0).joules, 0);
}

}  // namespace
}  // namespace splitplane::app
