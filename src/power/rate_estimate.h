// How fast packets come, from counts in windows of time: a mean that forgets, and a high rate to be safe with.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
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

// How often packets come after a silence. Packets that come together are one train. It is learnt from how much of the
// time without packets passes for each time that some are found.
class TrainRate {
 public:
  explicit TrainRate(Ticks memory) : memory_(static_cast<double>(memory)) {}

  // Packets came after a silence. `unseen`: the length of a sleep that hid when they came; 0: they were seen at once.
  void found(Ticks unseen) {
    trains_ += 1;
    unseen_ += static_cast<double>(unseen);
  }
  // Packets ended a sleep of `rested` after `wake`, in which more may have come.
  void woke(Ticks rested, Ticks wake) {
    trains_ += 1;
    idle_ -= static_cast<double>(std::min(rested, wake));
  }

  // `idle`: the time of the window that had no packets, of `length`.
  void end_window(Ticks idle, Ticks length) {
    idle_ = std::max(0.0, idle_ + static_cast<double>(idle));
    const double keep = memory_ / (memory_ + static_cast<double>(length));
    const double mean = trains_ > 0 ? unseen_ / trains_ : 0;
    // Number of sleeps that found packets. If nearly all did, nothing tells how many trains each of them hid.
    const double share = idle_ > 0 ? trains_ * mean / idle_ : 1;
    crowded_ = share > kMostHits;
    if (idle_ > 0) rate_ = share > kFewHits && !crowded_ ? -std::log(1 - share) / mean : trains_ / idle_;
    trains_ *= keep;
    unseen_ *= keep;
    idle_ *= keep;
  }

  // Trains per tick; not known if crowded().
  [[nodiscard]] double rate() const { return rate_; }
  [[nodiscard]] bool crowded() const { return crowded_; }

 private:
  static constexpr double kFewHits = 1e-3, kMostHits = 0.9;
  double memory_;
  double trains_ = 0, unseen_ = 0, idle_ = 0;
  double rate_ = 0;
  bool crowded_ = false;
};

// How regular the times are at which trains of packets begin: the squared coefficient of variation of the time between
// two, 0 for a clock and 1 for trains at random times.
class Regularity {
 public:
  explicit Regularity(Ticks memory) : memory_(static_cast<double>(memory)) {}

  // A train begins.
  void begin_train(Ticks now) {
    const double gap = static_cast<double>(now - std::exchange(last_, now));
    if (begun_) {
      count_ += 1;
      sum_ += gap;
      squares_ += gap * gap;
    }
    begun_ = true;
  }
  void forget(Ticks length) {
    const double keep = memory_ / (memory_ + static_cast<double>(length));
    count_ *= keep;
    sum_ *= keep;
    squares_ *= keep;
  }
  // 1 until enough trains were seen.
  [[nodiscard]] double variation() const {
    if (count_ < kFewest) return 1;
    const double mean = sum_ / count_;
    return mean > 0 ? std::clamp(squares_ / count_ / (mean * mean) - 1, 0.0, 1.0) : 1;
  }

 private:
  static constexpr double kFewest = 64;
  double memory_;
  double count_ = 0, sum_ = 0, squares_ = 0;
  Ticks last_ = 0;
  bool begun_ = false;
};

// How many packets come at once: the sizes of recent bursts, each weighted by its packets.
class BurstSizes {
 public:
  explicit BurstSizes(Ticks memory) : memory_(static_cast<double>(memory)) {}

  // `packets` came, in a burst or bursts of `size`.
  void see(double size, double packets) {
    weights_[bin_of(size)] += weight_ * packets;
    sum_ += weight_ * packets;
  }
  // Instead of the old weights shrinking, the new ones grow.
  void forget(Ticks length) {
    weight_ *= 1 + static_cast<double>(length) / memory_;
    if (weight_ < kLarge) return;
    for (double& weight : weights_) weight /= weight_;
    sum_ /= weight_;
    weight_ = 1;
  }
  // All but this share of the packets come in bursts of at most this size. It errs to the safe side by a fifth at most.
  // 1 if none came for long.
  [[nodiscard]] double high(double share) const {
    double above = 0;
    std::size_t bin = kBins;
    if (sum_ < weight_ / 2) return 1;
    while (bin > 1 && above + weights_[bin - 1] <= share * sum_) above += weights_[--bin];
    return most_of(bin - 1);
  }

 private:
  static constexpr std::size_t kBins = 64, kExact = 16;
  static constexpr double kLarge = 1e12;
  // One size each below 16, then four for each doubling.
  static std::size_t bin_of(double size) {
    if (size < kExact) return static_cast<std::size_t>(std::max(size, 1.0));
    const double steps = std::ceil(4 * std::log2(size / kExact));
    return std::min(kBins - 1, kExact + static_cast<std::size_t>(steps));
  }
  static double most_of(std::size_t bin) {
    if (bin < kExact) return static_cast<double>(bin);
    return kExact * std::exp2(static_cast<double>(bin - kExact) / 4);
  }

  double memory_;
  std::array<double, kBins> weights_{};
  double weight_ = 1, sum_ = 0;
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
