// Polls without a pause: the lowest latency, for a whole core.
#pragma once

#include "power/policy.h"

namespace splitplane::power {

class Busy {
 public:
  static constexpr bool kLooks = false;
  Action after(const Round&) { return {}; }
  std::uint64_t skip_empty(const Round&, Ticks, std::uint64_t most) { return most; }
  template <class Show>
  void show(Show&&) const {}
};
static_assert(Policy<Busy>);

}  // namespace splitplane::power
