// The rings by which a gNB worker gets packets from another worker instead of from a port.
#pragma once

#include <rte_ring.h>

#include "base/types.h"
#include "engine/wakeup.h"

namespace splitplane::datapath {

// SP/SC: one worker fills them.
struct WorkerRings {
  rte_ring* downlink = nullptr;
  rte_ring* uplink = nullptr;
  Wakeup* worker = nullptr;  // the worker that reads them

  [[nodiscard]] rte_ring* of(Direction direction) const {
    return direction == Direction::kDownlink ? downlink : uplink;
  }
  // Packets that the worker has not received yet; 0 without rings.
  [[nodiscard, gnu::always_inline]] unsigned waiting() const {
    return downlink == nullptr ? 0 : rte_ring_count(downlink) + rte_ring_count(uplink);
  }
};

}  // namespace splitplane::datapath
