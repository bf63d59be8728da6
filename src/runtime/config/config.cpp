#include "runtime/config/config.h"

#include <fmt/format.h>

namespace splitplane::app {

std::string to_string(const MetricsConfig& metrics) {
  const std::string host = metrics.address.to_string();
  return fmt::format("{}{}{}:{}", metrics.address.is_v6() ? "[" : "", host, metrics.address.is_v6() ? "]" : "",
                     metrics.port);
}

bool collide(const MetricsConfig& a, const MetricsConfig& b) {
  if (a.port != b.port || a.address.is_v6() != b.address.is_v6()) return false;
  const auto is_any = [](const IpAddress& address) { return address.octets() == IpAddress().octets(); };
  return a.address == b.address || is_any(a.address) || is_any(b.address);
}

}  // namespace splitplane::app
