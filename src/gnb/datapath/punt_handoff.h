// The other gNB workers behind the same card. The card leads a bearer's packets to its worker, but what it cannot read
// comes by one VF a side: the worker that reads that one hands a packet of a mate's bearer on. A cold path: one packet
// at a time, and a mate whose ring is full loses it.
#pragma once

#include <array>
#include <vector>

#include "base/types.h"
#include "engine/burst.h"
#include "engine/handoff_rings.h"
#include "ran/bearer_config.h"

namespace splitplane::datapath {

// Of a gNB worker's counters of received packets: downlink that a mate handed over, then uplink.
inline constexpr std::size_t kHandedQueue = 2;

struct Mates {
  static constexpr std::uint8_t kNobody = 0xff;
  std::vector<WorkerRings> workers;
  std::array<std::uint8_t, ran::kShards> of_shard = nobody();  // index into workers

  [[nodiscard]] bool own(std::uint32_t id) const { return of_shard[ran::shard_of(id).value] != kNobody; }

  // Of a bearer that a mate owns: the packet is that worker's now, or lost.
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
