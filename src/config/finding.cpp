#include "config/finding.h"

#include <fmt/format.h>

#include "config/config.h"

namespace splitplane::app {

std::string located(const Config& config, const Finding& finding) {
  std::string key = finding.key;
  auto at = config.lines.find(key);
  while (at == config.lines.end() && !key.empty()) {
    const std::size_t cut = key.find_last_of(".[");
    key.resize(cut == std::string::npos ? 0 : cut);
    at = config.lines.find(key);
  }
  return fmt::format("{}:{}: {}: {}", config.file, at == config.lines.end() ? 1 : at->second, finding.key,
                     finding.text);
}

}  // namespace splitplane::app
