#include "config/config.h"

#include <fmt/format.h>

namespace splitplane::app {

ran::BearerConfig bearer_at(const BearerGroupConfig& group, std::size_t i) {
  ran::BearerConfig bearer = group.first;
  bearer.uplink_teid.value += static_cast<std::uint32_t>(i);
  if (bearer.ue_ipv4) bearer.ue_ipv4 = bearer.ue_ipv4->plus(i);
  if (bearer.ue_ipv6) bearer.ue_ipv6 = bearer.ue_ipv6->plus(i);
  if (bearer.dl_teid) bearer.dl_teid->value += static_cast<std::uint32_t>(i);
  return bearer;
}

std::string to_string(const MetricsConfig& metrics) {
  const std::string host = metrics.address.to_string();
  return fmt::format("{}{}{}:{}", metrics.address.is_v6() ? "[" : "", host, metrics.address.is_v6() ? "]" : "",
                     metrics.port);
}

}  // namespace splitplane::app
