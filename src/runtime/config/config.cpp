#include "runtime/config/config.h"

#include <fmt/format.h>

namespace splitplane::app {

std::string to_string(const MetricsConfig& metrics) {
  const std::string host = metrics.address.to_string();
  return fmt::format("{}{}{}:{}", metrics.address.is_v6() ? "[" : "", host, metrics.address.is_v6() ? "]" : "",
                     metrics.port);
}

}  // namespace splitplane::app
