// What the air does to frames: loss, single or in bursts, duplicates, delay, jitter, reordering. It is pure and seeded,
// and the caller passes the time in ticks of any clock. The same seed, frames and times have the same results on every
// machine.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace splitplane::phy {

using Ticks = std::uint64_t;

// For one direction. A lost frame is neither delayed nor doubled. A copy has a separate delay.
struct Impairments {
  double loss_percent = 0;
  double burst_length = 1;       // mean number of losses in a row (Gilbert-Elliott, two states)
  double duplicate_percent = 0;  // of the frames that are not lost
  double delay_us = 0;
  double jitter_us = 0;        // uniform from 0 to this, on top of the delay
  double reorder_percent = 0;  // of the frames that are not lost: these get no delay, so they overtake others

  // True if reordering is set without effect: a frame can overtake others only if those are delayed.
  [[nodiscard]] bool reorder_in_vain() const { return reorder_percent > 0 && delay_us == 0 && jitter_us == 0; }
};

// One row for each member. The configuration file, control protocol and command line take names and limits from here.
struct ImpairmentRow {
  std::string_view name;
  double Impairments::* field;
  double min, max;
  std::string_view help;
};
// clang-format off
inline constexpr std::array<ImpairmentRow, 6> kImpairments{{
    {"loss_percent", &Impairments::loss_percent, 0, 100, "Frames lost, in percent"},
    {"burst_length", &Impairments::burst_length, 1, 1e6, "Mean number of losses in a row, 1: independent"},
    {"duplicate_percent", &Impairments::duplicate_percent, 0, 100, "Frames that come twice, in percent"},
    {"delay_us", &Impairments::delay_us, 0, 1e7, "Delay of each frame"},
    {"jitter_us", &Impairments::jitter_us, 0, 1e7, "Further delay, uniform from 0 to this"},
    {"reorder_percent", &Impairments::reorder_percent, 0, 100, "Frames that overtake, not delayed, in percent"}}};
// clang-format on

struct Fate {
  bool lost = false;
  bool in_burst = false;  // lost, and the frame before was lost too
  bool doubled = false;
  Ticks due = 0, copy_due = 0;
};

// Every decision draws from a separate stream, one number per frame. So the result for frame n depends on the seed, on
// n and on the settings of that decision, not on the others. For example, adding a delay loses the same frames.
class Impairment {
 public:
  Impairment(std::uint64_t seed, double ticks_per_us, const Impairments& wanted);

  // Applies from the next frame on; the streams continue.
  void set(const Impairments& wanted);
  [[nodiscard]] const Impairments& settings() const { return settings_; }

  [[nodiscard]] Fate next(Ticks now) {
    const bool after_loss = losing_;
    losing_ = loss_.unit() <= (losing_ ? go_on_ : begin_);
    const bool doubled = duplicate_.unit() <= duplicate_share_;
    const bool overtakes = reorder_.unit() <= reorder_share_;
    const Ticks late = now + delay_ + static_cast<Ticks>(jitter_.unit() * jitter_range_);
    const Ticks copy_late = now + delay_ + static_cast<Ticks>(copy_jitter_.unit() * jitter_range_);
    return {losing_, losing_ && after_loss, doubled && !losing_, overtakes ? now : late, copy_late};
  }

 private:
  Random loss_, duplicate_, reorder_, jitter_, copy_jitter_;
  double ticks_per_us_;
  Impairments settings_;
  double begin_ = 0, go_on_ = 0;  // probability of a loss after a frame that passed, and after one that was lost
  double duplicate_share_ = 0, reorder_share_ = 0, jitter_range_ = 0;
  Ticks delay_ = 0;
  bool losing_ = false;
};

}  // namespace splitplane::phy
