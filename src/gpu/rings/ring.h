// One NIC ring pair as its two engines see it: settings, memory, registers and counters. ring_memory.h decides where
// each piece is.
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
  std::uint64_t stall_within_ns = 5'000'000;  // without progress: the doorbell is repeated, then it is a fault
  std::uint64_t early_within_ns = 0;          // how much later than DD octets may come; 0: slots are not watched

  friend bool operator==(const RingSettings&, const RingSettings&) = default;
};

// One engine writes these, and the host may read them at any time. Each engine has one line, in the engines' memory. If
// the host cannot read that, a Housekeeper copies it (housekeeper.h). They are separate 64-bit words without an order
// between them. Only `stopped` is acquired, by a sender, and it has 32 bits. So the only 64-bit words that a kernel
// acquires at system scope are descriptors, and the test of its PTX relies on that.
struct alignas(128) EngineCounters {
  std::uint64_t steps;      // rises while the engine is alive; published together with packets, and every kQuietSteps
  std::uint64_t packets;    // receiver: taken from the NIC; sender: given to the NIC
  std::uint64_t octets;     // of those
  std::uint64_t completed;  // receiver: passed to the sender; sender: slots come back from the NIC
  std::uint64_t doorbells;  // tail writes that announced descriptors
  std::uint64_t repeated;   // repeated tail writes because nothing moved; they announce no packet
  std::uint64_t recovered;  // faults that ended
  std::uint64_t waits;      // steps in which packets or credit waited for a slot (receiver) or descriptor (sender)
  std::uint64_t fault;      // a Fault: the present state
  std::uint32_t stopped;    // 1 once the engine has left its loop
};
static_assert(sizeof(EngineCounters) == 128 && sizeof(EngineCounters::stopped) == 4);
inline constexpr std::uint32_t kQuietSteps = 64;

// Packets by verdict; the receiver writes them.
struct alignas(64) VerdictCounters {
  std::uint64_t count[16];
};
static_assert(kVerdictCount <= 16);

// What both engines of a ring share. All addresses are those of the processor that runs the engines.
struct Ring {
  RingSettings settings;
  Descriptor* rx = nullptr;
  Descriptor* tx = nullptr;
  std::uint32_t* rx_slot = nullptr;  // used by the receiver only: the slot of each descriptor
  std::uint32_t* tx_slot = nullptr;  // used by the sender only
  SlotMemory slots;
  std::uint32_t first_slot = 0;  // this ring's are [first_slot, first_slot + settings.slots)
  IndexRing<std::uint32_t> free;
  IndexRing<PacketRef> received;
  std::uint32_t* rdt = nullptr;
  std::uint32_t* tdt = nullptr;
  EngineCounters* rx_counters = nullptr;
  EngineCounters* tx_counters = nullptr;
  VerdictCounters* verdicts = nullptr;
  const std::uint32_t* stop = nullptr;  // of all engines, where they read it fastest: 1 ends them
};

}  // namespace splitplane::gpu
