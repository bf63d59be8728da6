// What a polling thread does when no packet comes. It goes on for some rounds, because a packet may be a microsecond
// away. Then it yields the core to other threads. If no other thread needs the core, a yield returns at once.
#pragma once

#include <sched.h>

#include <cstdint>

namespace splitplane {

class IdleRounds {
 public:
  static constexpr std::uint32_t kRoundsBeforeYield = 64;

  // Call it after each round. Returns true if the thread yielded the core.
  bool note(bool moved) {
    rounds_ = moved ? 0 : rounds_ + 1;
    if (rounds_ < kRoundsBeforeYield) return false;
    rounds_ = 0;
    sched_yield();
    return true;
  }

 private:
  std::uint32_t rounds_ = 0;
};

}  // namespace splitplane
