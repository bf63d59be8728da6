// The rings by which a gNB worker gets packets from another worker instead of a port.
#pragma once

#include <rte_ring.h>

#include "engine/wakeup.h"

namespace splitplane::datapath {

// SP/SC: one worker fills them.
struct WorkerRings {
  rte_ring* downlink = nullptr;
  rte_ring* uplink = nullptr;
  Wakeup* worker = nullptr;  // who reads them
};

}  // namespace splitplane::datapath
