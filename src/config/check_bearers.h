// Checks of the section `bearers`: that a worker owns each, that they fit, and that no number is given out twice.
#pragma once

#include <optional>

#include "config/config.h"
#include "config/finding.h"

namespace splitplane::app {

[[nodiscard]] std::optional<Finding> check_bearers(const Config& config);

}  // namespace splitplane::app
