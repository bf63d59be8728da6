// Reads what the file of every program says.
#pragma once

#include <string>

#include "config/document.h"
#include "runtime/config/config.h"
#include "runtime/config/fields.h"

namespace splitplane::app {

// Reads the `keys` (of ProgramKeys), and fills in the default of `control`. Throws Refusal.
void read_program(const YamlMap& map, unsigned keys, ProgramConfig& config);

// Where an endpoint of metrics listens. Throws Refusal.
[[nodiscard]] MetricsConfig read_metrics(const YamlValue& value);

// The control socket that the file of any program names. Nothing else of the file is checked.
[[nodiscard]] Expected<std::string> control_of_file(const std::string& path);

}  // namespace splitplane::app
