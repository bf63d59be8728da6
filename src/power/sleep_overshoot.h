// How much longer than asked a timed sleep takes on this machine now: a quantile that is learnt from each sleep, for
// the latency budget, and a mean, for what a sleep costs. Neighbours on the machine change both while the worker runs.
// Not a high quantile: the longer a sleep, the likelier the machine takes the core away within it, and that delays a
// packet of a worker that polls as well. Shorter sleeps are no remedy.
#pragma once

#include <algorithm>

#include "power/policy.h"

namespace splitplane::power {

class SleepOvershoot {
 public:
  // `start` was measured within a few ms, perhaps of a disturbed machine: nothing but the value to begin with, and no
  // more than half of `most`, else no sleep would ever correct it. Never above `most`, so that it can be unlearnt.
  SleepOvershoot(Ticks start, Ticks most, Ticks ticks_per_us)
      : most_(static_cast<double>(most)),
        us_(static_cast<double>(ticks_per_us)),
        start_(static_cast<double>(start)),
        high_(std::min(static_cast<double>(start), most_ / 2)),
        mean_(high_),
        wide_(high_),
        learnt_(start > most / 2 ? 0 : kMemory) {}

  void learn(Ticks asked, Ticks took) {
    const double over = took > asked ? static_cast<double>(took - asked) : 0;
    // Beyond `most`, so that a mean above it shows; not far, so that a few sleeps of a bad moment do not make it. Where
    // the start is not believed its first sleeps count alike.
    if (learnt_ < kMemory) ++learnt_;
    mean_ += (std::min(over, 1.25 * most_) - mean_) / learnt_;
    wide_ += (std::min(over, 8 * most_) - wide_) / learnt_;
    // It stands still where three steps down meet one up: one sleep in four takes longer.
    const double step = std::max(high_, us_) / 16;
    high_ = std::clamp(over > high_ ? high_ + step : high_ - step / 3, 0.0, most_);
  }

  // Called while the estimate forbids sleeping: nothing is learnt then, and the machine may have become quieter.
  void forget_a_little() { high_ -= high_ / 256; }

  // Three in four sleeps overshoot by less.
  [[nodiscard]] Ticks high() const { return static_cast<Ticks>(high_ + 0.5); }
  // What only sleeps change.
  [[nodiscard]] double mean() const { return mean_; }
  // For what must not happen, not even while it is being learnt: a sleep that the ring does not outlast.
  [[nodiscard]] Ticks careful() const {
    return static_cast<Ticks>((known() && mean_ <= most_ ? high_ : std::max({high_, wide_, start_})) + 0.5);
  }
  // Enough sleeps are behind the mean, or the start was believed.
  [[nodiscard]] bool known() const { return learnt_ == kMemory; }

 private:
  static constexpr int kMemory = 16;  // sleeps
  double most_, us_, start_;
  double high_, mean_, wide_;
  int learnt_;
};

}  // namespace splitplane::power
