// What one part of a configuration says of another.
#pragma once

#include <string>

#include "config/config.h"

namespace splitplane::app {

// The card in front of a port that is its N3 or air side; nullptr: none.
[[nodiscard]] const CardLinkConfig* card_before(const Config& config, const std::string& port);
// By name; nullptr: none.
[[nodiscard]] const CardLinkConfig* find_card(const Config& config, const std::string& name);

// Whether a dispatching worker receives for this one.
[[nodiscard]] bool is_fed(const Config& config, const WorkerConfig& worker);

}  // namespace splitplane::app
