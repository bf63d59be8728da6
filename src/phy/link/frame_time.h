// Where in the cycle of 1024 frames a moment is, for the transmit timestamp of P7.
#pragma once

#include "phy/fapi/slot_time.h"

namespace splitplane::phy {

using Time = std::uint64_t;  // microseconds of a clock that never goes back

class FrameTime {
 public:
  static constexpr Time kCycle = 10'240'000;  // 1024 frames of 10 ms

  // A slot of this numerology began at `now`.
  void anchor(std::uint16_t sfn, std::uint16_t slot, unsigned numerology, Time now) {
    at_ = now;
    stamp_ = sfn * Time{10'000} + (slot * Time{1000} >> numerology);
    known_ = true;
  }
  // Microseconds since SFN 0, slot 0; 0 while no slot is known.
  [[nodiscard]] std::uint32_t stamp(Time now) const {
    return known_ ? static_cast<std::uint32_t>((stamp_ + (now - at_)) % kCycle) : 0;
  }

 private:
  Time at_ = 0, stamp_ = 0;
  bool known_ = false;
};

// Slots in a frame of 10 ms, and how many slots `to` is behind `from` in the cycle.
[[nodiscard]] constexpr unsigned slots_per_frame(unsigned numerology) {
  return 10U << numerology;
}
template <class A, class B>
[[nodiscard]] constexpr unsigned slots_between(const A& from, const B& to, unsigned numerology) {
  const unsigned frame = slots_per_frame(numerology), all = (fapi::kMaxSfn + 1U) * frame;
  return (to.sfn * frame + to.slot + all - (from.sfn * frame + from.slot) % all) % all;
}

}  // namespace splitplane::phy
