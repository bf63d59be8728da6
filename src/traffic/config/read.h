// Reads the configuration of `splitplane gen` and `splitplane sink` from its file.
#pragma once

#include <string_view>
#include <vector>

#include "config/document.h"
#include "traffic/config/config.h"

namespace splitplane::app {

// The keys of the file's top level.
[[nodiscard]] std::vector<std::string_view> traffic_keys();
// Reads and checks.
[[nodiscard]] Expected<TrafficConfig> read_traffic(const Document& document);

}  // namespace splitplane::app
