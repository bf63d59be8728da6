// Checks of the sections `bearers` and `sessions`: that a worker owns each, that they fit, and that no number is given
// out twice.
#pragma once

#include <optional>

#include "config/finding.h"
#include "gnb/config/config.h"

namespace splitplane::app {

[[nodiscard]] std::optional<Finding> check_bearers(const GnbConfig& config);

}  // namespace splitplane::app
