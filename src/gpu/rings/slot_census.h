// Counts the slots of a ring when its engines have stopped: each slot must be in exactly one place.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/rings/ring.h"

namespace splitplane::gpu {

// The positions of the two engines; each knows its own part.
struct SlotPositions {
  std::uint32_t free_taken = 0;      // receiver
  std::uint32_t received_taken = 0;  // sender
  std::uint32_t first_at_nic = 0;    // sender: oldest descriptor that has not come back
  std::uint32_t next_to_nic = 0;
};

struct SlotCensus {
  std::uint32_t free = 0;      // in the ring of free slots
  std::uint32_t posted = 0;    // in a receive descriptor
  std::uint32_t received = 0;  // on the way to the sender
  std::uint32_t at_nic = 0;    // in a transmit descriptor that has not come back
  std::uint32_t missing = 0;   // nowhere
  std::uint32_t twice = 0;     // in more than one place, or no slot of this ring

  [[nodiscard]] bool is_sound() const { return missing == 0 && twice == 0; }
  // True if the census is sound and no packet is left anywhere.
  [[nodiscard]] bool is_at_rest() const { return is_sound() && received == 0 && at_nic == 0; }
};

// `ring` has addresses that the caller can read. `more` are slots in a sender for all rings; only those of this ring
// count.
[[nodiscard]] SlotCensus count_slots(const Ring& ring, const SlotPositions& at,
                                     std::span<const std::uint32_t> more = {});

}  // namespace splitplane::gpu
