// Which bearers a card can serve.
#pragma once

#include <optional>
#include <string>

#include "ran/bearer_config.h"

namespace splitplane::app {

// Why a card cannot serve this bearer ("what; allowed: what"); nothing if it can. `dl_teid`, in-order delivery and
// similar keys need the host.
[[nodiscard]] std::optional<std::string> refuse_on_card(const ran::BearerConfig& bearer);

}  // namespace splitplane::app
