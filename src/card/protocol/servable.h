// Which bearers a card can serve.
#pragma once

#include <optional>
#include <string>

#include "placement/decision/host_only.h"
#include "ran/bearer_config.h"

namespace splitplane::app {

// Why no card can serve this bearer, whatever its session and its worker are; `none` if one can.
[[nodiscard]] placement::HostOnly host_only(const ran::BearerConfig& bearer);

// The same for a bearer that shall be on a card, as a sentence ("what; allowed: what"); nothing if a card can serve it.
[[nodiscard]] std::optional<std::string> refuse_on_card(const ran::BearerConfig& bearer);

}  // namespace splitplane::app
