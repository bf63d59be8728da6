// The keys of the section `ue`, one row each.
#pragma once

#include <vector>

#include "fields/reference.h"
#include "ue/config/config.h"

namespace splitplane::app {

[[nodiscard]] fields::Fields<UeConfig> ue_file_fields();  // of the top level
[[nodiscard]] fields::Fields<UeConfig> ue_fields();       // beside those of what is above the air
[[nodiscard]] fields::Fields<UeUpperConfig> ue_upper_fields();
[[nodiscard]] fields::Fields<UeAirConfig> ue_air_fields();
[[nodiscard]] fields::Fields<phy::Impairments> impairment_fields();  // those of phy::kImpairments

// For config/schema.json and docs/reference/configuration.md.
[[nodiscard]] std::vector<fields::Section> ue_sections();

}  // namespace splitplane::app
