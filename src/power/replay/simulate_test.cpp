#include "power/replay/simulate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "power/any_policy.h"
#include "power/replay/arrivals.h"
#include "power/replay/replay.h"
#include "power/replay/test_policies.h"

namespace splitplane::power::replay {
namespace {

std::vector<std::uint64_t> poisson(double rate, double seconds, std::uint64_t seed = 1) {
  return *make_arrivals({.rate = rate, .duration_ns = static_cast<std::uint64_t>(seconds * 1e9), .seed = seed});
}

Settings of(Kind kind) {
  return {.kind = kind};
}

std::uint64_t all_time(const CoreResult& result) {
  std::uint64_t sum = 0;
  for (const auto& of_p_state : result.time) {
    for (const std::uint64_t time : of_p_state) sum += time;
  }
  return sum;
}

bool same(const CoreResult& a, const CoreResult& b) {
  return a.time == b.time && a.served == b.served && a.lost == b.lost && a.queued == b.queued &&
         a.queued_counts == b.queued_counts && a.added.counts() == b.added.counts() && a.rounds == b.rounds &&
         a.pauses == b.pauses && a.sleeps == b.sleeps && a.interrupts == b.interrupts && a.rechecks == b.rechecks &&
         a.p_transitions == b.p_transitions;
}

// A queue with Poisson arrivals and a fixed service time D waits rho D / 2 (1 - rho) on average (Pollaczek-Khinchine).
TEST(Simulate, busy_waits_as_long_as_theory_says_of_a_queue_with_fixed_service_time) {
  CoreSettings settings;
  settings.costs.packet = 1000;
  settings.costs.poll = 1;
  settings.costs.round = 0;
  const Replayed run = replay(of(Kind::busy), settings, poisson(500'000, 4), 4'000'000'000);
  EXPECT_NEAR(run.core.added.mean(), 500, 15);
  EXPECT_NEAR(run.share(State::busy), 0.5, 0.005);
}

// Gaps longer than T take exp(-lambda T) of all time if the core wakes in no time. The paper's T here: 300 polls of 80
// ns, 290 of them followed by a pause of 1 us.
TEST(Simulate, paper_is_asleep_for_the_share_of_gaps_that_outlast_its_thresholds) {
  CoreSettings settings;
  settings.costs.c1_exit = settings.costs.c6_exit = settings.costs.interrupt = settings.costs.arm = 0;
  settings.costs.system_call = 0;
  const double t_us = 300 * 0.08 + 290;
  for (const auto& [rate, seconds] : {std::pair{1'000.0, 200.0}, {10'000.0, 20.0}, {100'000.0, 2.0}}) {
    const auto arrivals = poisson(rate, seconds);
    const Replayed run = replay(of(Kind::paper), settings, arrivals, static_cast<std::uint64_t>(seconds * 1e9));
    const double expected = std::exp(-rate * t_us / 1e6);
    EXPECT_NEAR(run.share(State::c1) + run.share(State::c6), expected, 0.002 + 0.01 * expected) << rate;
  }
}

TEST(Simulate, the_same_seed_gives_the_same_run_and_another_seed_another) {
  const auto arrivals = poisson(20'000, 1);
  CoreSettings settings;
  const auto run = [&] { return replay(of(Kind::yield), settings, arrivals, 1'000'000'000).core; };
  const CoreResult first = run();
  EXPECT_TRUE(same(first, run()));
  settings.seed = 2;
  EXPECT_FALSE(same(first, run()));
}

RC_GTEST_PROP(Simulate, no_packet_and_no_time_is_lost_or_counted_twice, ()) {
  CoreSettings settings;
  settings.queues = *rc::gen::inRange(1U, 5U);
  settings.ring = *rc::gen::inRange(32U, 200U);
  settings.interrupts = *rc::gen::arbitrary<bool>();
  settings.timed_pause = *rc::gen::arbitrary<bool>();
  settings.p_states = *rc::gen::inRange(1U, 6U);
  settings.seed = *rc::gen::arbitrary<std::uint64_t>();
  ArrivalsSettings arriving{.rate = std::pow(10, *rc::gen::inRange(30, 73) / 10.0), .duration_ns = 20'000'000};
  arriving.seed = settings.seed;
  if (*rc::gen::arbitrary<bool>()) arriving.kind = traffic::Arrivals{traffic::Bursts{*rc::gen::inRange(1U, 500U)}};
  const auto arrivals = *make_arrivals(arriving);
  const Settings policy = of(static_cast<Kind>(*rc::gen::inRange<unsigned>(0, kKindNames.size())));
  const CoreResult result = replay(policy, settings, arrivals, arriving.duration_ns).core;
  RC_ASSERT(result.arrivals == arrivals.size());
  RC_ASSERT(result.served + result.lost + result.queued == arrivals.size());
  RC_ASSERT(result.added.total() == result.served);
  RC_ASSERT(all_time(result) == arriving.duration_ns);
}

TEST(Simulate, what_happens_before_the_core_has_settled_does_not_count) {
  CoreSettings settings;
  settings.settle_ns = 300'000'000;
  const auto arrivals = poisson(20'000, 1);
  const auto before = static_cast<std::uint64_t>(
      std::lower_bound(arrivals.begin(), arrivals.end(), settings.settle_ns) - arrivals.begin());
  for (const Kind kind : {Kind::busy, Kind::paper, Kind::budget}) {
    const Replayed run = replay(of(kind), settings, arrivals, 1'000'000'000);
    EXPECT_EQ(run.duration_ns, 700'000'000U);
    EXPECT_EQ(all_time(run.core), run.duration_ns);
    EXPECT_EQ(run.core.served + run.core.lost + run.core.queued, run.core.arrivals);
    EXPECT_NEAR(static_cast<double>(run.core.arrivals), static_cast<double>(arrivals.size() - before), 20);
  }
}

// The shortcut of the simulation changes no result.
RC_GTEST_PROP(Simulate, rounds_that_are_skipped_are_as_if_they_had_happened, ()) {
  CoreSettings settings;
  settings.queues = *rc::gen::inRange(1U, 4U);
  settings.timed_pause = *rc::gen::arbitrary<bool>();
  settings.interrupts = *rc::gen::arbitrary<bool>();
  settings.p_states = *rc::gen::inRange(1U, 6U);
  const auto arrivals = poisson(std::pow(10, *rc::gen::inRange(10, 70) / 10.0), 0.25, *rc::gen::inRange(1U, 1000U));
  Settings chosen = of(static_cast<Kind>(*rc::gen::inRange<unsigned>(0, kKindNames.size())));
  chosen.paper.down_dwell_ms = chosen.printed.down_dwell_ms = chosen.budget.dwell_ms = *rc::gen::inRange(1U, 50U);
  AnyPolicy any = make_policy(chosen, machine_of(settings));
  std::visit(
      [&](const auto& policy) {
        auto skipping = policy;
        RoundByRound slow(policy);
        RC_ASSERT(
            same(simulate(settings, arrivals, 250'000'000, skipping), simulate(settings, arrivals, 250'000'000, slow)));
      },
      any);
}

}  // namespace
}  // namespace splitplane::power::replay
