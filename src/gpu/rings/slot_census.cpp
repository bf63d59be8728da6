#include "gpu/rings/slot_census.h"

#include <vector>

namespace splitplane::gpu {

SlotCensus count_slots(const Ring& ring, const SlotPositions& at, std::span<const std::uint32_t> more) {
  SlotCensus census;
  std::vector<bool> seen(ring.settings.slots);
  const auto see = [&](std::uint32_t slot, std::uint32_t& place) {
    const std::uint32_t own = slot - ring.first_slot;
    if (own >= seen.size() || seen[own]) {
      ++census.twice;
      return;
    }
    seen[own] = true;
    ++place;
  };
  const std::uint32_t ring_mask = ring.settings.ring_size - 1;
  for (std::uint32_t i = at.free_taken; i != *ring.free.produced; ++i) see(ring.free.at(i), census.free);
  for (std::uint32_t i = at.received_taken; i != *ring.received.produced; ++i) {
    see(ring.received.at(i).slot, census.received);
  }
  for (std::uint32_t i = 0; i < ring.settings.ring_size; ++i) see(ring.rx_slot[i], census.posted);
  for (std::uint32_t i = at.first_at_nic; i != at.next_to_nic; ++i) see(ring.tx_slot[i & ring_mask], census.at_nic);
  for (const std::uint32_t slot : more) {
    if (slot - ring.first_slot < seen.size()) see(slot, census.at_nic);
  }
  for (const bool s : seen) census.missing += s ? 0 : 1;
  return census;
}

}  // namespace splitplane::gpu
