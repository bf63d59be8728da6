// JSON from the other end of a socket. The parser refuses values that are nested deeper than any message of ours.
// Printing, copying or comparing them would recurse once per level.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace splitplane {

inline constexpr int kMostJsonDepth = 32;  // of arrays and objects inside one another

// The value. It is discarded (`is_discarded()`) if the text is no JSON, or is nested deeper than `most`.
[[nodiscard]] nlohmann::json parse_shallow_json(std::string_view text, int most = kMostJsonDepth);

}  // namespace splitplane
