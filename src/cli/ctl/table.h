// JSON answers of the control socket as text for people: aligned columns, grouped digits, one line per row.
#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "control/params.h"

namespace splitplane::app {

// Any tree of objects, lists and numbers: lists of objects as tables, other members as "name value" lines.
[[nodiscard]] std::string render_tree(const Json& tree);
[[nodiscard]] std::string render_bearers(const std::vector<Json>& bearers);
[[nodiscard]] std::string render_peers(const Json& answer);

[[nodiscard]] std::string grouped(const Json& number);  // 1234567 -> 1,234,567
// A member as a cell: a string as it is, a number with its digits in groups, "-" for anything else.
[[nodiscard]] std::string grouped_text(const Json& object, const char* key);
// What became of `count` bearers that were to be added, when `existed` of them were there already.
[[nodiscard]] std::string added_sentence(std::uint64_t count, std::uint64_t existed);

}  // namespace splitplane::app
