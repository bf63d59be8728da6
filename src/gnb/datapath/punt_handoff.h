// Handoff between the gNB workers behind one card. The card steers a bearer's packets to its worker. Packets that the
// card cannot read come by one VF a side, and a card that deals out over VFs sends any packet by any of them. The
// worker that reads a VF hands each packet off to the worker of its bearer, over a ring from the one to the other. This
// path handles one packet at a time.
#pragma once

#include <array>
#include <vector>

#include "base/types.h"
#include "engine/burst.h"
#include "engine/handoff_rings.h"
#include "ran/bearer_config.h"

namespace splitplane::datapath {

// Index in a gNB worker's counters of received packets: first downlink, then uplink, that another worker handed off.
inline constexpr std::size_t kHandedQueue = 2;

struct PuntHandoff {
  static constexpr std::uint8_t kNoWorker = 0xff;
  std::vector<WorkerRings> workers;
  std::array<std::uint8_t, ran::kShards> of_shard = none();  // index into workers

  [[nodiscard]] bool has_worker(std::uint32_t id) const { return of_shard[ran::shard_of(id).value] != kNoWorker; }

  // Hands a packet off to the worker of its bearer. Drops it (worker_full) if that worker's ring is full.
  void hand_off(rte_mbuf* m, std::uint32_t id, Direction direction, WorkerStats& stats, Drops& drops) {
    const WorkerRings& rings = workers[of_shard[ran::shard_of(id).value]];
    if (rte_ring_sp_enqueue(rings.of(direction), m) != 0) {
      drops.add(m, DropReason::worker_full);
      return;
    }
    stats.dispatched.add(1);
    if (rings.worker != nullptr) rings.worker->wake();
  }

 private:
  [[nodiscard]] static constexpr std::array<std::uint8_t, ran::kShards> none() {
    std::array<std::uint8_t, ran::kShards> all{};
    all.fill(kNoWorker);
    return all;
  }
};

}  // namespace splitplane::datapath
