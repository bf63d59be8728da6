// The keys of the sections `gen` and `sink`, one row each.
#pragma once

#include <vector>

#include "fields/reference.h"
#include "traffic/config/config.h"

namespace splitplane::app {

inline constexpr std::uint64_t kMostRate = 200'000'000;  // packets a second

[[nodiscard]] fields::Fields<TrafficConfig> traffic_fields();  // of the top level
[[nodiscard]] fields::Fields<GenConfig> gen_fields();
[[nodiscard]] fields::Fields<GenSizeConfig> gen_size_fields();
[[nodiscard]] fields::Fields<GenBearersConfig> gen_bearers_fields();  // beside those of the first bearer
[[nodiscard]] fields::Fields<SinkConfig> sink_fields();

// For config/schema.json and docs/reference/configuration.md.
[[nodiscard]] std::vector<fields::Section> traffic_sections();

}  // namespace splitplane::app
