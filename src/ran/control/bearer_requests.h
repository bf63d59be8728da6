// What requests of the control protocol say about bearers, beside ran::BearerConfig, and what they get back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ip_address.h"
#include "base/types.h"
#include "ran/bearer_config.h"

namespace splitplane::app {

// A request for more bearers is carried out in batches, so that no round of a worker grows long.
inline constexpr std::size_t kBearersPerBatch = 64;

struct AddedBearers {
  std::vector<ran::BearerConfig> bearers;
  std::size_t existed = 0;  // of them, there already
};

// Fields present are changed, the others stay.
struct BearerPatch {
  std::optional<Teid> uplink_teid;
  std::optional<IpAddress> upf;
  std::optional<Qfi> qfi;
  std::optional<std::uint16_t> poll_pdu;
};

}  // namespace splitplane::app
