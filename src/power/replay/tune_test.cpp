#include "power/replay/tune.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "power/replay/arrivals.h"

namespace splitplane::power::replay {
namespace {

constexpr std::uint64_t kDuration = 1'000'000'000;

// Bursts of 64 every 640 us. A sleep of 10 us adds nothing to the queue, because the whole burst comes at once.
std::vector<std::uint64_t> bursts() {
  return *make_arrivals({.kind = traffic::Arrivals{traffic::Bursts{64}}, .rate = 100'000, .duration_ns = kDuration});
}

std::vector<std::uint64_t> fast() {
  return *make_arrivals({.rate = 20'000, .duration_ns = kDuration});
}

TEST(Tune, takes_the_least_active_thresholds_of_those_that_stay_within_the_tolerance) {
  const Tuned tuned = tune({}, {}, bursts(), kDuration);
  const Tried& best = tuned.tried[tuned.best];
  EXPECT_TRUE(best.good);
  EXPECT_LE(best.queued_p99, tuned.busy.queued_p99 + 32);
  EXPECT_LT(best.active, tuned.tried[0].active / 2);  // than as printed
  for (const Tried& tried : tuned.tried) {
    EXPECT_TRUE(!tried.good || tried.active > best.active - 0.001);
  }
  EXPECT_LT(best.settings.long_idle_polls, 300U);
}

TEST(Tune, with_little_tolerance_it_finds_nothing_that_sleeps_among_packets) {
  // With 20,000 packets a second and wake-ups of 108 us each sleep queues two more packets. A pause of 1 us hardly ever
  // adds any.
  CoreSettings core;
  core.costs.c1_exit = 100'000;
  const Tuned strict = tune({.tolerance_packets = 1}, core, fast(), kDuration);
  const Tuned loose = tune({.tolerance_packets = 32}, core, fast(), kDuration);
  EXPECT_TRUE(strict.tried[strict.best].good);
  EXPECT_LT(strict.tried[strict.best].asleep, 0.02);
  EXPECT_GT(loose.tried[loose.best].asleep, 0.1);
  EXPECT_TRUE(std::any_of(strict.tried.begin(), strict.tried.end(), [](const Tried& tried) { return !tried.good; }));
}

TEST(Tune, marks_nothing_best_when_nothing_is_good) {
  Tuned tuned{.tried = {{.active = 0.2}, {.active = 0.1}}, .best = 1};
  EXPECT_EQ(table(tuned).find("best"), std::string::npos);
  EXPECT_TRUE(to_json(tuned)["best"].is_null());
  tuned.tried[1].good = true;
  EXPECT_NE(table(tuned).find("<- best"), std::string::npos);
  EXPECT_EQ(to_json(tuned)["best"], 1);
}

TEST(Tune, gives_the_same_answer_each_time) {
  CoreSettings core;
  core.p_states = 4;
  const Tuned first = tune({}, core, fast(), kDuration), second = tune({}, core, fast(), kDuration);
  EXPECT_EQ(table(first), table(second));
}

TEST(Tune, searches_gears_and_trend_only_where_the_clock_can_be_set) {
  const auto gears_differ = [](const Tuned& tuned) {
    return std::any_of(tuned.tried.begin(), tuned.tried.end(),
                       [](const Tried& tried) { return tried.settings.max_packets != 96; });
  };
  CoreSettings core;
  EXPECT_FALSE(gears_differ(tune({}, core, fast(), kDuration)));
  core.p_states = 4;
  EXPECT_TRUE(gears_differ(tune({}, core, fast(), kDuration)));
}

TEST(Tune, prints_what_differs_from_the_defaults_as_a_policy_to_paste) {
  PaperSettings settings;
  settings.long_idle_polls = 20;
  settings.trend_limit = 3000;
  EXPECT_EQ(yaml(settings), "policy:\n  kind: paper\n  long_idle_polls: 20\n  trend_limit: 3000\n");
}

}  // namespace
}  // namespace splitplane::power::replay
