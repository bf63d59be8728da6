// `name=value` words of `splitplane power`: settings of policies and costs of the simulated core, refused in one
// sentence that says what is allowed.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "power/replay/costs.h"
#include "power/settings.h"

namespace splitplane::app {

// `word`: "budget.latency_us=50".
[[nodiscard]] Expected<void> apply_setting(const std::string& word, power::Settings& settings);
// `word`: "c6_exit=150000", ns.
[[nodiscard]] Expected<void> apply_cost(const std::string& word, power::replay::Costs& costs);
// "budget.latency_us=50,...": settings that a policy has, with their present values.
[[nodiscard]] std::string settings_help();
[[nodiscard]] std::string costs_help();

// The kinds of policies by their words, "all" for each of them, in their order and once.
[[nodiscard]] Expected<std::vector<power::Kind>> kinds_of(const std::vector<std::string>& words);

}  // namespace splitplane::app
