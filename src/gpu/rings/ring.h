// One NIC ring pair as its two engines see it: settings, memory, registers and counters. Where each piece lies is
// ring_memory.h's to say.
#pragma once

#include <cstdint>

#include "gpu/rings/descriptor.h"
#include "gpu/rings/slots.h"
#include "gpu/rings/verdict.h"

namespace splitplane::gpu {

inline constexpr std::uint32_t kMaxRings = 64;
inline constexpr std::uint32_t kMaxSlots = 1U << 16;  // per ring
inline constexpr std::uint32_t kBatch = 32;           // descriptors per step and direction: one for each lane of a warp

struct RingSettings {
  std::uint32_t ring_size = 256;              // descriptors, in each direction
  std::uint32_t slots = 1024;                 // per ring
  std::uint32_t slot_bytes = 2048;            // SRRCTL.BSIZEPACKET counts KiB
  std::uint32_t doorbell_every = 32;          // packets per tail write, at most kBatch (the paper: 8)
  std::uint32_t report_every = 1;             // transmit descriptors per DD that the NIC writes back, at most kBatch
  std::uint64_t doorbell_within_ns = 2000;    // and no later than this after the first; 0: at the end of each step
  std::uint32_t credit = 0;                   // packets between receiver and sender at most; 0: all spare slots
  std::uint64_t stall_within_ns = 5'000'000;  // without progress: the doorbell again, and then it is a fault
  std::uint64_t early_within_ns = 0;          // how long octets may come after their DD; 0: slots are not watched

  friend bool operator==(const RingSettings&, const RingSettings&) = default;
};

// Written by one engine, read by the host at any time; one line per engine, in the engines' memory. Where the host does
// not see that, a Housekeeper copies it (housekeeper.h). 64-bit words, each by itself: there is no order between them.
// `stopped` alone is acquired, by a sender, and has 32 bits: so the only 64-bit words that a kernel acquires at system
// scope are descriptors, which is how its PTX is tested for them.
struct alignas(128) EngineCounters {
  std::uint64_t steps;      // moves whenever the engine is alive; published in packets' company, and every kQuietSteps
  std::uint64_t packets;    // receiver: taken from the NIC; sender: given to it
  std::uint64_t octets;     // of those
  std::uint64_t completed;  // receiver: handed to the sender; sender: slots come back from the NIC
  std::uint64_t doorbells;  // tail writes that told of descriptors
  std::uint64_t repeated;   // the last one written again, since nothing moved: of no packet
  std::uint64_t recovered;  // faults that went away
  std::uint64_t waits;      // steps in which packets or credit waited for a slot (receiver) or descriptor (sender)
  std::uint64_t fault;      // a Fault: how things are now
  std::uint32_t stopped;    // 1 once the engine has left its loop
};
static_assert(sizeof(EngineCounters) == 128 && sizeof(EngineCounters::stopped) == 4);
inline constexpr std::uint32_t kQuietSteps = 64;

// Packets by what became of them, written by the receiver.
struct alignas(64) VerdictCounters {
  std::uint64_t count[16];
};
static_assert(kVerdictCount <= 16);

// What both engines of a ring share. All addresses are those of the processor that runs the engines.
struct Ring {
  RingSettings settings;
  Descriptor* rx = nullptr;
  Descriptor* tx = nullptr;
  std::uint32_t* rx_slot = nullptr;  // receiver's own: which slot each descriptor has
  std::uint32_t* tx_slot = nullptr;  // sender's own
  SlotMemory slots;
  std::uint32_t first_slot = 0;  // this ring's are [first_slot, first_slot + settings.slots)
  IndexRing<std::uint32_t> free;
  IndexRing<PacketRef> received;
  std::uint32_t* rdt = nullptr;
  std::uint32_t* tdt = nullptr;
  EngineCounters* rx_counters = nullptr;
  EngineCounters* tx_counters = nullptr;
  VerdictCounters* verdicts = nullptr;
  const std::uint32_t* stop = nullptr;  // of all engines, where they read it soonest: 1 ends them
};

}  // namespace splitplane::gpu
