// Packet memory: slots of one size, and the rings of indices in which they circulate. Each ring of the NIC has its own
// slots: free -> receive descriptor -> received -> transmit descriptor -> free. The receiver takes from `free` and
// gives to `received`; the sender does the opposite. So each index ring has one producer and one consumer.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "gpu/rings/memory_order.h"

namespace splitplane::gpu {

// All slots, at the addresses of the engines' processor and of the NIC.
struct SlotMemory {
  std::uint8_t* octets = nullptr;
  std::uint64_t bus = 0;
  std::uint32_t slot_bytes = 0;

  [[nodiscard]] SPLITPLANE_HD std::uint8_t* at(std::uint32_t slot) const {
    return octets + static_cast<std::uint64_t>(slot) * slot_bytes;
  }
  [[nodiscard]] SPLITPLANE_HD std::uint64_t bus_of(std::uint32_t slot) const {
    return bus + static_cast<std::uint64_t>(slot) * slot_bytes;
  }
};

// The first octets of a slot until a frame is there, if slots are watched (RingSettings::early_within_ns).
inline constexpr std::uint64_t kNoOctetsYet = 0xf3d1'9a47'6be0'52c8ULL;

SPLITPLANE_HD inline void mark_slot(const SlotMemory& slots, std::uint32_t slot) {
  store_relaxed(reinterpret_cast<std::uint64_t*>(slots.at(slot)), kNoOctetsYet);
}
[[nodiscard]] SPLITPLANE_HD inline bool is_marked(const SlotMemory& slots, std::uint32_t slot) {
  return load_relaxed(reinterpret_cast<const std::uint64_t*>(slots.at(slot))) == kNoOctetsYet;
}

// A frame in its slot, on its way from receiver to sender.
struct PacketRef {
  std::uint32_t slot;
  std::uint16_t offset;  // of the frame's first octet in the slot
  std::uint16_t length;
};
static_assert(sizeof(PacketRef) == 8);

inline constexpr std::uint32_t kIndexRingAlignment = 128;  // a line of a GPU's cache, two of a CPU's

// The shared part of an index ring. It is as large as all slots of its NIC ring together, so it can never be full. The
// producer reads nothing, and only the consumer reads what the other side writes.
template <class Entry>
struct IndexRing {
  Entry* entries = nullptr;
  std::uint32_t* produced = nullptr;  // total number of entries, modulo 2^32; the producer writes it
  std::uint32_t mask = 0;

  [[nodiscard]] SPLITPLANE_HD Entry& at(std::uint32_t index) const { return entries[index & mask]; }
};

// The producer's end. New entries are published together, once per step.
template <class Entry>
struct Producer {
  IndexRing<Entry> ring;
  std::uint32_t next = 0;

  SPLITPLANE_HD void put(std::uint32_t i, Entry entry) const { ring.at(next + i) = entry; }
  SPLITPLANE_HD void add(std::uint32_t n) { next += n; }
  template <class Lane>
  SPLITPLANE_HD void publish(Lane lane) const {
    lane.sync();
    if (lane.id == 0) store_release_on_device(ring.produced, next);
  }
};

// The consumer's end. It remembers the producer's position, and reads it again only when it needs more entries.
template <class Entry>
struct Consumer {
  IndexRing<Entry> ring;
  std::uint32_t next = 0;
  std::uint32_t seen = 0;

  // Returns the number of entries; it is at least `wanted` if the ring has that many.
  template <class Lane>
  [[nodiscard]] SPLITPLANE_HD std::uint32_t available(Lane lane, std::uint32_t wanted) {
    if (seen - next < wanted) {
      // All lanes use the value that the first one read. sync() orders their reads of entries after its acquire.
      seen = lane.shfl(load_acquire_on_device(ring.produced), 0);
      lane.sync();
    }
    return seen - next;
  }
  // The number that it knows without reading the shared count.
  [[nodiscard]] SPLITPLANE_HD std::uint32_t known() const { return seen - next; }
  [[nodiscard]] SPLITPLANE_HD Entry get(std::uint32_t i) const { return ring.at(next + i); }
  SPLITPLANE_HD void take(std::uint32_t n) { next += n; }
};

}  // namespace splitplane::gpu
