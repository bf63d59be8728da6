// Checks ports, packet sizes, and that no two bearers of a generator are the same.
#pragma once

#include <optional>

#include "config/finding.h"
#include "runtime/config/check.h"
#include "traffic/config/config.h"

namespace splitplane::app {

[[nodiscard]] MemoryNeeds memory_needs(const TrafficConfig& config);
[[nodiscard]] std::optional<Finding> check_traffic(const TrafficConfig& config);

}  // namespace splitplane::app
