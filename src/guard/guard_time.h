// The time of a burst, read once for all its packets. It counts from the machine's start and goes on over restarts of
// the program, so that what a state file keeps stays comparable.
#pragma once

#include <cstdint>

namespace splitplane::guard {

struct GuardTime {
  std::uint64_t ticks = 0;         // of the TSC
  std::uint64_t milliseconds = 0;  // since the machine started
  std::uint32_t seconds = 0;
};

// Milliseconds from ticks. `begin_ms` is the time at `begin_ticks`.
class GuardClock {
 public:
  GuardClock(std::uint64_t ticks_per_second, std::uint64_t begin_ticks, std::uint64_t begin_ms)
      : per_ms_(ticks_per_second / 1000), begin_ticks_(begin_ticks), begin_ms_(begin_ms) {}
  // By CLOCK_BOOTTIME and the TSC, now.
  [[nodiscard]] static GuardClock of_this_machine();

  [[nodiscard]] GuardTime at(std::uint64_t ticks) const {
    const std::uint64_t ms = begin_ms_ + (ticks - begin_ticks_) / per_ms_;
    return {ticks, ms, static_cast<std::uint32_t>(ms / 1000)};
  }
  [[nodiscard]] std::uint64_t ticks_per_ms() const { return per_ms_; }

 private:
  std::uint64_t per_ms_, begin_ticks_, begin_ms_;
};

}  // namespace splitplane::guard
