// Round robin: UEs with data take turns, and those of one slot share its PRBs evenly. What a UE does not need goes to
// the others. A UE with data and a free HARQ process waits for at most one turn of all others. Slots whose PRBs all go
// to retransmissions do not count. A UE that has no free process when its turn comes waits for the next one.
#pragma once

#include "phy/scheduler/slot_plan.h"

namespace splitplane::phy {

class RoundRobin {
 public:
  // `ues`: how many places facts may have. `most`: new TBs of one slot, at most.
  RoundRobin(std::size_t ues, std::size_t most) : plan_(ues), turns_(std::max<std::size_t>(most, 1)) {}

  std::size_t schedule(const SlotFacts& facts, std::span<Grant> grants) {
    plan_.begin(facts, grants);
    const std::size_t chosen = choose(facts.ues.size());
    share(chosen);
    for (std::size_t i = 0; i < chosen; ++i) plan_.give(turns_[i].ue, turns_[i].prbs);
    return plan_.count();
  }

 private:
  struct Turn {
    std::uint32_t ue = 0;
    std::uint32_t needed = 0, prbs = 0;
  };

  // The UEs whose turn it is: each gets a PRB at least.
  std::size_t choose(std::size_t ues) {
    const std::size_t most = std::min<std::size_t>({turns_.size(), plan_.room(), plan_.left()});
    std::size_t chosen = 0;
    std::size_t ue = next_ < ues ? next_ : 0;
    for (std::size_t seen = 0; seen < ues && chosen < most; ++seen) {
      if (plan_.wants(ue)) {
        turns_[chosen++] = {static_cast<std::uint32_t>(ue), plan_.needed_prbs(ue), 0};
        next_ = ue + 1;
      }
      if (++ue == ues) ue = 0;
    }
    return chosen;
  }

  // Even shares of what is left, again and again until it is used up or no UE needs more.
  void share(std::size_t chosen) {
    std::uint32_t left = plan_.left();
    std::size_t open = chosen;
    while (left != 0 && open != 0) {
      const std::uint32_t each = std::max<std::uint32_t>(left / static_cast<std::uint32_t>(open), 1);
      open = 0;
      for (std::size_t i = 0; i < chosen && left != 0; ++i) {
        Turn& turn = turns_[i];
        const std::uint32_t more = std::min({turn.needed - turn.prbs, each, left});
        turn.prbs += more;
        left -= more;
        open += turn.prbs < turn.needed ? 1 : 0;
      }
    }
  }

  SlotPlan plan_;
  std::vector<Turn> turns_;  // of this slot
  std::size_t next_ = 0;     // the place whose turn is next
};
static_assert(Scheduler<RoundRobin>);

}  // namespace splitplane::phy
