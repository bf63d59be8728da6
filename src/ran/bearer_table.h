// The bearers of one worker by TEID: shard -> slab -> line, each line verified by its own identity. Memory is the
// owner's (hugepages in the datapath), given shard by shard, so that a shard can move between workers by pointer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ran/bearer.h"
#include "ran/bearer_config.h"

namespace splitplane::ran {

// What only a loss touches: packets that found their bearer and then had to be dropped.
struct BearerLosses {
  std::uint64_t downlink = 0, uplink = 0;
};

static_assert(sizeof(BearerLosses) == 16);

// All of a worker's memory for one bearer.
inline constexpr std::size_t kBytesPerBearer = kHotBytesPerBearer + sizeof(BearerLosses) + sizeof(CountLease);

// One shard's lines: `downlink[i]`, `uplink[i]`, `losses[i]` and `leases[i]` belong to the bearer with index i.
struct ShardSlab {
  BearerDownlink* downlink = nullptr;
  BearerUplink* uplink = nullptr;
  BearerLosses* losses = nullptr;
  std::uint32_t capacity = 0;
  CountLease* leases = nullptr;  // absent: COUNTs need none
};

class BearerTable {
 public:
  // Takes over a shard. All its lines must be initialised (free lines have identity 0).
  void attach(ShardId shard, ShardSlab slab) { shards_[shard.value] = slab; }
  // Gives a shard up; its bearers are unknown here from now on.
  ShardSlab detach(ShardId shard) { return std::exchange(shards_[shard.value], ShardSlab{}); }
  [[nodiscard]] bool owns(std::uint32_t teid) const { return shards_[shard_of(teid).value].capacity != 0; }
  [[nodiscard]] const ShardSlab& slab(ShardId shard) const { return shards_[shard.value]; }

  // The line where `teid` would be: a place to prefetch, not yet a bearer. Never null.
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

  // Losses of a bearer that was found in this table.
  [[nodiscard]] BearerLosses& losses(std::uint32_t id) { return shards_[shard_of(id).value].losses[index_of(id)]; }

  // The lease of a bearer that was found in this table; nullptr: its COUNTs need none.
  [[nodiscard]] CountLease* lease(std::uint32_t id) {
    CountLease* const leases = shards_[shard_of(id).value].leases;
    return leases == nullptr ? nullptr : leases + index_of(id);
  }

  // Whether a line is the bearer of that identity. Identity 0 is nobody's: free lines carry it.
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
