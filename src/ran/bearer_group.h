// Bearers that are made together: in the section `bearers` of a file, or by one request.
#pragma once

#include <cstddef>
#include <optional>

#include "ran/bearer_config.h"

namespace splitplane::ran {

// `count` bearers that differ by one in uplink TEID and UE address; identities are given out by the gNB in shard order.
struct BearerGroup {
  std::size_t count = 1;
  BearerConfig first;
  std::optional<unsigned> shard;  // all of them in this shard; absent: the gNB spreads them
};

// The i-th bearer of a group: uplink TEID and UE addresses are `i` further on than the first's.
[[nodiscard]] BearerConfig bearer_at(const BearerGroup& group, std::size_t i);

}  // namespace splitplane::ran
