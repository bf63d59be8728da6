// The P-state of one worker: up at once, down one step at a time and never sooner than the dwell after any step, so
// that no policy built on it swings faster than its dwell.
#pragma once

#include <algorithm>

#include "power/policy.h"

namespace splitplane::power {

class PStateLadder {
 public:
  PStateLadder(const Machine& machine, Ticks dwell)
      : speed_(machine.speed),
        slowest_(std::clamp<int>(static_cast<int>(machine.p_states), 1, static_cast<int>(machine.speed.size())) - 1),
        dwell_(dwell) {}

  // The machine may stand at any P-state: the first action asks for P0.
  void begin(Ticks now) {
    since_ = now;
    tell_ = slowest_ > 0;
  }

  // True if that was a step up.
  bool climb_to(int index, Ticks now) {
    if (index >= current_) return false;
    move(index, now);
    return true;
  }

  bool step_down(Ticks now) {
    if (current_ == slowest_ || !dwelt(now)) return false;
    move(current_ + 1, now);
    return true;
  }

  [[nodiscard]] bool dwelt(Ticks now) const { return now - since_ >= dwell_; }
  [[nodiscard]] int current() const { return current_; }
  [[nodiscard]] int slowest() const { return slowest_; }
  // Relative to P0; a machine that states none has one speed.
  [[nodiscard]] double speed(int index) const { return speed_[index] > 0 ? static_cast<double>(speed_[index]) : 1.0; }

  // For Action::p_state: a P-state is asked for once, because each request is a write to sysfs.
  [[nodiscard]] int request() {
    if (!tell_) return Action::kKeep;
    tell_ = false;
    return current_;
  }

 private:
  void move(int index, Ticks now) {
    current_ = index;
    since_ = now;
    tell_ = true;
  }

  std::array<float, 32> speed_;
  int slowest_;
  Ticks dwell_;
  int current_ = 0;
  Ticks since_ = 0;
  bool tell_ = false;
};

}  // namespace splitplane::power
