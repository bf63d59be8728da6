// Checks of the section `cards`: that VFs and ports fit, and that a card can serve the bearers that name it.
#pragma once

#include <optional>

#include "config/finding.h"
#include "gnb/config/config.h"

namespace splitplane::app {

[[nodiscard]] std::optional<Finding> check_cards(const GnbConfig& config);

}  // namespace splitplane::app
