// The acknowledged bearers of a gNB worker by identity. A lookup is one indexed load.
#pragma once

#include <array>
#include <vector>

#include "arq/arq.h"
#include "ran/bearer_config.h"

namespace splitplane::datapath {

class ArqBearers {
 public:
  // Makes room for `capacity` bearers of a shard.
  void attach(ShardId shard, std::uint32_t capacity) { shards_[shard.value].resize(capacity); }

  // Returns nullptr if there is no such bearer, or if it is not acknowledged.
  [[nodiscard]] ArqBearer* find(std::uint32_t id) const {
    const auto& shard = shards_[ran::shard_of(id).value];
    const std::uint32_t index = ran::index_of(id);
    return index < shard.size() ? shard[index].get() : nullptr;
  }
  // Puts a bearer in its place, for which attach() made room. Returns the bearer that was there.
  std::unique_ptr<ArqBearer> exchange(std::uint32_t id, std::unique_ptr<ArqBearer> bearer) {
    return std::exchange(shards_[ran::shard_of(id).value][ran::index_of(id)], std::move(bearer));
  }

 private:
  std::array<std::vector<std::unique_ptr<ArqBearer>>, ran::kShards> shards_;
};

}  // namespace splitplane::datapath
