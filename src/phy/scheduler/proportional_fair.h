// Proportional fair: first comes the UE whose rate in this slot, over its average rate, is greatest. It gets all that
// it needs, then the next one. So a good channel is used while it is good, and a UE with a bad one gets its share of
// slots: the less it got, the greater its quotient. Among equals the one that waits longest comes first.
//
// A UE with data that got no grant for longest_wait() slots comes first whatever its quotient: it may be one with a bad
// channel among many that come and go. So it waits for that time, and for a turn of others that wait as long.
#pragma once

#include <algorithm>
#include <limits>

#include "phy/scheduler/slot_plan.h"

namespace splitplane::phy {

class ProportionalFair {
 public:
  // `ues`: how many places facts may have. `most`: new TBs of one slot, at most.
  ProportionalFair(std::size_t ues, std::size_t most)
      : plan_(ues),
        candidates_(ues),
        since_(ues),
        longest_wait_(2 * (kPatience + ues)),
        most_(std::max<std::size_t>(most, 1)) {}

  // In slots. Twice what a turn of all UEs takes if each of them uses a slot, so few UEs come to it.
  [[nodiscard]] std::uint64_t longest_wait() const { return longest_wait_; }

  std::size_t schedule(const SlotFacts& facts, std::span<Grant> grants) {
    plan_.begin(facts, grants);
    ++slot_;
    const auto first = candidates_.begin();
    auto last = first;
    for (std::size_t ue = 0; ue < facts.ues.size(); ++ue) {
      if (facts.ues[ue].backlog_bytes == 0) since_[ue] = slot_;
      if (plan_.wants(ue)) *last++ = {quotient(facts, ue), static_cast<std::uint32_t>(ue), since_[ue]};
    }
    const std::size_t most = std::min({most_, plan_.room(), static_cast<std::size_t>(last - first)});
    const auto end = first + static_cast<std::ptrdiff_t>(most);
    if (end != last) std::nth_element(first, end, last);
    std::sort(first, end);
    for (auto at = first; at != end && plan_.left() != 0; ++at) {
      plan_.give(at->ue, std::min(plan_.needed_prbs(at->ue), plan_.left()));
      since_[at->ue] = slot_;
    }
    return plan_.count();
  }

 private:
  struct Candidate {
    float quotient = 0;
    std::uint32_t ue = 0;
    std::uint64_t since = 0;
    bool operator<(const Candidate& other) const {
      if (quotient != other.quotient) return quotient > other.quotient;
      return since != other.since ? since < other.since : ue < other.ue;
    }
  };
  static constexpr std::uint64_t kPatience = 200;  // slots: a channel may become good meanwhile

  // In no unit: only the order of UEs counts.
  [[nodiscard]] float quotient(const SlotFacts& facts, std::size_t ue) const {
    if (slot_ - since_[ue] >= longest_wait_) return std::numeric_limits<float>::infinity();
    return static_cast<float>(mcs_at(facts.shape.table, facts.ues[ue].mcs).efficiency()) / facts.average_rates[ue];
  }

  SlotPlan plan_;
  std::vector<Candidate> candidates_;
  std::vector<std::uint64_t> since_;  // by place: the slot of its last new TB, or the last one without data
  std::uint64_t slot_ = 0;
  std::uint64_t longest_wait_;
  std::size_t most_;
};
static_assert(Scheduler<ProportionalFair>);

}  // namespace splitplane::phy
