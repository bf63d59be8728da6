#include "placement/decision/settings.h"

#include <fmt/format.h>

namespace splitplane::placement {

std::optional<std::string> refuse(const ConsolidationSettings& c) {
  if (c.fill_percent >= c.busy_percent) {
    return fmt::format(
        "fill_percent {} is not below busy_percent {}, so shards would go to and fro; allowed: a "
        "smaller "
        "fill_percent",
        c.fill_percent, c.busy_percent);
  }
  return std::nullopt;
}

}  // namespace splitplane::placement
