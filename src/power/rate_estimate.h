// How fast packets come, from counts in windows of time: a mean that forgets, and a high rate to be safe with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "power/policy.h"

namespace splitplane::power {

// The largest value of this period and the one before it.
class RecentMax {
 public:
  void add(double value) { now_ = std::max(now_, value); }
  void end_period() { before_ = std::exchange(now_, 0); }
  [[nodiscard]] double value() const { return std::max(now_, before_); }

 private:
  double now_ = 0, before_ = 0;
};

class RateEstimate {
 public:
  explicit RateEstimate(Ticks memory) : memory_(static_cast<double>(memory)) {}

  void add_window(std::uint64_t packets, Ticks length) {
    if (length == 0) return;
    const double rate = static_cast<double>(packets) / static_cast<double>(length);
    // Weighted by its length, because a window of a sleeping worker is longer than others.
    const double weight = static_cast<double>(length) / (static_cast<double>(length) + memory_);
    mean_ = begun_ ? mean_ + weight * (rate - mean_) : rate;
    begun_ = true;
    windows_.end_period();
    windows_.add(rate);
  }

  // Packets per tick.
  [[nodiscard]] double mean() const { return mean_; }
  // The highest of the mean and the last two windows. A rise counts at once, a fall only when it lasts.
  [[nodiscard]] double high() const { return std::max(mean_, windows_.value()); }

 private:
  double memory_;
  bool begun_ = false;
  double mean_ = 0;
  RecentMax windows_;
};

// The fastest rate at which a queue was seen to fill, during a sleep or over a window. It is forgotten slowly, because
// a flood that came once may come again, suddenly.
class FastestFill {
 public:
  explicit FastestFill(Ticks memory) : memory_(static_cast<double>(memory)) {}

  void see(std::uint64_t packets, Ticks length) {
    if (length != 0) rate_ = std::max(rate_, static_cast<double>(packets) / static_cast<double>(length));
  }
  void forget(Ticks length) { rate_ *= memory_ / (memory_ + static_cast<double>(length)); }

  // Packets per tick.
  [[nodiscard]] double rate() const { return rate_; }

 private:
  double memory_;
  double rate_ = 0;
};

}  // namespace splitplane::power
