// Reads the configuration of `splitplane card` from its file.
#pragma once

#include <string_view>
#include <vector>

#include "card/config/config.h"
#include "config/document.h"

namespace splitplane::app {

// The keys of the file's top level.
[[nodiscard]] std::vector<std::string_view> card_keys();
// Reads and checks.
[[nodiscard]] Expected<CardConfig> read_card(const Document& document);

}  // namespace splitplane::app
