#include "config/finding.h"

#include <fmt/format.h>

namespace splitplane::app {

std::string located(const Source& source, const Finding& finding) {
  std::string key = finding.key;
  auto at = source.lines.find(key);
  while (at == source.lines.end() && !key.empty()) {
    const std::size_t cut = key.find_last_of(".[");
    key.resize(cut == std::string::npos ? 0 : cut);
    at = source.lines.find(key);
  }
  return fmt::format("{}:{}: {}: {}", source.file, at == source.lines.end() ? 1 : at->second, finding.key,
                     finding.text);
}

}  // namespace splitplane::app
