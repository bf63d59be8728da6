// Reads the configuration of `splitplane phy` from its file.
#pragma once

#include <string_view>
#include <vector>

#include "config/document.h"
#include "phy/config/config.h"
#include "runtime/config/check.h"

namespace splitplane::app {

// The keys of the file's top level.
[[nodiscard]] std::vector<std::string_view> phy_keys();
[[nodiscard]] MemoryNeeds memory_needs(const PhyProgramConfig& config);
// Reads, and checks that the four ends of nFAPI are possible together, and that packets of the TUN device fit a buffer.
[[nodiscard]] Expected<PhyProgramConfig> read_phy(const Document& document);

}  // namespace splitplane::app
