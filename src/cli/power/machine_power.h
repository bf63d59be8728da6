// What a machine has of power: each sensor with its reading or why it cannot be read, and each core's frequency, ways
// to set it, idle states and package.
#pragma once

#include <string>

#include "base/expected.h"
#include "control/params.h"
#include "power/sensor/choose.h"

namespace splitplane::app {

// Reads every sensor; IPMI may take seconds. `profile`: the path of one; empty: none.
// {"sensors": [{"source": "acpi", "readings": [...]}, {"source": "rapl", "why_not": "..."}], "cores": [...],
//  "profile": {...} or null}. Error: the profile cannot be read.
[[nodiscard]] Expected<Json> look_at_machine(const sensor::SensorSettings& settings, const std::string& profile);
[[nodiscard]] std::string render_machine(const Json& machine);

}  // namespace splitplane::app
