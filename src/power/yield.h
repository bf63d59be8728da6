// After some rounds without a packet it sleeps for as long as none comes: for machines with fewer cores than threads,
// where a polling neighbour starves the rest. Before each sleep the worker looks at its queues once more.
#pragma once

#include <algorithm>

#include "power/policy.h"
#include "power/settings.h"

namespace splitplane::power {

class Yield {
 public:
  static constexpr bool kLooks = false;
  Yield(const YieldSettings& settings, const Machine& machine)
      : empty_rounds_(settings.empty_rounds), sleep_(settings.sleep_us * machine.ticks_per_us) {}

  Action after(const Round& round) {
    if (round.packets != 0) {
      seen_empty_ = 0;
      return {};
    }
    if (seen_empty_ < empty_rounds_) {
      ++seen_empty_;
      return {};
    }
    return {.rest = Rest::sleep, .length = sleep_};
  }
  std::uint64_t skip_empty(const Round&, Ticks, std::uint64_t most) {
    const std::uint64_t skipped = std::min<std::uint64_t>(most, empty_rounds_ - seen_empty_);
    seen_empty_ += static_cast<unsigned>(skipped);
    return skipped;
  }
  template <class Show>
  void show(Show&& show) const {
    show("empty_rounds", static_cast<double>(seen_empty_));
  }

 private:
  unsigned empty_rounds_;
  Ticks sleep_;
  unsigned seen_empty_ = 0;
};
static_assert(Policy<Yield>);

}  // namespace splitplane::power
