// Every number of the policies' settings by name, with what is allowed: one list for all who read or write them as
// text.
#pragma once

#include <type_traits>

#include "power/settings.h"

namespace splitplane::power {

// Calls visit(policy, name, value, lowest, highest) for each; `S` is Settings or const Settings.
template <class S, class Visit>
  requires std::is_same_v<std::remove_const_t<S>, Settings>
void each_field(S& s, Visit&& visit) {
  visit("yield", "empty_rounds", s.yield.empty_rounds, 0U, 1'000'000U);
  visit("yield", "sleep_us", s.yield.sleep_us, 1U, 1'000'000U);
  visit("paper", "short_idle_polls", s.paper.short_idle_polls, 1U, 1'000'000U);
  visit("paper", "long_idle_polls", s.paper.long_idle_polls, 1U, 1'000'000U);
  visit("paper", "short_idle_us", s.paper.short_idle_us, 1U, 1000U);
  visit("paper", "step_packets", s.paper.step_packets, 1U, 65'536U);
  visit("paper", "climb_packets", s.paper.climb_packets, 1U, 65'536U);
  visit("paper", "max_packets", s.paper.max_packets, 1U, 65'536U);
  visit("paper", "trend_step", s.paper.trend_step, 0U, 1'000'000U);
  visit("paper", "trend_climb", s.paper.trend_climb, 0U, 1'000'000U);
  visit("paper", "trend_limit", s.paper.trend_limit, 1U, 1'000'000'000U);
  visit("paper", "wait_ms", s.paper.wait_ms, 1U, 1000U);
  visit("paper", "trend_decay_us", s.paper.trend_decay_us, 1U, 1'000'000U);
  visit("paper", "down_dwell_ms", s.paper.down_dwell_ms, 1U, 60'000U);
  visit("paper", "down_utilisation", s.paper.down_utilisation, 0.01, 1.0);
  visit("l3fwd", "wait_ms", s.l3fwd.wait_ms, 1U, 1000U);
  visit("budget", "latency_us", s.budget.latency_us, 1U, 1'000'000U);
  visit("budget", "spin_us", s.budget.spin_us, 0U, 1'000'000U);
  visit("budget", "max_sleep_ms", s.budget.max_sleep_ms, 1U, 1000U);
  visit("budget", "dwell_ms", s.budget.dwell_ms, 1U, 60'000U);
  visit("budget", "utilisation", s.budget.utilisation, 0.01, 1.0);
}

}  // namespace splitplane::power
