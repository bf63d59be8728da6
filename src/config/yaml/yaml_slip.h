// The slip of the pen behind a YAML error: a TAB that indents, a key without its colon. YAML's grammar makes something
// else of both, so the parser's own message is about another line, or about nothing that a person typed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace splitplane::app {

struct YamlSlip {
  int line = 0;
  std::string text;  // what is wrong, and what is allowed
};

// Looks for one at or before `line`, where the error showed, and on the line after it; the nearest one counts. Only for
// a text that was refused: a good one may hold lines that look like this.
[[nodiscard]] std::optional<YamlSlip> find_yaml_slip(std::string_view text, int line);

}  // namespace splitplane::app
