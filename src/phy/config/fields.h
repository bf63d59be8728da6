// The keys of the sections `phy` and `ue` in a file for `splitplane phy`, one row each.
#pragma once

#include <vector>

#include "fields/reference.h"
#include "phy/config/config.h"

namespace splitplane::app {

[[nodiscard]] fields::Fields<PhyProgramConfig> phy_file_fields();  // of the top level
[[nodiscard]] fields::Fields<EmulatedPhyConfig> emulated_phy_fields();
[[nodiscard]] fields::Fields<phy::BlockLoss> block_loss_fields();
[[nodiscard]] fields::Fields<BlockCaptureConfig> block_capture_fields();
[[nodiscard]] fields::Fields<TerminalsConfig> terminals_fields();  // beside ue_upper_fields()

// For config/schema.json and docs/reference/configuration.md.
[[nodiscard]] std::vector<fields::Section> phy_sections();

}  // namespace splitplane::app
