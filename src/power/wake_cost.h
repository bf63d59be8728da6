// What it costs the core, in CPU time, to sleep and wake up. A timed sleep and one that a packet ends differ greatly:
// on a virtual machine each setting of a timer may leave the guest. Both depend on how long the core was idle. So both
// are measured, and trials measure the kind that is not in use.
#pragma once

#include <algorithm>

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

// When to use the kind of sleep that seems to cost more, because only that shows what it costs now.
class Trials {
 public:
  void end_window() {
    if (--windows_ != 0) return;
    windows_ = kEvery;
    left_ = kRests;
  }
  [[nodiscard]] bool due() const { return left_ != 0; }
  void take() { --left_; }

 private:
  static constexpr unsigned kEvery = 256;  // windows
  static constexpr unsigned kRests = 16;   // enough to learn anew
  unsigned windows_ = 8, left_ = 0;        // the first trial comes soon
};

}  // namespace splitplane::power
