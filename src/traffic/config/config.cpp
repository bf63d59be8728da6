#include "traffic/config/config.h"

#include "ran/bearer_table.h"

namespace splitplane::app {

ran::BearerConfig bearer_at(const GenBearersConfig& bearers, std::uint32_t i) {
  ran::BearerConfig bearer = bearers.first;
  bearer.id.value += ((i % bearers.shards) << ran::kIndexBits) + i / bearers.shards;
  if (bearer.ue_ipv4) bearer.ue_ipv4 = bearer.ue_ipv4->plus(i);
  if (bearer.ue_ipv6) bearer.ue_ipv6 = bearer.ue_ipv6->plus(i);
  return bearer;
}

}  // namespace splitplane::app
