// Reads the configuration of `splitplane run` from its file.
#pragma once

#include <string_view>
#include <vector>

#include "config/document.h"
#include "gnb/config/config.h"

namespace splitplane::app {

// The keys of the file's top level.
[[nodiscard]] std::vector<std::string_view> gnb_keys();
// Reads and checks.
[[nodiscard]] Expected<GnbConfig> read_gnb(const Document& document);

}  // namespace splitplane::app
