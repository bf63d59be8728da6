// Checks that a card's ports, VFs and wires are there, and that no port is left over.
#pragma once

#include <optional>

#include "card/config/config.h"
#include "config/finding.h"
#include "runtime/config/check.h"

namespace splitplane::app {

[[nodiscard]] MemoryNeeds memory_needs(const CardConfig& card);
[[nodiscard]] std::optional<Finding> check_card(const CardConfig& card);

}  // namespace splitplane::app
