// What a worker has beside the lines for some of its bearers, by their identity. A lookup is one indexed load.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "ran/bearer_config.h"

namespace splitplane::ran {

template <class T>
class ByIdentity {
 public:
  using Places = std::vector<std::unique_ptr<T>>;

  // Makes room for `capacity` bearers of a shard.
  void attach(ShardId shard, std::uint32_t capacity) { attach(shard, Places(capacity)); }
  // The same with room that the caller made. Nothing is allocated here.
  void attach(ShardId shard, Places places) { shards_[shard.value] = std::move(places); }
  [[nodiscard]] bool is_attached(ShardId shard) const { return !shards_[shard.value].empty(); }

  // Returns nullptr if the bearer has none.
  [[nodiscard]] T* find(std::uint32_t id) const {
    const auto& shard = shards_[shard_of(id).value];
    const std::uint32_t index = index_of(id);
    return index < shard.size() ? shard[index].get() : nullptr;
  }
  // Fetches the place where find() looks, for a bearer that may have none.
  void prefetch(std::uint32_t id) const { __builtin_prefetch(shards_[shard_of(id).value].data() + index_of(id)); }
  // Puts one in its place, for which attach() made room. Returns what was there.
  std::unique_ptr<T> exchange(std::uint32_t id, std::unique_ptr<T> one) {
    return std::exchange(shards_[shard_of(id).value][index_of(id)], std::move(one));
  }

 private:
  std::array<Places, kShards> shards_;
};

}  // namespace splitplane::ran
