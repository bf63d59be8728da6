// What a worker in full mode (features: full) asks of the rest of the configuration and of its bearers.
#pragma once

#include <optional>
#include <string>

#include "config/finding.h"
#include "gnb/config/config.h"

namespace splitplane::app {

// Workers, not their bearers.
[[nodiscard]] std::optional<Finding> check_full_mode(const GnbConfig& config);

// One sentence if a worker in full mode cannot serve such a bearer; nothing if it can. refuse() has accepted it.
[[nodiscard]] std::optional<std::string> refuse_in_full_mode(const ran::BearerConfig& bearer);

}  // namespace splitplane::app
