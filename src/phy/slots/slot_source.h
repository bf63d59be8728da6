// Where a loop over slots gets its next one: from real time, or stepped. In stepped time a slot begins as soon as the
// owner asks, so a load is measured or tested as fast as the machine runs.
#pragma once

#include <concepts>

#include "phy/slots/slot_clock.h"

namespace splitplane::phy {

// wait() returns the next slot when it has begun.
template <class S>
concept SlotSource = requires(S source) {
  { source.wait() } -> std::same_as<Tick>;
};

// A clock that can wait. MonotonicTime is the real one; tests pass another.
template <class T>
concept WaitingTime = requires(T time, Ns at) {
  { time.now() } -> std::same_as<Ns>;
  time.wait_until(at);
};

template <WaitingTime Time>
class RealSlots {
 public:
  RealSlots(Time& time, Slot first, Ns start) : time_(time), clock_(first, start) {}

  [[nodiscard]] Tick wait() {
    while (true) {
      time_.wait_until(clock_.next_begin());
      if (const auto tick = clock_.poll(time_.now())) return *tick;
    }
  }
  [[nodiscard]] const SlotClock& clock() const { return clock_; }

 private:
  Time& time_;
  SlotClock clock_;
};

// Each slot begins when the one before is done: none is late or missed. Time moves by one slot a wait().
class SteppedSlots {
 public:
  explicit SteppedSlots(Slot first) : clock_(first, 0) {}

  [[nodiscard]] Tick wait() {
    now_ = clock_.next_begin();
    return *clock_.poll(now_);
  }
  [[nodiscard]] Ns now() const { return now_; }

 private:
  SlotClock clock_;
  Ns now_ = 0;
};

}  // namespace splitplane::phy
