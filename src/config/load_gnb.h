// Reads the sections `workers` and `bearers` of a gNB's file.
#pragma once

#include <vector>

#include "config/config.h"
#include "fields/reference.h"

namespace splitplane::app {

class YamlValue;

// Throw Refusal.
[[nodiscard]] std::vector<WorkerConfig> read_workers(const YamlValue& value);
[[nodiscard]] std::vector<BearerGroupConfig> read_bearers(const YamlValue& value);
// The keys of `bearers`, for config/schema.json and docs/reference/configuration.md.
[[nodiscard]] fields::Section bearers_section();

}  // namespace splitplane::app
