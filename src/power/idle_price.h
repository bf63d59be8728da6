// What the time without packets costs in each way to spend it: the mean power, relative to a running core at P0, of a
// worker that pauses, sleeps for a time, or sleeps until an interrupt. Times are ticks.
#pragma once

#include <algorithm>
#include <cmath>

#include "power/cost_table.h"

namespace splitplane::power {

// What a worker knows of itself and its traffic.
struct IdleFacts {
  double poll = 0;            // a round that finds nothing
  double pause = 0;           // length of a pause; 0: it may not pause
  bool timed_pause = false;   // that pause is a tpause
  double sleep = 0;           // a timed sleep with its overshoot; 0: none is allowed
  double sleep_work = 0;      // CPU time of one
  double interrupt = 0;       // the longest sleep until an interrupt; 0: none is allowed
  double interrupt_work = 0;  // CPU time of one
  double wake = 0;            // from a packet until the worker takes it
  double spin = 0;            // polls before it waits for an interrupt
  double gap = 0;             // mean silence between trains of packets
  double deep_after = 0;      // silences from here on are spent in C6
};

class IdlePrice {
 public:
  IdlePrice(const StatePrices& prices, const IdleFacts& facts) : prices_(prices), facts_(facts) {}

  [[nodiscard]] double none() const { return prices_.active; }

  [[nodiscard]] double pause() const {
    if (facts_.pause <= 0) return none();
    return mix(facts_.poll, prices_.active, facts_.pause, facts_.timed_pause ? prices_.tpause : prices_.pause);
  }

  [[nodiscard]] double sleep() const {
    if (facts_.sleep <= 0) return none();
    const double work = std::min(facts_.sleep_work, facts_.sleep);
    const double still = facts_.sleep >= facts_.deep_after ? prices_.c6 : prices_.c1;
    return mix(work + facts_.poll, prices_.active, facts_.sleep - work, still);
  }

  // At this mean silence. Silences are taken as exponentially distributed.
  [[nodiscard]] double interrupt(double gap) const {
    if (facts_.interrupt <= 0) return none();
    // A silence longer than a sleep may be is spent in several.
    const double length = std::min(gap, facts_.interrupt);
    double deep = 0;
    if (facts_.interrupt >= facts_.deep_after && gap > 0)
      deep = (1 + facts_.deep_after / gap) * std::exp(-facts_.deep_after / gap);
    const double still = prices_.c1 + (prices_.c6 - prices_.c1) * deep;
    const double work = facts_.interrupt_work + facts_.spin;
    return mix(work, prices_.active, std::max(0.0, length + facts_.wake - facts_.interrupt_work), still);
  }

  // The mean silence from which interrupts cost less than `other`, while the core gets no deeper than C1.
  [[nodiscard]] double break_even(double other) const {
    const double worth = other - prices_.c1;
    const double work = (facts_.interrupt_work + facts_.spin) * (prices_.active - prices_.c1);
    return worth <= 0 ? 1e18 : std::max(0.0, work / worth - facts_.wake - facts_.spin);
  }

 private:
  static double mix(double time_a, double a, double time_b, double b) {
    const double all = time_a + time_b;
    return all > 0 ? (time_a * a + time_b * b) / all : a;
  }

  StatePrices prices_;
  IdleFacts facts_;
};

}  // namespace splitplane::power
