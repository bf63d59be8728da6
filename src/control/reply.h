// A reply of the control protocol as its line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace splitplane::app {

// Without its newline. Octets that are no UTF-8 are replaced.
[[nodiscard]] std::string text_of(const nlohmann::json& reply);
// To what was no request.
[[nodiscard]] std::string error_reply(const std::string& sentence);

}  // namespace splitplane::app
