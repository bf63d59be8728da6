// How much longer than requested a timed sleep takes on this machine now. It learns a quantile from each sleep, for the
// latency budget, and a mean, for the cost of a sleep. Neighbors on the machine change both while the worker runs. It
// is not a high quantile: the longer a sleep, the likelier the machine takes the core away meanwhile. That delays a
// packet of a polling worker as well, so shorter sleeps are no remedy.
#pragma once

#include <algorithm>
#include <cmath>

#include "power/policy.h"

namespace splitplane::power {

class SleepOvershoot {
 public:
  // `start` was measured within a few ms, perhaps on a disturbed machine. It is only the first value, and at most half
  // of `most`; otherwise no sleep would ever correct it. The estimate is never above `most`, so that it can fall again.
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
    // A sample may be beyond `most`, so that a mean above it shows. It is not far beyond, so that a few bad sleeps do
    // not determine the mean. If the start is not trusted, its first sleeps count equally.
    if (learnt_ < kMemory) ++learnt_;
    mean_ += (std::min(over, 1.5 * most_) - mean_) / learnt_;
    wide_ += (std::min(over, 8 * most_) - wide_) / learnt_;
    // It is stable where three steps down meet one step up: one sleep in four takes longer.
    const double step = std::max(high_, us_) / 16;
    // What is beyond `most` is the machine's, and a shorter sleep would not help: it counts as `most`.
    tail_ += (std::max(0.0, std::min(over, most_) - high_) - tail_) / kTailMemory;
    high_ = std::clamp(over > high_ ? high_ + step : high_ - step / 3, 0.0, most_);
  }

  // How much earlier than a limit a sleep must be asked to end, so that packets find it beyond the limit for at most
  // `share` of the time. `length`: of the sleep with its overshoot. The times above high() are taken as exponentially
  // distributed. Never less than high().
  [[nodiscard]] Ticks margin(double share, Ticks length) const {
    const double allowed = share * static_cast<double>(length);
    if (tail_ <= allowed || allowed <= 0) return high();
    const double scale = tail_ * kOneIn;  // the mean of those above high(), which one in four are
    return static_cast<Ticks>(std::min(high_ + scale * std::log(tail_ / allowed), 4 * most_) + 0.5);
  }

  // Called while the estimate prevents sleeping. No sleep corrects it then, although the machine may have become
  // quieter.
  void forget_a_little() {
    high_ -= high_ / 256;
    tail_ -= tail_ / 32;
  }

  // Three in four sleeps overshoot by less.
  [[nodiscard]] Ticks high() const { return static_cast<Ticks>(high_ + 0.5); }
  // Changed only by sleeps.
  [[nodiscard]] double mean() const { return mean_; }
  // For a sleep that must not last longer than the ring can hold, even while the value is still being learnt.
  [[nodiscard]] Ticks careful() const {
    return static_cast<Ticks>((known() && mean_ <= most_ ? high_ : std::max({high_, wide_, start_})) + 0.5);
  }
  // True if the mean covers enough sleeps, or if the start was trusted.
  [[nodiscard]] bool known() const { return learnt_ == kMemory; }

 private:
  static constexpr int kMemory = 16;         // sleeps
  static constexpr double kTailMemory = 64;  // sleeps
  static constexpr double kOneIn = 4;        // sleeps are later than high()
  double most_, us_, start_;
  double tail_ = 0;  // the mean, over all sleeps, of how much later than high() they are
  double high_, mean_, wide_;
  int learnt_;
};

}  // namespace splitplane::power
