// How much longer than asked a timed sleep takes on this machine now: a quantile that is learnt from each sleep, for
// the latency budget, and a mean, for what a sleep costs. Neighbours on the machine change both while the worker runs.
#pragma once

#include <algorithm>

#include "power/policy.h"

namespace splitplane::power {

class SleepOvershoot {
 public:
  // Never below `least`, which was measured at the start; never above `most`, so that it can be unlearnt.
  SleepOvershoot(Ticks least, Ticks most, Ticks ticks_per_us)
      : least_(static_cast<double>(least)),
        most_(static_cast<double>(std::max(least, most))),
        us_(static_cast<double>(ticks_per_us)),
        high_(least_),
        mean_(least_) {}

  void learn(Ticks asked, Ticks took) {
    const double over = took > asked ? static_cast<double>(took - asked) : 0;
    mean_ += (std::min(over, most_) - mean_) / 16;
    // It stands still where 15 steps down meet one up: one sleep in 16 takes longer. A packet comes anywhere within a
    // sleep, so about one in a hundred waits longer than such a sleep was to take.
    const double step = std::max(high_, us_) / 16;
    high_ = std::clamp(over > high_ ? high_ + step : high_ - step / 15, least_, most_);
  }

  // Called while the estimate forbids sleeping: nothing is learnt then, and the machine may have become quieter.
  void forget_a_little() {
    high_ -= (high_ - least_) / 256;
    mean_ += (least_ - mean_) / 256;
  }

  // 15 in 16 sleeps overshoot by less.
  [[nodiscard]] Ticks high() const { return static_cast<Ticks>(high_ + 0.5); }
  [[nodiscard]] double mean() const { return mean_; }

 private:
  double least_, most_, us_;
  double high_, mean_;
};

}  // namespace splitplane::power
