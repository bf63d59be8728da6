// A worker's way to the control thread: a ring and a rate for each class of frames. The control thread reads the rings.
#pragma once

#include <rte_ring.h>

#include <array>
#include <cstdint>

#include "engine/burst.h"
#include "n3/punt_class.h"

namespace splitplane::datapath {

// A rate limit (GCRA): a number of frames a second, and after a pause a burst of frames at once. The caller chooses the
// ticks; without an interval there is no limit.
struct PuntRate {
  std::uint64_t interval = 0, burst = 0;  // ticks: for one frame, for a burst of them
  std::uint64_t free_at = 0;

  static PuntRate of(std::uint64_t ticks_per_second, unsigned per_second, unsigned at_once) {
    const std::uint64_t interval = ticks_per_second / per_second;
    return {interval, interval * at_once, 0};
  }
  [[nodiscard]] bool allow(std::uint64_t now) {
    if (interval == 0) return true;
    const std::uint64_t from = free_at > now ? free_at : now;
    if (from + interval - now > burst) return false;
    free_at = from + interval;
    return true;
  }
};

struct Punts {
  Punts() = default;
  Punts(rte_ring* one) { rings.fill(one); }  // NOLINT: one ring for all classes, without rates (explain, tests)

  std::array<rte_ring*, kPuntClassCount> rings{};  // SP/SC; nullptr: no thread reads such frames
  std::array<PuntRate, kPuntClassCount> rates{};

  [[nodiscard]] rte_ring* ring(PuntClass kind) const { return rings[static_cast<std::size_t>(kind)]; }
  // Returns ok if the control thread has the frame.
  [[nodiscard]] DropReason give(PuntClass kind, rte_mbuf* m, std::uint64_t now) {
    if (ring(kind) == nullptr) return DropReason::punt_full;
    if (!rates[static_cast<std::size_t>(kind)].allow(now)) return DropReason::punt_limited;
    return rte_ring_sp_enqueue(ring(kind), m) == 0 ? DropReason::ok : DropReason::punt_full;
  }
};

// Drops a frame whose sender must be informed (Error Indication, Supported Extension Headers Notification). The control
// thread gets the frame to read, within the room and rate of class `answer`. So a flood of such frames costs little.
inline void drop_and_tell(Punts& punts, rte_mbuf* m, DropReason reason, std::uint64_t now, WorkerStats& stats,
                          Drops& drops) {
  rte_ring* const ring = punts.ring(PuntClass::answer);
  if (ring == nullptr || rte_ring_count(ring) >= rte_ring_get_capacity(ring) / 2 ||
      punts.give(PuntClass::answer, m, now) != DropReason::ok) {
    drops.add(m, reason);
    return;
  }
  stats.drop(reason);  // counted here; the control thread frees it
}

}  // namespace splitplane::datapath
