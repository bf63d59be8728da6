#include "gpu/rings/ring_memory.h"

#include <bit>

namespace splitplane::gpu {
namespace {

constexpr std::size_t kLine = kIndexRingAlignment;

constexpr std::size_t lines(std::size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

// Index rings have a place for every slot of their NIC ring.
std::uint32_t index_entries(const RingSettings& s) {
  return std::bit_ceil(s.slots);
}

std::size_t descriptor_bytes(const RingSettings& s) {
  return lines(s.ring_size * sizeof(Descriptor));
}

std::size_t local_bytes(const RingSettings& s) {
  return 2 * lines(s.ring_size * sizeof(std::uint32_t)) + lines(index_entries(s) * sizeof(std::uint32_t)) +
         lines(index_entries(s) * sizeof(PacketRef)) + 2 * kLine;
}

// Slots begin after all rings, at a page.
std::size_t slots_offset(const RingSettings& s, std::uint32_t rings) {
  return (2 * descriptor_bytes(s) * rings + 4095) / 4096 * 4096;
}

// Cuts pieces off a block, each at a separate cache line.
class Cutter {
 public:
  explicit Cutter(std::uint8_t* at) : at_(at) {}
  template <class T>
  T* cut(std::size_t count) {
    auto* const piece = reinterpret_cast<T*>(at_);
    at_ += lines(count * sizeof(T));
    return piece;
  }

 private:
  std::uint8_t* at_;
};

}  // namespace

Expected<void> check(const RingSettings& s, std::uint32_t rings) {
  if (rings < 1 || rings > kMaxRings) return fail("rings is {}; allowed is 1 to {}", rings, kMaxRings);
  if (!std::has_single_bit(s.ring_size) || s.ring_size < kMinRingSize || s.ring_size > kMaxRingSize) {
    return fail("ring_size is {}; allowed is a power of 2 from {} to {}", s.ring_size, kMinRingSize, kMaxRingSize);
  }
  if (s.slots <= s.ring_size || s.slots > kMaxSlots) {
    return fail("slots is {}; allowed is {} (one more than ring_size) to {}", s.slots, s.ring_size + 1, kMaxSlots);
  }
  if (s.slot_bytes < 1024 || s.slot_bytes > 16384 || s.slot_bytes % 1024 != 0) {
    return fail("slot_bytes is {}; allowed is a multiple of 1024 up to 16384", s.slot_bytes);
  }
  if (s.doorbell_every < 1 || s.doorbell_every > kBatch) {
    return fail("doorbell_every is {}; allowed is 1 to {}", s.doorbell_every, kBatch);
  }
  if (s.report_every < 1 || s.report_every > kBatch) {
    return fail("report_every is {}; allowed is 1 to {}", s.report_every, kBatch);
  }
  if (s.credit > s.slots - s.ring_size) {
    return fail("credit is {}; allowed is 0 (all) to {}, the slots beside those in the receive ring", s.credit,
                s.slots - s.ring_size);
  }
  if (s.stall_within_ns == 0) return fail("stall_within_ns is 0; allowed is 1 or more");
  return {};
}

RingMemoryNeeds needs(const RingSettings& s, std::uint32_t rings) {
  return {.dma = slots_offset(s, rings) + std::size_t{rings} * s.slots * s.slot_bytes,
          .local = local_bytes(s) * rings,
          .shared = kLine + rings * (2 * sizeof(EngineCounters) + sizeof(VerdictCounters)) + kLine};
}

SharedView shared_view(std::uint8_t* shared, std::uint32_t rings) {
  Cutter cutter(shared);
  SharedView view;
  view.stop = cutter.cut<std::uint32_t>(1);
  view.rx = cutter.cut<EngineCounters>(rings);
  view.tx = cutter.cut<EngineCounters>(rings);
  view.verdicts = cutter.cut<VerdictCounters>(rings);
  return view;
}

std::vector<Ring> lay_out(const RingSettings& s, const MemoryPiece& dma, const MemoryPiece& local,
                          const MemoryPiece& shared, const std::vector<Doorbells>& doorbells) {
  const auto count = static_cast<std::uint32_t>(doorbells.size());
  const std::size_t slots_at = slots_offset(s, count);
  const SharedView view = shared_view(shared.engine, count);
  Cutter rings(dma.engine);
  Cutter own(local.engine);
  std::vector<Ring> all(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Ring& r = all[i];
    r.settings = s;
    r.rx = rings.cut<Descriptor>(s.ring_size);
    r.tx = rings.cut<Descriptor>(s.ring_size);
    r.rx_slot = own.cut<std::uint32_t>(s.ring_size);
    r.tx_slot = own.cut<std::uint32_t>(s.ring_size);
    r.free.entries = own.cut<std::uint32_t>(index_entries(s));
    r.received.entries = own.cut<PacketRef>(index_entries(s));
    r.free.produced = own.cut<std::uint32_t>(1);
    r.received.produced = own.cut<std::uint32_t>(1);
    r.free.mask = r.received.mask = index_entries(s) - 1;
    r.slots = {dma.engine + slots_at, dma.bus + slots_at, s.slot_bytes};
    r.first_slot = i * s.slots;
    r.rdt = doorbells[i].rdt;
    r.tdt = doorbells[i].tdt;
    r.rx_counters = view.rx + i;
    r.tx_counters = view.tx + i;
    r.verdicts = view.verdicts + i;
    r.stop = view.stop;
  }
  return all;
}

}  // namespace splitplane::gpu
