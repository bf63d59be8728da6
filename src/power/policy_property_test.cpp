// What every policy guarantees for every machine, settings and traffic, and what only `budget` guarantees.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "power/any_policy.h"
#include "power/simulated_worker.h"
#include "power/test_ticks.h"

namespace splitplane::power {
namespace {

using test::kMs;
using test::kUs;

template <class T>
T pick(T from, T to) {
  return *rc::gen::inRange<T>(from, to + 1);
}

Machine any_machine() {
  Machine made{.ticks_per_us = kUs,
               .queues = pick(1U, 4U),
               .ring = 64U << pick(0U, 6U),
               .burst = 32,
               .interrupts = *rc::gen::arbitrary<bool>(),
               .timed_pause = *rc::gen::arbitrary<bool>(),
               .sleep_overshoot = pick<Ticks>(0, 80 * kUs),
               .interrupt_latency = pick<Ticks>(0, 80 * kUs),
               .p_states = pick(1U, 13U)};
  for (unsigned i = 0; i < made.p_states; ++i) made.speed[i] = 1.0F - 0.05F * static_cast<float>(i);
  return made;
}

Settings any_settings() {
  Settings made;
  made.paper.down_dwell_ms = pick(1U, 20U);
  made.paper.wait_ms = pick(0U, 20U);
  made.metronome.latency_us = pick(1U, 100U);
  made.budget = {
      .latency_us = pick(0U, 200U), .spin_us = pick(0U, 5U), .max_sleep_ms = pick(0U, 20U), .dwell_ms = pick(1U, 20U)};
  return made;
}

// Random rounds, which need not be consistent: the guarantees hold whatever the worker reports. Each run uses one seed,
// because drawing every number through rapidcheck would take most of the time.
struct Traffic {
  const Machine& machine;
  std::mt19937_64 random{pick(0U, 1U << 30)};
  Ticks now = 1'000'000;
  std::vector<QueueRound> queues = std::vector<QueueRound>(machine.queues);

  // From 0 to `most`.
  template <class T>
  T draw(T most) {
    return std::uniform_int_distribution<T>(0, most)(random);
  }

  Round next(const Action& last) {
    Round round;
    if (last.rest != Rest::none) {
      if (last.metered && draw(1) != 0) round.rest_cpu = draw(100 * kUs);
      round.woken = draw(1) != 0;
      round.rested = round.woken ? draw(last.length) : last.length + draw(300 * kUs);
    }
    const Ticks took = 1 + draw(std::array<Ticks, 3>{200, 20 * kUs, 2 * kMs}[draw(2U)]);
    now += round.rested + took;
    const bool quiet = draw(2) != 0;
    for (QueueRound& queue : queues) {
      queue = {};
      if (quiet) continue;
      queue.packets = draw(3) == 0 ? machine.burst : draw(machine.burst);
      if (queue.packets == machine.burst) queue.waiting = draw(machine.ring);
      round.packets += queue.packets;
    }
    round.now = now;
    round.busy = round.packets != 0 ? took : 0;
    if (draw(3) == 0) round.next_timer = now - 10 * kUs + draw(100 * kUs);
    round.queues = queues;
    return round;
  }
};

template <class Policy>
double shown(const Policy& policy, const std::string& name) {
  std::map<std::string, double> all;
  policy.show([&](const char* key, double value) { all[key] = value; });
  return all.at(name);
}

// Runs `check(policy, round, action)` after each of many rounds.
template <class Policy, class Check>
void after_each_round(Policy policy, const Machine& machine, Check check) {
  Traffic traffic{machine};
  Action action;
  for (int i = 0; i < 500; ++i) {
    const Round round = traffic.next(action);
    action = policy.after(round);
    check(policy, round, action);
  }
}

template <class Check>
void of_policies_that_look(Check check) {
  EXPECT_TRUE(rc::check([&] {
    const Machine machine = any_machine();
    const Settings settings = any_settings();
    after_each_round(Paper(settings.paper, machine), machine, check(settings, machine));
    after_each_round(Paper(settings.paper, machine, Paper::Reading::printed), machine, check(settings, machine));
    after_each_round(L3fwd(settings.l3fwd, machine), machine, check(settings, machine));
    after_each_round(Metronome(settings.metronome, machine), machine, check(settings, machine));
    after_each_round(Budget(settings.budget, machine), machine, check(settings, machine));
  }));
}

TEST(PolicyProperty, never_rests_with_work_pending_nor_past_a_timer) {
  of_policies_that_look([](const Settings&, const Machine&) {
    return [](const auto&, const Round& round, const Action& action) {
      if (round.packets != 0 || round.next_timer <= round.now) RC_ASSERT(action.rest == Rest::none);
      if (action.rest != Rest::none) RC_ASSERT(action.length > 0U && action.length <= round.next_timer - round.now);
    };
  });
}

// The worker bounds the sleeps of such a policy by its timers.
TEST(PolicyProperty, one_that_does_not_look_never_rests_when_packets_came) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = any_machine();
    const YieldSettings settings{.empty_rounds = pick(1U, 20U), .sleep_us = pick(1U, 100U)};
    after_each_round(Yield(settings, machine), machine, [](const Yield&, const Round& round, const Action& action) {
      if (round.packets != 0) RC_ASSERT(action.rest == Rest::none);
      if (action.rest != Rest::none) RC_ASSERT(action.length > 0U);
    });
  }));
}

TEST(PolicyProperty, waits_for_an_interrupt_only_where_there_is_one_and_not_for_ever) {
  of_policies_that_look([](const Settings& settings, const Machine& machine) {
    return [&]<class P>(const P&, const Round&, const Action& action) {
      if (action.rest != Rest::interrupt) return;
      const unsigned longest = std::is_same_v<P, Budget>  ? settings.budget.max_sleep_ms
                               : std::is_same_v<P, Paper> ? settings.paper.wait_ms
                                                          : settings.l3fwd.wait_ms;
      RC_ASSERT(machine.interrupts);
      RC_ASSERT(action.length <= longest * kMs);
    };
  });
}

TEST(PolicyProperty, asks_only_for_p_states_that_there_are) {
  of_policies_that_look([](const Settings&, const Machine& machine) {
    return [&machine, last = Action::kKeep](const auto&, const Round&, const Action& action) mutable {
      if (action.p_state == Action::kKeep) return;
      RC_ASSERT(action.p_state >= 0 && action.p_state < static_cast<int>(machine.p_states));
      RC_ASSERT(machine.p_states > 1U);
      RC_ASSERT(action.p_state != std::exchange(last, action.p_state));
    };
  });
}

// l3fwd-power has no dwell, which is one of its defects.
auto steps_down_after_the_dwell(Ticks dwell) {
  return [dwell, last = 0, since = Ticks{0}](const auto&, const Round& round, const Action& action) mutable {
    if (action.p_state == Action::kKeep) return;
    if (action.p_state > last) {
      RC_ASSERT(action.p_state == last + 1);
      RC_ASSERT(round.now - since >= dwell);
    }
    last = action.p_state;
    since = round.now;
  };
}

TEST(PolicyProperty, no_step_down_sooner_than_the_dwell_after_any_step_and_never_two_at_once) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = any_machine();
    const Settings settings = any_settings();
    after_each_round(Paper(settings.paper, machine), machine,
                     steps_down_after_the_dwell(settings.paper.down_dwell_ms * kMs));
    after_each_round(Budget(settings.budget, machine), machine,
                     steps_down_after_the_dwell(settings.budget.dwell_ms * kMs));
  }));
}

TEST(BudgetProperty, a_sleep_and_its_overshoot_stay_within_the_latency_budget) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = any_machine();
    const Settings settings = any_settings();
    const Ticks latency = settings.budget.latency_us * kUs;
    after_each_round(Budget(settings.budget, machine), machine,
                     [&](const Budget& policy, const Round&, const Action& action) {
                       if (action.rest == Rest::pause) RC_ASSERT(action.length <= latency);
                       if (action.rest == Rest::interrupt) RC_ASSERT(shown(policy, "interrupts") == 1);
                       if (action.rest != Rest::sleep) return;
                       RC_ASSERT(static_cast<double>(action.length) / kUs + shown(policy, "overshoot_us") <=
                                 settings.budget.latency_us + 0.01);
                     });
  }));
}

TEST(BudgetProperty, no_more_than_a_quarter_of_the_ring_fills_in_a_sleep_at_the_high_rate) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = any_machine();
    const Settings settings = any_settings();
    after_each_round(Budget(settings.budget, machine), machine,
                     [&](const Budget& policy, const Round&, const Action& action) {
                       if (action.rest != Rest::sleep) return;
                       const double per_us = shown(policy, "rate_high_pps") / 1e6;
                       RC_ASSERT(static_cast<double>(action.length) / kUs * per_us <= machine.ring / 4 + 0.01);
                     });
  }));
}

// At the rate of the last flood, a sleep leaves room for as much again, however slow the traffic was before.
TEST(BudgetProperty, no_ring_runs_over_in_a_rest_at_the_beginning_of_a_flood_like_the_last_one) {
  EXPECT_TRUE(rc::check([] {
    Machine machine = any_machine();
    machine.queues = 1;
    const Settings settings = any_settings();
    const Ticks wake = pick<Ticks>(0, 80 * kUs);
    machine.sleep_overshoot = machine.interrupt_latency = wake;
    const Ticks gap = pick<Ticks>(150, 5000);
    Budget policy(settings.budget, machine);
    SimulatedWorker worker(policy, machine, {100, 100, wake, wake, pick<Ticks>(0, 50) * kUs, pick<Ticks>(0, 50) * kUs});
    for (int flood = 0; flood < 4; ++flood) {
      worker.longest_backlog = 0;
      const Ticks quiet_until = worker.now() + 20 * kMs + pick<Ticks>(0, 100 * kUs);
      while (worker.now() < quiet_until) worker.round(quiet_until);
      const Ticks began = worker.now(), end = began + 5 * kMs;
      for (Ticks at = began + gap; at < end; at += gap) worker.arrive(at);
      while (worker.now() < end) worker.round(end);
      RC_LOG() << "flood " << flood << ": " << worker.longest_backlog << " of " << machine.ring << ", wake " << wake
               << ", gap " << gap << "\n";
      if (flood != 0) RC_ASSERT(worker.longest_backlog <= machine.ring);
    }
  }));
}

// A worker with as little noise as possible. Its wake-ups always take the same time, whatever was measured at the
// start.
template <class Check>
void with_a_constant_load(Check check) {
  EXPECT_TRUE(rc::check([&] {
    Machine machine = any_machine();
    machine.queues = 1;
    Settings settings = any_settings();
    settings.budget.dwell_ms = settings.paper.down_dwell_ms = 5;
    const Ticks cost = pick<Ticks>(100, 2000);
    const Ticks gap = pick<Ticks>(cost + cost / 2, 200 * kUs);
    const Ticks wake = pick<Ticks>(0, 80 * kUs);
    RC_LOG() << machine.p_states << " P-states, ring " << machine.ring << ", interrupts " << machine.interrupts
             << ", overshoot " << machine.sleep_overshoot << ", really " << wake << ", latency "
             << settings.budget.latency_us << ", cost " << cost << ", gap " << gap << "\n";
    check(machine, settings, SimulatedCosts{100, cost, wake, wake}, gap);
  }));
}

template <class Policy>
void settles(Policy policy, const Machine& machine, const SimulatedCosts& costs, Ticks gap) {
  SimulatedWorker worker(policy, machine, costs);
  const Ticks settled = worker.now() + 150 * kMs;
  const Ticks end = settled + 50 * kMs;
  for (Ticks at = worker.now(); at < end; at += gap) worker.arrive(at);
  while (worker.now() < settled) worker.round(settled);
  const unsigned steps = worker.steps;
  while (worker.now() < end) worker.round(end);
  RC_LOG() << typeid(Policy).name() << " at P-state " << worker.p_state << "\n";
  // At most one step down in ten dwells is tried and taken back.
  RC_ASSERT(worker.steps <= steps + 2);
}

TEST(PolicyProperty, under_a_constant_load_the_p_state_settles) {
  with_a_constant_load([](const Machine& machine, const Settings& settings, const SimulatedCosts& costs, Ticks gap) {
    settles(Paper(settings.paper, machine), machine, costs, gap);
    settles(Budget(settings.budget, machine), machine, costs, gap);
  });
}

TEST(BudgetProperty, once_the_wake_up_is_learnt_no_packet_waits_longer_than_the_budget_and_no_ring_fills_in_a_rest) {
  with_a_constant_load([](const Machine& machine, const Settings& settings, const SimulatedCosts& costs, Ticks gap) {
    Budget policy(settings.budget, machine);
    SimulatedWorker worker(policy, machine, costs);
    const Ticks end = worker.now() + 50 * kMs;
    const Ticks wake = costs.sleep_overshoot;
    // What it has learnt varies by a sixteenth. If no sleep keeps the budget, it tries short ones now and then.
    const Ticks longest =
        std::max(settings.budget.latency_us * kUs + wake / 16, wake + std::max(wake / 4, 4 * kUs)) + kUs;
    unsigned late = 0;
    std::mt19937_64 random(pick(0U, 1U << 30));
    std::exponential_distribution<double> next(1.0 / static_cast<double>(gap));
    for (Ticks at = worker.now(); at < end; at += static_cast<Ticks>(next(random))) worker.arrive(at);
    while (worker.now() < end) {
      const Action action = worker.round(end);
      late += std::exchange(worker.longest_rest_wait, 0) > longest ? 1 : 0;
      if (action.rest != Rest::sleep) continue;
      const double per_tick = shown(policy, "rate_high_pps") / 1e6 / kUs;
      RC_ASSERT(static_cast<double>(action.length) * per_tick <= machine.ring / 4 + 0.01);
    }
    RC_ASSERT(late <= 100U);  // from 0 to 80 us in steps of a sixteenth
  });
}

}  // namespace
}  // namespace splitplane::power
