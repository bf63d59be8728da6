// A worker's requests to the thread that keeps the journal. The worker names bearers that have used half of their COUNT
// lease.
#pragma once

#include <rte_ring.h>

#include <cstdint>
#include <optional>

#include "base/types.h"

namespace splitplane::datapath {

class LeaseRequests {
 public:
  // `ring` is SP/SC and outlives this object. Its pointers are identities.
  explicit LeaseRequests(rte_ring* ring) : ring_(ring) {}

  // On the worker's thread. Returns false if the ring is full.
  [[nodiscard]] bool ask(BearerId id) {
    return rte_ring_sp_enqueue(ring_, reinterpret_cast<void*>(std::uintptr_t{id.value})) == 0;
  }
  // On the journal's thread.
  [[nodiscard]] std::optional<BearerId> take() {
    void* id = nullptr;
    if (rte_ring_sc_dequeue(ring_, &id) != 0) return std::nullopt;
    return BearerId{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(id))};
  }

 private:
  rte_ring* ring_;
};

}  // namespace splitplane::datapath
