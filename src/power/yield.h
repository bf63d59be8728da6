// After some rounds without a packet it sleeps for a set time, which a packet does not end. It is for machines with
// fewer cores than threads, where a polling thread starves the others. Before each sleep the worker looks at its queues
// once more. A sleep that found no packet doubles the next one, up to a limit. So an idle worker wakes seldom. A packet
// after a silence waits about as long as the silence was, at most the longest sleep.
#pragma once

#include <algorithm>

#include "power/policy.h"
#include "power/settings.h"

namespace splitplane::power {

class Yield {
 public:
  static constexpr bool kLooks = false;
  static constexpr Ticks kLongest = 10;  // times the first sleep
  Yield(const YieldSettings& settings, const Machine& machine)
      : empty_rounds_(settings.empty_rounds),
        first_(settings.sleep_us * machine.ticks_per_us),
        longest_(kLongest * first_),
        sleep_(first_) {}

  Action after(const Round& round) {
    if (round.packets != 0) {
      seen_empty_ = 0;
      sleep_ = first_;
      return {};
    }
    if (seen_empty_ < empty_rounds_) {
      ++seen_empty_;
      return {};
    }
    if (round.rested != 0 && !round.woken) sleep_ = std::min(2 * sleep_, longest_);
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
  Ticks first_, longest_, sleep_;
  unsigned seen_empty_ = 0;
};
static_assert(Policy<Yield>);

}  // namespace splitplane::power
