// CLOCK_MONOTONIC for a loop over slots. Every process of a host reads the same value.
#pragma once

#include <time.h>

#include "phy/slots/slot_clock.h"

namespace splitplane::phy {

class MonotonicTime {
 public:
  // wait_until() sleeps until `spin` before the time, and then looks at the clock without a pause. A sleep ends up to
  // the kernel's timer slack and wake-up time late, so `spin` is what these may take. kNever: no sleep at all.
  static constexpr Ns kNever = ~Ns{0};
  explicit MonotonicTime(Ns spin) : spin_(spin) {}

  [[nodiscard]] Ns now() const {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<Ns>(t.tv_sec) * kSecond + static_cast<Ns>(t.tv_nsec);
  }
  void wait_until(Ns at) const {
    if (spin_ != kNever && at > now() + spin_) {
      const Ns wake = at - spin_;
      const timespec t{.tv_sec = static_cast<time_t>(wake / kSecond), .tv_nsec = static_cast<long>(wake % kSecond)};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);  // a signal ends it early: the loop below goes on
    }
    while (now() < at) {
    }
  }

 private:
  static constexpr Ns kSecond = 1'000'000'000;
  Ns spin_;
};

}  // namespace splitplane::phy
