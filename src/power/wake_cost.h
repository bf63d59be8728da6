// What it costs the core, in CPU time, to sleep and wake up. A timed sleep and one that a packet ends differ greatly:
// on a virtual machine each setting of a timer may leave the guest. Both depend on how long the core was idle. So both
// are measured, and trials measure the kind that is not in use.
#pragma once

#include <algorithm>
#include <utility>

#include "power/policy.h"

namespace splitplane::power {

class WakeCost {
 public:
  // True if the next sleep of this kind is to be metered, which costs two system calls.
  [[nodiscard]] bool wanted() const { return !known() || unmetered_ >= kEvery - 1; }

  // Call it after each sleep of this kind with its CPU time; 0: it was not metered.
  void learn(Ticks cpu) {
    ++unmetered_;
    if (cpu == 0) return;
    unmetered_ = 0;
    double value = static_cast<double>(cpu);
    // Time that the machine takes from a running thread looks like the thread's own time.
    if (known()) value = std::min(value, kMost * mean_);
    if (told_ < kMemory) ++told_;
    mean_ += (value - mean_) / told_;
  }

  [[nodiscard]] bool told() const { return told_ != 0; }
  [[nodiscard]] bool known() const { return told_ == kMemory; }
  [[nodiscard]] double mean() const { return mean_; }

 private:
  static constexpr int kMemory = 8;      // metered rests
  static constexpr unsigned kEvery = 8;  // rests
  static constexpr double kMost = 4;     // times the mean: larger samples count as this
  double mean_ = 0;
  int told_ = 0;
  unsigned unmetered_ = 0;
};

// When to use a kind of sleep that seems to cost more, because only that shows what it costs now. The longer it has
// been so, the more seldom.
class Trials {
 public:
  // `changed`: another kind is in use now.
  void end_window(bool changed = false) {
    if (changed) every_ = kEvery;
    if (--windows_ != 0) return;
    windows_ = every_;
    every_ = std::min(2 * every_, kMostSeldom);
    left_ = kRests;
  }
  [[nodiscard]] bool due() const { return left_ != 0; }
  void take() { --left_; }

 private:
  static constexpr unsigned kEvery = 256;       // windows
  static constexpr unsigned kMostSeldom = 512;  // windows
  static constexpr unsigned kRests = 16;        // enough to learn anew
  unsigned windows_ = 8, left_ = 0;             // the first trial comes soon
  unsigned every_ = kEvery;
};

// Whether to poll for a while before a wait for an interrupt. That saves a wake-up if more packets follow soon, and
// costs the time if none do.
class Spins {
 public:
  // A silence begins. One in some is polled through in any case, to learn whether it pays.
  void begin_silence() {
    ++silences_;
    spun_ = false;
  }
  // True if the worker polls at the beginning of this silence.
  [[nodiscard]] bool due() const { return pays_ || silences_ % kEvery == 0; }
  void spin() { spun_ = true; }
  // The silence ends; `soon`: while the worker still polled.
  void end_silence(bool soon) {
    if (std::exchange(spun_, false)) soon_ += ((soon ? 1 : 0) - soon_) / kMemory;
  }
  // `wake`: CPU time that a wake-up costs, `spin`: how long the worker polls.
  void judge(double wake, double spin) { pays_ = soon_ * wake >= spin; }
  [[nodiscard]] bool pays() const { return pays_; }

 private:
  static constexpr double kMemory = 16;  // silences
  static constexpr unsigned kEvery = 16;
  double soon_ = 1;
  bool pays_ = true, spun_ = false;
  unsigned silences_ = 0;
};

}  // namespace splitplane::power
