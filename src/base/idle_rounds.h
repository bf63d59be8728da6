// What a thread that polls does when nothing moves: it goes on for some rounds, since a packet may be a microsecond
// away, and lets others have the core then. Where no other thread wants the core, a yield returns at once.
#pragma once

#include <sched.h>

#include <cstdint>

namespace splitplane {

class IdleRounds {
 public:
  static constexpr std::uint32_t kRoundsBeforeYield = 64;

  // Behind each round. True: the thread let others have the core.
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
