// Policies and schedules of workers as a file has them, from the table of settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gnb/config/test_read.h"
#include "power/settings_table.h"

namespace splitplane::app {
namespace {

using test::parse;
using testing::HasSubstr;

std::string text_with(const std::string& worker_keys) {
  return "ports: {p: {device: net_null0}}\nworkers: {w: {function: l2fwd, core: 0, rx: p, tx: p, " + worker_keys +
         "}}\n";
}

WorkerConfig worker_with(const std::string& worker_keys) {
  const auto config = parse(text_with(worker_keys), "t.yaml");
  if (config) return config->workers[0];
  ADD_FAILURE() << config.error().message;
  return {};
}

std::string refused(const std::string& worker_keys) {
  const auto config = parse(text_with(worker_keys), "t.yaml");
  return config ? "" : config.error().message;
}

TEST(ConfigLoadPower, a_bare_word_is_a_policy_with_its_defaults) {
  for (std::size_t k = 0; k < power::kKindNames.size(); ++k) {
    const WorkerConfig worker = worker_with("policy: " + std::string(power::kKindNames[k]));
    EXPECT_EQ(worker.policy.kind, static_cast<power::Kind>(k));
    for (const auto& row : power::kSettings) EXPECT_EQ(row.get(worker.policy), row.get({})) << row.name;
  }
}

TEST(ConfigLoadPower, every_setting_arrives_in_its_own_member) {
  for (const auto& row : power::kSettings) {
    // In one file with all its relatives, so that the relation between them holds.
    std::string map = "kind: " + std::string(power::kKindNames[static_cast<std::size_t>(row.kind)]);
    power::Settings wanted{.kind = row.kind};
    for (const auto& relative : power::settings_of(row.kind)) {
      const double value = relative.whole ? relative.get({}) + 1 : relative.get({}) / 2;
      relative.set(wanted, value);
      map += fmt::format(", {}: {}", relative.name, value);
    }
    const WorkerConfig worker = worker_with("policy: {" + map + "}");
    EXPECT_EQ(row.get(worker.policy), row.get(wanted)) << row.name;
    EXPECT_NE(row.get(worker.policy), row.get({})) << row.name;
  }
}

TEST(ConfigLoadPower, a_setting_of_another_kind_is_refused_where_it_stands) {
  const std::string line = refused("policy: {kind: budget, empty_rounds: 3}");
  EXPECT_THAT(line,
              HasSubstr("t.yaml:2: workers.w.policy.empty_rounds: does not belong to policy budget; allowed: kind, "
                        "latency_us, spin_us, max_sleep_ms, dwell_ms, utilisation"));
}

TEST(ConfigLoadPower, gears_that_do_not_ascend_are_refused_at_the_key_that_is_there) {
  EXPECT_THAT(
      refused("policy: {kind: paper, max_packets: 64}"),
      HasSubstr("workers.w.policy.max_packets: is 64, and climb_packets is 64; allowed: more than climb_packets"));
  EXPECT_THAT(refused("policy: {kind: paper, short_idle_polls: 400}"),
              HasSubstr("workers.w.policy: long_idle_polls is 300, and short_idle_polls is 400"));
}

TEST(ConfigLoadPower, a_schedule_has_a_priority_only_if_it_is_fifo) {
  const WorkerConfig usual = worker_with("queue: 0");
  EXPECT_EQ(usual.schedule.kind, ScheduleConfig::Kind::kOther);
  const WorkerConfig fifo = worker_with("schedule: fifo, fifo_priority: 99");
  EXPECT_EQ(fifo.schedule.kind, ScheduleConfig::Kind::kFifo);
  EXPECT_EQ(fifo.schedule.fifo_priority, 99U);
  EXPECT_THAT(refused("fifo_priority: 5"), HasSubstr("workers.w.fifo_priority: stands at a worker"));
  EXPECT_THAT(refused("schedule: fifo, fifo_priority: 100"), HasSubstr("is 100; allowed: an integer from 1 to 99"));
}

TEST(ConfigLoadPower, loops_on_one_core_must_all_sleep_and_share) {
  const auto shared = [](const std::string& a, const std::string& b) {
    const auto config = parse(
        "ports: {p: {device: net_null0}, q: {device: net_null1}}\nworkers:\n  a: {function: "
        "l2fwd, core: 0, rx: p, tx: p, " +
            a + "}\n  b: {function: l2fwd, core: 0, rx: q, tx: q, " + b + "}\n",
        "t.yaml");
    return config ? "" : config.error().message;
  };
  EXPECT_EQ(shared("policy: budget", "policy: yield"), "");
  for (const char* kind : {"busy", "paper", "l3fwd"}) {
    EXPECT_THAT(
        shared(fmt::format("policy: {}", kind), "policy: budget"),
        HasSubstr("workers.b.core: 0 is the core of worker a too; allowed: a core of its own, or policy yield or "
                  "budget for both"));
  }
  EXPECT_THAT(shared("policy: yield", "policy: yield, schedule: fifo"), HasSubstr("or schedule other for both"));
}

TEST(ConfigLoadPower, the_root_of_sysfs_is_an_absolute_path) {
  const auto config = parse("sysfs_root: /run/fake-sys\n" + text_with("queue: 0"), "t.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->sysfs_root, "/run/fake-sys");
  const auto refused_path = parse("sysfs_root: sys\n" + text_with("queue: 0"), "t.yaml");
  ASSERT_FALSE(refused_path);
  EXPECT_THAT(refused_path.error().message, HasSubstr("t.yaml:1: sysfs_root: 'sys' is no such path"));
}

}  // namespace
}  // namespace splitplane::app
