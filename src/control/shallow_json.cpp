#include "control/shallow_json.h"

namespace splitplane {
namespace {

// Whether the text, if it is JSON, nests deeper than `most`. A callback of the parser could tell as well, but every
// value would pass through it.
bool is_deeper(std::string_view text, int most) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        in_string = !in_string;
        break;
      case '\\':
        if (in_string) ++at;
        break;
      case '{':
      case '[':
        if (!in_string && ++depth > most) return true;
        break;
      case '}':
      case ']':
        if (!in_string) --depth;
        break;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

nlohmann::json parse_shallow_json(std::string_view text, int most) {
  if (is_deeper(text, most)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace splitplane
