// The ring on which one core of a card hands frames to the core that has their port.
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <cstdint>
#include <memory>
#include <string>

namespace splitplane::nic {

// A frame that a program sent to another core's port. A clone is the same mbuf as its original, so the mbuf cannot
// carry the port.
struct CoreOutput {
  rte_mbuf* mbuf = nullptr;
  std::uint64_t port = 0;
};
inline constexpr unsigned kCoreOutputBytes = sizeof(CoreOutput);
static_assert(kCoreOutputBytes == 16, "an element size of rte_ring");

struct FreeOutputRing {
  void operator()(rte_ring* ring) const;
};
// Its objects are CoreOutput; frames that are left on it are freed with it.
using OutputRing = std::unique_ptr<rte_ring, FreeOutputRing>;

// One core writes it and one reads it. It holds at least `entries`. Null: no memory, or the name is taken.
[[nodiscard]] OutputRing make_output_ring(const std::string& name, unsigned entries);

}  // namespace splitplane::nic
