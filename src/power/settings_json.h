// A power policy's settings in the control protocol.
#pragma once

#include <nlohmann/json.hpp>

#include "power/settings.h"

namespace splitplane::app {

// {"kind": "budget", "latency_us": 50, ...}: the settings of the kind.
[[nodiscard]] nlohmann::json to_json(const power::Settings& settings);

}  // namespace splitplane::app
