// Where the pieces of all rings lie: descriptors and slots in memory that the NIC reaches, indices in memory of the
// processor that runs the engines, counters and the stop flag in memory that the host sees too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/expected.h"
#include "gpu/rings/memory_piece.h"
#include "gpu/rings/ring.h"

namespace splitplane::gpu {

// One sentence about the first setting that cannot be, or nothing wrong.
[[nodiscard]] Expected<void> check(const RingSettings& settings, std::uint32_t rings);

// Octets of each kind of memory that `rings` rings take.
struct RingMemoryNeeds {
  std::size_t dma = 0;     // rings and slots: the NIC reads and writes it; begins at a multiple of 4096
  std::size_t local = 0;   // index rings and who has which slot: the engines' own
  std::size_t shared = 0;  // counters, stop flag: the engines write, the host reads; on a device twice (housekeeper.h)
};
[[nodiscard]] RingMemoryNeeds needs(const RingSettings& settings, std::uint32_t rings);

struct Doorbells {
  std::uint32_t* rdt = nullptr;
  std::uint32_t* tdt = nullptr;
};

// The rings as the engines see them. Each piece must have what needs() says; `doorbells` one for each ring.
[[nodiscard]] std::vector<Ring> lay_out(const RingSettings& settings, const MemoryPiece& dma, const MemoryPiece& local,
                                        const MemoryPiece& shared, const std::vector<Doorbells>& doorbells);

// The same counters and flag for the host, from the shared piece.
struct SharedView {
  std::uint32_t* stop = nullptr;
  EngineCounters* rx = nullptr;  // one for each ring
  EngineCounters* tx = nullptr;
  VerdictCounters* verdicts = nullptr;
};
[[nodiscard]] SharedView shared_view(std::uint8_t* shared, std::uint32_t rings);

}  // namespace splitplane::gpu
