// What replay prints: a table for people and JSON for machines. Both and docs/operate/power.md use the same names.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "power/replay/replay.h"

namespace splitplane::power::replay {

// A column for each run.
[[nodiscard]] std::string table(std::span<const Replayed> runs, const CoreSettings& core);
[[nodiscard]] nlohmann::ordered_json to_json(const Replayed& run, const CoreSettings& core);

}  // namespace splitplane::power::replay
