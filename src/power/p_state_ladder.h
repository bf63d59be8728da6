// The P-state of one worker. It steps up at once. It steps down one step at a time, and never sooner than the dwell
// after any step. So no policy built on it changes faster than its dwell.
#pragma once

#include <algorithm>
#include <utility>

#include "power/policy.h"

namespace splitplane::power {

class PStateLadder {
 public:
  // A step down that is taken back within the dwell doubles the dwell, up to `patience` times its length. Without that,
  // it would change for ever where the P-state itself changes what is measured.
  PStateLadder(const Machine& machine, Ticks dwell, unsigned patience = 1)
      : speed_(machine.speed),
        slowest_(std::clamp<int>(static_cast<int>(machine.p_states), 1, static_cast<int>(machine.speed.size())) - 1),
        shortest_dwell_(dwell),
        longest_dwell_(dwell * patience),
        dwell_(dwell) {}

  // The machine may be at any P-state, so the first action asks for P0, or for another one.
  void begin(Ticks now, int index = 0) {
    current_ = index;
    since_ = now;
    tell_ = slowest_ > 0;
  }

  // Returns true if that was a step up.
  bool climb_to(int index, Ticks now) {
    if (index >= current_) return false;
    if (std::exchange(was_down_, false)) dwell_ = dwelt(now) ? shortest_dwell_ : std::min(2 * dwell_, longest_dwell_);
    move(index, now);
    return true;
  }

  bool step_down(Ticks now) {
    if (current_ == slowest_ || !dwelt(now)) return false;
    // The last step down has lasted.
    if (std::exchange(was_down_, true)) dwell_ = std::max(dwell_ / 2, shortest_dwell_);
    move(current_ + 1, now);
    return true;
  }

  [[nodiscard]] bool dwelt(Ticks now) const { return now - since_ >= dwell_; }
  [[nodiscard]] int current() const { return current_; }
  [[nodiscard]] int slowest() const { return slowest_; }
  // Speed relative to P0. A machine that states none has one speed.
  [[nodiscard]] double speed(int index) const { return speed_[index] > 0 ? static_cast<double>(speed_[index]) : 1.0; }

  // For Action::p_state: each P-state is requested once, because a request is a write to sysfs.
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
  Ticks shortest_dwell_, longest_dwell_, dwell_;
  bool was_down_ = false;
  int current_ = 0;
  Ticks since_ = 0;
  bool tell_ = false;
};

}  // namespace splitplane::power
