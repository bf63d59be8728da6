// For the tests of `budget`: a worker under it, with Poisson, constant or bursty arrivals.
#pragma once

#include <map>
#include <random>
#include <string>

#include "power/budget.h"
#include "power/simulated_worker.h"
#include "power/test_ticks.h"

namespace splitplane::power::test {

inline Machine machine(bool interrupts = true) {
  Machine made{.ticks_per_us = kUs,
               .interrupts = interrupts,
               .sleep_overshoot = 10 * kUs,
               .interrupt_latency = 10 * kUs,
               .p_states = 4};
  made.speed = {1.0F, 0.8F, 0.6F, 0.4F};
  return made;
}

class Bench {
 public:
  explicit Bench(const Machine& made = machine(), const BudgetSettings& settings = {.latency_us = 50})
      : policy(settings, made), worker(policy, made, {.sleep_overshoot = 10 * kUs, .interrupt_latency = 10 * kUs}) {}

  void idle(Ticks time) {
    for (const Ticks end = worker.now() + time; worker.now() < end;) last = worker.round(end);
  }
  void constant(double pps, Ticks time) {
    const double gap = 1e6 * static_cast<double>(kUs) / pps;
    for (double at = gap; at < static_cast<double>(time); at += gap)
      worker.arrive(worker.now() + static_cast<Ticks>(at));
    idle(time);
  }
  void poisson(double pps, Ticks time) {
    std::exponential_distribution<double> gap(pps / 1e6 / static_cast<double>(kUs));
    for (double at = gap(random_); at < static_cast<double>(time); at += gap(random_))
      worker.arrive(worker.now() + static_cast<Ticks>(at));
    idle(time);
  }
  void bursts(unsigned size, Ticks period, Ticks time) {
    for (Ticks at = period; at < time; at += period)
      for (unsigned i = 0; i < size; ++i) worker.arrive(worker.now() + at);
    idle(time);
  }
  double shown(const std::string& name) {
    std::map<std::string, double> all;
    policy.show([&](const char* key, double value) { all[key] = value; });
    return all.at(name);
  }

  Budget policy;
  SimulatedWorker<Budget> worker;
  Action last;

 private:
  std::mt19937_64 random_{1};
};

}  // namespace splitplane::power::test
