#include "ran/bearer_group.h"

namespace splitplane::ran {

BearerConfig bearer_at(const BearerGroup& group, std::size_t i) {
  BearerConfig bearer = group.first;
  bearer.uplink_teid.value += static_cast<std::uint32_t>(i);
  if (bearer.ue_ipv4) bearer.ue_ipv4 = bearer.ue_ipv4->plus(i);
  if (bearer.ue_ipv6) bearer.ue_ipv6 = bearer.ue_ipv6->plus(i);
  if (bearer.dl_teid) bearer.dl_teid->value += static_cast<std::uint32_t>(i);
  if (bearer.security) bearer.security->key += static_cast<std::uint32_t>(i);
  return bearer;
}

}  // namespace splitplane::ran
