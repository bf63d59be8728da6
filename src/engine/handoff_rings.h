// The rings by which a gNB worker gets packets from another worker instead of from a port.
#pragma once

#include <rte_ring.h>

#include "engine/wakeup.h"

namespace splitplane::datapath {

// SP/SC: one worker fills them.
struct WorkerRings {
  rte_ring* downlink = nullptr;
  rte_ring* uplink = nullptr;
  Wakeup* worker = nullptr;  // the worker that reads them
};

}  // namespace splitplane::datapath
