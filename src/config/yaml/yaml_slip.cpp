#include "config/yaml/yaml_slip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace splitplane::app {
namespace {

// Reads line by line what is not in quotes, brackets or a comment.
class Scanner {
 public:
  // The part of the line outside quotes, brackets and comments; what is inside is left out.
  std::string outside(std::string_view line) {
    std::string kept;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quote_ != '\0') {
        if (quote_ == '"' && c == '\\') {
          ++i;
        } else if (c == quote_) {
          quote_ = '\0';
        }
        continue;
      }
      const bool begins = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t' || depth_ > 0;
      if (c == '#' && begins) break;
      if ((c == '"' || c == '\'') && (begins || line[i - 1] == ',')) {
        quote_ = c;
        kept += '"';  // a value stands here
        continue;
      }
      if ((c == '{' || c == '[') && (begins || line[i - 1] == ':')) {
        ++depth_;
        kept += '"';
        continue;
      }
      if ((c == '}' || c == ']') && depth_ > 0) {
        --depth_;
        continue;
      }
      if (depth_ == 0) kept += c;
    }
    return kept;
  }
  [[nodiscard]] bool in_the_middle() const { return quote_ != '\0' || depth_ > 0; }

 private:
  char quote_ = '\0';
  int depth_ = 0;
};

bool is_key(std::string_view word) {
  return !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
         std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

std::optional<std::string> slip_of(std::string_view line, std::string_view outside) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] == '#') return std::nullopt;
  if (line.substr(0, first).find('\t') != std::string_view::npos) return "a TAB indents it; allowed: blanks only";
  std::string_view rest = outside.substr(std::min(first, outside.size()));
  bool item = false;
  while (rest.starts_with("- ")) {
    rest.remove_prefix(rest.find_first_not_of(' ', 1) == std::string_view::npos ? rest.size()
                                                                                : rest.find_first_not_of(' ', 1));
    item = true;
  }
  if (const std::size_t end = rest.find_last_not_of(" \t\r"); end != std::string_view::npos)
    rest = rest.substr(0, end + 1);
  if (rest.ends_with(':') || rest.find(": ") != std::string_view::npos || rest.find(":\t") != std::string_view::npos)
    return std::nullopt;
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t:"));
  if (!is_key(word)) return std::nullopt;
  if (rest.size() > word.size() && rest[word.size()] == ':')
    return fmt::format("there is no blank behind the colon of '{}'; allowed: '{}: value'", word, word);
  if (item && rest.size() == word.size()) return std::nullopt;  // a list of words
  return fmt::format("there is no colon behind '{}'; allowed: '{}: value', or '{}:' above an indented block", word,
                     word, word);
}

}  // namespace

std::optional<YamlSlip> find_yaml_slip(std::string_view text, int line) {
  Scanner scanner;
  std::optional<YamlSlip> nearest;
  int number = 0;
  while (!text.empty() && number <= line) {  // one line further than the error's
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    const bool continued = scanner.in_the_middle();
    const std::string outside = scanner.outside(whole);
    if (!continued) {
      // `outside` may be shorter than the line: it keeps its indentation, since that stands before all else.
      const auto slip = slip_of(whole, outside);
      if (slip && (number <= line || !nearest)) nearest = YamlSlip{number, *slip};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return nearest;
}

}  // namespace splitplane::app
