// For tests of the simulation only: a policy that always gives the same answer, and one that hides another's
// skip_empty.
#pragma once

#include <utility>
#include <vector>

#include "power/policy.h"

namespace splitplane::power::replay {

// Answers `when_empty` after each round without packets, and records what it saw.
class Always {
 public:
  static constexpr bool kLooks = true;
  explicit Always(Action when_empty) : when_empty_(when_empty) {}
  Action after(const Round& round) {
    if (round.packets != 0) {
      packets.push_back(round.packets);
      waiting.push_back(round.queues[0].waiting);
    }
    if (round.rested != 0) {
      rested.push_back(round.rested);
      woken.push_back(round.woken);
    }
    return round.packets != 0 ? Action{} : when_empty_;
  }
  template <class Show>
  void show(Show&&) const {}

  std::vector<unsigned> packets, waiting;
  std::vector<Ticks> rested;
  std::vector<bool> woken;

 private:
  Action when_empty_;
};

template <Policy P>
class RoundByRound {
 public:
  static constexpr bool kLooks = P::kLooks;
  explicit RoundByRound(P policy) : policy_(std::move(policy)) {}
  Action after(const Round& round) { return policy_.after(round); }
  template <class Show>
  void show(Show&& show) const {
    policy_.show(show);
  }

 private:
  P policy_;
};

}  // namespace splitplane::power::replay
