// Polls without a pause: the lowest latency, a whole core.
#pragma once

#include "power/policy.h"

namespace splitplane::power {

class Busy {
 public:
  static constexpr bool kLooks = false;
  Action after(const Round&) { return {}; }
  template <class Show>
  void show(Show&&) const {}
};
static_assert(Policy<Busy>);

}  // namespace splitplane::power
