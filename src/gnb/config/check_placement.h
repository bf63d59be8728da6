// Checks of the section `placement`: that its mode and its lists fit the workers and cards of the file.
#pragma once

#include <optional>

#include "config/finding.h"
#include "gnb/config/config.h"

namespace splitplane::app {

[[nodiscard]] std::optional<Finding> check_placement(const GnbConfig& config);

}  // namespace splitplane::app
