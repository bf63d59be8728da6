// What going to sleep and coming back costs the core, in its own CPU time. A timed sleep and one that a packet ends
// differ by more than one would guess (on a virtual machine each setting of a timer may leave the guest), and either
// depends on how long the core was idle: so both are measured, the kind that is not in use in trials.
#pragma once

#include <algorithm>

#include "power/policy.h"

namespace splitplane::power {

class WakeCost {
 public:
  // Whether the next rest of this kind is to be metered: looking costs two system calls.
  [[nodiscard]] bool wanted() const { return !known() || unmetered_ >= kEvery - 1; }

  // After each rest of this kind: its CPU time; 0: it was not metered.
  void learn(Ticks cpu) {
    ++unmetered_;
    if (cpu == 0) return;
    unmetered_ = 0;
    double value = static_cast<double>(cpu);
    // What the machine takes away from a running thread looks like its own time.
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
  static constexpr double kMost = 4;     // times the mean: more counts as so much
  double mean_ = 0;
  int told_ = 0;
  unsigned unmetered_ = 0;
};

// When the kind of rest that seems dearer is used nevertheless: only so it is known what it costs now.
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
  unsigned windows_ = 8, left_ = 0;        // the first one soon
};

}  // namespace splitplane::power
