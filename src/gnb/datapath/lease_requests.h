// From a worker to the thread that keeps the journal: bearers whose lease of COUNTs is half used.
#pragma once

#include <rte_ring.h>

#include <cstdint>
#include <optional>

#include "base/types.h"

namespace splitplane::datapath {

class LeaseRequests {
 public:
  // `ring`: SP/SC, and outlives this. Its pointers are identities.
  explicit LeaseRequests(rte_ring* ring) : ring_(ring) {}

  // The worker's. False: the ring is full.
  [[nodiscard]] bool ask(BearerId id) {
    return rte_ring_sp_enqueue(ring_, reinterpret_cast<void*>(std::uintptr_t{id.value})) == 0;
  }
  // The other side's.
  [[nodiscard]] std::optional<BearerId> take() {
    void* id = nullptr;
    if (rte_ring_sc_dequeue(ring_, &id) != 0) return std::nullopt;
    return BearerId{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(id))};
  }

 private:
  rte_ring* ring_;
};

}  // namespace splitplane::datapath
