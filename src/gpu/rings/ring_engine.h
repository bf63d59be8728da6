// The ring driver: a ring's two engines, the initial state of its memory, and the loops that drive the engines until
// they are stopped. Host code and device code call the same functions.
#pragma once

#include "gpu/rings/rx_engine.h"
#include "gpu/rings/tx_engine.h"

namespace splitplane::gpu {

// Call it before the first step, from a thread that can write the ring's memory (one warp, or one CPU thread). Each
// receive descriptor gets a slot, the other slots are free, and counters are 0.
template <class Lane>
SPLITPLANE_HD void prepare_ring(Lane lane, const Ring& ring) {
  const RingSettings& s = ring.settings;
  for (std::uint32_t i = lane.id; i < s.ring_size; i += Lane::width) {
    const std::uint32_t slot = ring.first_slot + i;
    if (s.early_within_ns != 0) mark_slot(ring.slots, slot);
    ring.rx_slot[i] = slot;
    ring.rx[i] = make_rx_read(ring.slots.bus_of(slot));
    ring.tx[i] = {};
  }
  const std::uint32_t spare = s.slots - s.ring_size;
  for (std::uint32_t i = lane.id; i < spare; i += Lane::width) ring.free.at(i) = ring.first_slot + s.ring_size + i;
  lane.sync();
  if (lane.id != 0) return;
  *ring.free.produced = spare;
  *ring.received.produced = 0;
  *ring.rx_counters = {};
  *ring.tx_counters = {};
  *ring.verdicts = {};
}

// The loops of the two engines, on a device or a CPU thread. `clock()` is in nanoseconds. They call `rest()` after a
// step in which nothing moved. Reading the stop flag is a round trip to a device's memory, so they read it only now and
// then.
inline constexpr std::uint32_t kStepsPerLookAtStop = 64;

template <class Lane>
[[nodiscard]] SPLITPLANE_HD bool is_told_to_stop(Lane lane, std::uint32_t steps, bool idle, const std::uint32_t* stop) {
  if (steps % kStepsPerLookAtStop != 0 && !(idle && Lane::width == 1)) return false;
  return lane.shfl(load_relaxed_on_device(stop), 0) != 0;
}

template <class Lane, class Engine, class Clock, class Rest>
SPLITPLANE_HD void run_receiver(Lane lane, Engine& engine, Clock clock, Rest rest) {
  for (std::uint32_t steps = 1;; ++steps) {
    const bool idle = engine.step(lane, lane.shfl(clock(), 0)) == 0;
    if (is_told_to_stop(lane, steps, idle, engine.ring().stop)) break;
    if (idle) rest();
  }
  engine.finish(lane);
}

// The sender continues until the receiver has stopped and everything is sent, or until `drain_within_ns` have passed.
template <class Lane, class Engine, class Clock, class Rest>
SPLITPLANE_HD void run_sender(Lane lane, Engine& engine, std::uint64_t drain_within_ns, Clock clock, Rest rest) {
  bool stopping = false;
  std::uint64_t stopping_since = 0;
  for (std::uint32_t steps = 1;; ++steps) {
    const std::uint64_t now = lane.shfl(clock(), 0);
    const bool idle = engine.step(lane, now) == 0;
    if (idle) rest();
    if (!stopping) {
      if (!is_told_to_stop(lane, steps, idle, engine.ring().stop)) continue;
      stopping = true;
      stopping_since = now;
    }
    if ((engine.is_last(lane) && engine.is_idle(lane)) || now - stopping_since >= drain_within_ns) break;
  }
  engine.finish(lane);
}

}  // namespace splitplane::gpu
