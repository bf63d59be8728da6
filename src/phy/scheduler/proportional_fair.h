// Proportional fair: first comes the UE whose rate in this slot, over its average rate, is greatest. It gets all that
// it needs, then the next one. So a good channel is used while it is good, and a UE with a bad one gets its share of
// slots: the less it got, the greater its quotient. Among equals the lower place comes first.
#pragma once

#include <algorithm>

#include "phy/scheduler/slot_plan.h"

namespace splitplane::phy {

class ProportionalFair {
 public:
  // `ues`: how many places facts may have. `most`: new TBs of one slot, at most.
  ProportionalFair(std::size_t ues, std::size_t most)
      : plan_(ues), candidates_(ues), most_(std::max<std::size_t>(most, 1)) {}

  std::size_t schedule(const SlotFacts& facts, std::span<Grant> grants) {
    plan_.begin(facts, grants);
    const auto first = candidates_.begin();
    auto last = first;
    for (std::size_t ue = 0; ue < facts.ues.size(); ++ue) {
      if (plan_.wants(ue)) *last++ = {quotient(facts, ue), static_cast<std::uint32_t>(ue)};
    }
    const std::size_t most = std::min({most_, plan_.room(), static_cast<std::size_t>(last - first)});
    const auto end = first + static_cast<std::ptrdiff_t>(most);
    if (end != last) std::nth_element(first, end, last);
    std::sort(first, end);
    for (auto at = first; at != end && plan_.left() != 0; ++at)
      plan_.give(at->ue, std::min(plan_.needed_prbs(at->ue), plan_.left()));
    return plan_.count();
  }

 private:
  struct Candidate {
    float quotient = 0;
    std::uint32_t ue = 0;
    bool operator<(const Candidate& other) const {
      return quotient != other.quotient ? quotient > other.quotient : ue < other.ue;
    }
  };
  // In no unit: only the order of UEs counts.
  [[nodiscard]] static float quotient(const SlotFacts& facts, std::size_t ue) {
    return static_cast<float>(mcs_at(facts.shape.table, facts.ues[ue].mcs).efficiency()) / facts.average_rates[ue];
  }

  SlotPlan plan_;
  std::vector<Candidate> candidates_;
  std::size_t most_;
};
static_assert(Scheduler<ProportionalFair>);

}  // namespace splitplane::phy
