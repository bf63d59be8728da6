// What one part of a gNB's configuration says of another: which card stands before a port, which worker feeds another.
#pragma once

#include <string>

#include "gnb/config/config.h"
#include "runtime/config/lookup.h"

namespace splitplane::app {

// The card in front of a port that is its N3 or air side; nullptr: none.
[[nodiscard]] const CardLinkConfig* card_before(const GnbConfig& config, const std::string& port);
// By name; nullptr: none.
[[nodiscard]] const CardLinkConfig* find_card(const GnbConfig& config, const std::string& name);

// Whether a dispatching worker receives for this one.
[[nodiscard]] bool is_fed(const GnbConfig& config, const WorkerConfig& worker);

}  // namespace splitplane::app
