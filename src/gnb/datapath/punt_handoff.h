// Handoff between the gNB workers behind one card. The card steers a bearer's packets to its worker. Packets that the
// card cannot read come by one VF a side. The worker that reads that VF hands each of them off to the worker of its
// bearer. This path is rare: it takes one packet at a time, and drops it if the ring of the other worker is full.
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

struct Mates {
  static constexpr std::uint8_t kNobody = 0xff;
  std::vector<WorkerRings> workers;
  std::array<std::uint8_t, ran::kShards> of_shard = nobody();  // index into workers

  [[nodiscard]] bool own(std::uint32_t id) const { return of_shard[ran::shard_of(id).value] != kNobody; }

  // Hands a packet off to the worker of its bearer, or drops it if that worker's ring is full.
  void hand_over(rte_mbuf* m, std::uint32_t id, Direction direction, WorkerStats& stats, Losses& losses) {
    const WorkerRings& mate = workers[of_shard[ran::shard_of(id).value]];
    if (rte_ring_sp_enqueue(direction == Direction::kDownlink ? mate.downlink : mate.uplink, m) != 0) {
      losses.add(m, DropReason::worker_full);
      return;
    }
    stats.dispatched.add(1);
    if (mate.worker != nullptr) mate.worker->wake();
  }

 private:
  [[nodiscard]] static constexpr std::array<std::uint8_t, ran::kShards> nobody() {
    std::array<std::uint8_t, ran::kShards> all{};
    all.fill(kNobody);
    return all;
  }
};

}  // namespace splitplane::datapath
