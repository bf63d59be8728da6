// Reads the configuration of `splitplane ue` from its file.
#pragma once

#include <string_view>
#include <vector>

#include "config/document.h"
#include "runtime/config/check.h"
#include "ue/config/config.h"

namespace splitplane::app {

// The keys of the file's top level.
[[nodiscard]] std::vector<std::string_view> ue_keys();
// Reads, and checks that the port is there and the only one, that the TUN's packets fit it, and that the air leaves it
// buffers.
[[nodiscard]] MemoryNeeds memory_needs(const UeConfig& config);
[[nodiscard]] Expected<UeConfig> read_ue(const Document& document);

}  // namespace splitplane::app
