// Where the pieces of all rings are. Descriptors and slots are in memory that the NIC can access. Indices are in memory
// of the processor that runs the engines. Counters and the stop flag are in memory that the host can read too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/expected.h"
#include "gpu/rings/memory_piece.h"
#include "gpu/rings/ring.h"

namespace splitplane::gpu {

// One sentence about the first invalid setting, if there is one.
[[nodiscard]] Expected<void> check(const RingSettings& settings, std::uint32_t rings);

// Octets of each kind of memory that `rings` rings take.
struct RingMemoryNeeds {
  std::size_t dma = 0;     // rings and slots, which the NIC reads and writes; begins at a multiple of 4096
  std::size_t local = 0;   // index rings and slot tables, which only the engines use
  std::size_t shared = 0;  // counters, stop flag: the engines write, the host reads; on a device twice (housekeeper.h)
};
[[nodiscard]] RingMemoryNeeds needs(const RingSettings& settings, std::uint32_t rings);

struct Doorbells {
  std::uint32_t* rdt = nullptr;
  std::uint32_t* tdt = nullptr;
};

// The rings at the engines' addresses. Each piece must have what needs() says; there is one doorbell for each ring.
[[nodiscard]] std::vector<Ring> lay_out(const RingSettings& settings, const MemoryPiece& dma, const MemoryPiece& local,
                                        const MemoryPiece& shared, const std::vector<Doorbells>& doorbells);

// The same counters and flag for the host, in the shared piece.
struct SharedView {
  std::uint32_t* stop = nullptr;
  EngineCounters* rx = nullptr;  // one for each ring
  EngineCounters* tx = nullptr;
  VerdictCounters* verdicts = nullptr;
};
[[nodiscard]] SharedView shared_view(std::uint8_t* shared, std::uint32_t rings);

}  // namespace splitplane::gpu
