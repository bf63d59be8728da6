// The bearers of one worker by TEID: shard -> slab -> line. Each line is verified by its identity. A session with
// several bearers has a line, too (session_line.h). The owner provides the memory (hugepages in the datapath) shard by
// shard. So a shard moves between workers by moving a pointer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ran/bearer.h"
#include "ran/bearer_config.h"
#include "ran/session_line.h"

namespace splitplane::ran {

// Counters that only drops change: packets that found their bearer and then were dropped.
struct BearerDrops {
  std::uint64_t downlink = 0, uplink = 0;
};

static_assert(sizeof(BearerDrops) == 16);

// All of a worker's memory for one bearer.
inline constexpr std::size_t kBytesPerBearer = kHotBytesPerBearer + sizeof(BearerDrops) + sizeof(CountLease);

// One shard's lines. `downlink[i]`, `uplink[i]`, `drops[i]` and `leases[i]` belong to the bearer with index i.
struct ShardSlab {
  BearerDownlink* downlink = nullptr;
  BearerUplink* uplink = nullptr;
  BearerDrops* drops = nullptr;
  std::uint32_t capacity = 0;
  CountLease* leases = nullptr;  // absent: COUNTs need no lease
};

class BearerTable {
 public:
  // Takes over a shard. All its lines must be initialised (free lines have identity 0).
  void attach(ShardId shard, ShardSlab slab) { shards_[shard.value] = slab; }
  // Gives up a shard; its bearers are unknown here from now on.
  ShardSlab detach(ShardId shard) { return std::exchange(shards_[shard.value], ShardSlab{}); }
  [[nodiscard]] bool owns(std::uint32_t teid) const { return shards_[shard_of(teid).value].capacity != 0; }
  [[nodiscard]] const ShardSlab& slab(ShardId shard) const { return shards_[shard.value]; }

  // The line where `teid` would be: an address to prefetch, which may not hold that bearer. Never null.
  [[nodiscard]] BearerDownlink* downlink_line(std::uint32_t teid) {
    const ShardSlab& slab = shards_[shard_of(teid).value];
    const std::uint32_t index = index_of(teid);
    return index < slab.capacity ? slab.downlink + index : &no_downlink_;
  }
  [[nodiscard]] BearerUplink* uplink_line(std::uint32_t id) {
    const ShardSlab& slab = shards_[shard_of(id).value];
    const std::uint32_t index = index_of(id);
    return index < slab.capacity ? slab.uplink + index : &no_uplink_;
  }

  // The downlink line of a bearer that was found in this table. The first bearer of a session with several ones has it
  // elsewhere, because the session line stands at its place.
  [[nodiscard]] BearerDownlink* bearer_line(std::uint32_t id) {
    BearerDownlink* const line = downlink_line(id);
    return is_session(*line, id) ? downlink_line(session_bearer(*line, id, kFirstBearer).place) : line;
  }

  // Drops of a bearer that was found in this table.
  [[nodiscard]] BearerDrops& drops(std::uint32_t id) { return shards_[shard_of(id).value].drops[index_of(id)]; }

  // The lease of a bearer that was found in this table; nullptr if its COUNTs need none.
  [[nodiscard]] CountLease* lease(std::uint32_t id) {
    CountLease* const leases = shards_[shard_of(id).value].leases;
    return leases == nullptr ? nullptr : leases + index_of(id);
  }

  // True if the line is the bearer of that identity. No bearer has identity 0; free lines have it.
  template <class Line>
  [[nodiscard]] static bool is(const Line& line, std::uint32_t id) {
    return line.id == id && id != 0;
  }

 private:
  std::array<ShardSlab, kShards> shards_{};
  BearerDownlink no_downlink_{};
  BearerUplink no_uplink_{};
};

}  // namespace splitplane::ran
