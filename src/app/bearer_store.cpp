#include "app/bearer_store.h"

#include <algorithm>

namespace splitplane::app {

BearerStore::BearerStore(unsigned instance, std::vector<ShardId> owned, std::uint32_t per_shard)
    : instance_(instance), owned_(std::move(owned)), per_shard_(per_shard) {
  for (const ShardId shard : owned_) shards_[shard.value].owned = true;
  // Identity 0 marks a free line, so nobody gets it.
  if (instance_ == 0) shards_[0].next = 1;
}

BearerStore::UplinkKey BearerStore::uplink_key(const IpAddress& upf, Teid teid) {
  UplinkKey key{{}, teid.value};
  std::copy(upf.octets().begin(), upf.octets().end(), key.first.begin());
  key.first[16] = upf.is_v6() ? 1 : 0;
  return key;
}

Expected<BearerId> BearerStore::choose(std::optional<unsigned> wanted) {
  if (wanted) {
    if (*wanted >= ran::kShards || !shards_[*wanted].owned) {
      return fail("shard {} is served by no worker of this instance", *wanted);
    }
    if (!has_room(shards_[*wanted])) return fail("shard {} is full ({} bearers)", *wanted, per_shard_);
  }
  for (std::size_t tried = 0; tried < owned_.size(); ++tried) {
    const ShardId id = wanted ? ShardId{static_cast<std::uint8_t>(*wanted)} : owned_[turn_++ % owned_.size()];
    Shard& shard = shards_[id.value];
    if (!has_room(shard)) continue;
    std::uint32_t index = 0;
    if (shard.next < per_shard_) {
      index = shard.next++;
    } else {
      index = shard.released.front();
      shard.released.pop_front();
    }
    return BearerId{ran::make_teid(instance_, id, index)};
  }
  return fail("no room for another bearer: {} are served (max_bearers)", bearers_.size());
}

Expected<void> BearerStore::claim(BearerId id) {
  const std::uint32_t teid = id.value;
  Shard& shard = shards_[ran::shard_of(teid).value];
  const std::uint32_t index = ran::index_of(teid);
  if (teid >> (ran::kIndexBits + ran::kShardBits) != instance_ || !shard.owned || index >= per_shard_) {
    return fail("identity {:#010x} is not one of this instance: allowed are instance {}, served shards, index below {}",
                teid, instance_, per_shard_);
  }
  if (bearers_.contains(teid)) return fail("identity {:#010x} is taken", teid);
  if (index < shard.next) {
    std::erase(shard.released, index);
    return {};
  }
  for (; shard.next < index; ++shard.next) shard.released.push_back(shard.next);
  ++shard.next;
  return {};
}

Expected<ran::BearerConfig> BearerStore::add(ran::BearerConfig config, std::optional<unsigned> shard) {
  if (const auto refused = ran::refuse(config)) return fail("{}", *refused);
  if (const auto* twin = find_uplink(config.upf, config.uplink_teid)) {
    return fail("uplink TEID {:#010x} at {} is in use by bearer {:#010x}", config.uplink_teid.value,
                config.upf.to_string(), twin->id.value);
  }
  if (config.id.value != 0) {
    if (auto claimed = claim(config.id); !claimed) return tl::unexpected(claimed.error());
  } else {
    auto chosen = choose(shard);
    if (!chosen) return tl::unexpected(chosen.error());
    config.id = *chosen;
  }
  by_uplink_[uplink_key(config.upf, config.uplink_teid)] = config.id.value;
  bearers_[config.id.value] = config;
  return config;
}

const ran::BearerConfig* BearerStore::find_uplink(const IpAddress& upf, Teid uplink_teid) const {
  const auto found = by_uplink_.find(uplink_key(upf, uplink_teid));
  return found == by_uplink_.end() ? nullptr : find(BearerId{found->second});
}

const ran::BearerConfig* BearerStore::find(BearerId id) const {
  const auto found = bearers_.find(id.value);
  return found == bearers_.end() ? nullptr : &found->second;
}

void BearerStore::replace(const ran::BearerConfig& config) {
  ran::BearerConfig& entry = bearers_.at(config.id.value);
  by_uplink_.erase(uplink_key(entry.upf, entry.uplink_teid));
  entry = config;
  by_uplink_[uplink_key(entry.upf, entry.uplink_teid)] = entry.id.value;
}

void BearerStore::remove(BearerId id) {
  const auto found = bearers_.find(id.value);
  if (found == bearers_.end()) return;
  by_uplink_.erase(uplink_key(found->second.upf, found->second.uplink_teid));
  shards_[ran::shard_of(id.value).value].released.push_back(ran::index_of(id.value));
  bearers_.erase(found);
}

std::vector<ran::BearerConfig> BearerStore::after(std::uint32_t after, std::size_t limit) const {
  std::vector<ran::BearerConfig> page;
  for (auto at = bearers_.upper_bound(after); at != bearers_.end() && page.size() < limit; ++at)
    page.push_back(at->second);
  return page;
}

}  // namespace splitplane::app
