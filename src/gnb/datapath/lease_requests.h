// A worker's requests to the thread that keeps the journal. The worker names bearers that have used half of their COUNT
// lease.
#pragma once

#include <rte_ring.h>

#include <cstdint>
#include <optional>

#include "base/types.h"

namespace splitplane::datapath {

struct LeaseRequest {
  BearerId id;
  std::uint32_t at = 0;  // the bearer's next COUNT when it asked
  friend bool operator==(const LeaseRequest&, const LeaseRequest&) = default;
};

class LeaseRequests {
 public:
  // `ring` is SP/SC and outlives this object. Its pointers are requests.
  explicit LeaseRequests(rte_ring* ring) : ring_(ring) {}

  // On the worker's thread. Returns false if the ring is full.
  [[nodiscard]] bool ask(LeaseRequest request) {
    static_assert(sizeof(void*) == sizeof(std::uint64_t));
    const std::uint64_t both = std::uint64_t{request.at} << 32 | request.id.value;
    return rte_ring_sp_enqueue(ring_, reinterpret_cast<void*>(both)) == 0;
  }
  // On the journal's thread.
  [[nodiscard]] std::optional<LeaseRequest> take() {
    void* request = nullptr;
    if (rte_ring_sc_dequeue(ring_, &request) != 0) return std::nullopt;
    const auto both = reinterpret_cast<std::uint64_t>(request);
    return LeaseRequest{BearerId{static_cast<std::uint32_t>(both)}, static_cast<std::uint32_t>(both >> 32)};
  }

 private:
  rte_ring* ring_;
};

}  // namespace splitplane::datapath
