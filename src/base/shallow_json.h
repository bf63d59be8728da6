// JSON from the other end of a socket. What is nested deeper than any message of ours is refused while it is read:
// printing, copying or comparing such a value would recurse once a level.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace splitplane {

inline constexpr int kMostJsonDepth = 32;  // of arrays and objects inside one another

// The value; a discarded one (`is_discarded()`) if the text is no JSON, or is nested deeper than `most`.
[[nodiscard]] nlohmann::json parse_shallow_json(std::string_view text, int most = kMostJsonDepth);

}  // namespace splitplane
