#include "ran/bearer_store.h"

#include <algorithm>

namespace splitplane::app {

namespace {

std::array<std::uint8_t, 17> address_key(const IpAddress& address) {
  std::array<std::uint8_t, 17> key{};
  std::copy(address.octets().begin(), address.octets().end(), key.begin());
  key[16] = address.is_v6() ? 1 : 0;
  return key;
}

}  // namespace

BearerStore::BearerStore(unsigned instance, std::vector<ShardId> owned, std::uint32_t per_shard, bool by_ue_address)
    : instance_(instance), owned_(std::move(owned)), per_shard_(per_shard), by_ue_address_(by_ue_address) {
  for (const ShardId shard : owned_) shards_[shard.value].owned = true;
  // Identity 0 marks a free line, so no bearer gets it.
  if (instance_ == 0) shards_[0].next = 1;
}

BearerStore::UplinkKey BearerStore::uplink_key(const IpAddress& upf, Teid teid) {
  return {address_key(upf), teid.value};
}

// An index that is free in this shard. Its identity is no bearer's dl_teid, and is not reserved.
std::optional<std::uint32_t> BearerStore::take_index(ShardId id) {
  Shard& shard = shards_[id.value];
  const auto is_taken = [&](std::uint32_t index) {
    const std::uint32_t teid = ran::make_teid(instance_, id, index);
    return by_dl_teid_.contains(teid) || reserved_.contains(teid);
  };
  while (shard.next < per_shard_) {
    const std::uint32_t index = shard.next++;
    if (!is_taken(index)) return index;
    shard.released.push_back(index);  // free again when that bearer goes
  }
  for (std::size_t left = shard.released.size(); left != 0; --left) {
    const std::uint32_t index = shard.released.front();
    shard.released.pop_front();
    if (!is_taken(index)) return index;
    shard.released.push_back(index);
  }
  return std::nullopt;
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
    if (!has_room(shards_[id.value])) continue;
    if (const auto index = take_index(id)) return BearerId{ran::make_teid(instance_, id, *index)};
  }
  return fail("no room for another bearer: {} are served (max_bearers)", bearers_.size());
}

bool BearerStore::is_ours(BearerId id) const {
  const std::uint32_t teid = id.value;
  return teid != 0 && teid >> (ran::kIndexBits + ran::kShardBits) == instance_ &&
         shards_[ran::shard_of(teid).value].owned && ran::index_of(teid) < per_shard_;
}

Expected<void> BearerStore::claim(BearerId id) {
  const std::uint32_t teid = id.value;
  Shard& shard = shards_[ran::shard_of(teid).value];
  const std::uint32_t index = ran::index_of(teid);
  if (!is_ours(id)) {
    return fail("identity {:#010x} is not one of this instance: allowed are instance {}, served shards, index below {}",
                teid, instance_, per_shard_);
  }
  if (bearers_.contains(teid) || session_of_.contains(teid)) return fail("identity {:#010x} is taken", teid);
  if (const auto named = by_dl_teid_.find(teid); named != by_dl_teid_.end()) {
    return fail("identity {:#010x} is the dl_teid of bearer {:#010x}", teid, named->second);
  }
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
  if (config.dl_teid && config.id.value == config.dl_teid->value) config.dl_teid.reset();  // ours after all
  if (const auto error = key_in_use(config)) return tl::unexpected(*error);
  if (config.id.value != 0) {
    if (auto claimed = claim(config.id); !claimed) return tl::unexpected(claimed.error());
  } else {
    auto chosen = choose(shard);
    if (!chosen) return tl::unexpected(chosen.error());
    config.id = *chosen;
  }
  by_uplink_[uplink_key(config.upf, config.uplink_teid)] = config.id.value;
  if (config.dl_teid) by_dl_teid_[config.dl_teid->value] = config.id.value;
  for (const auto& address : {config.ue_ipv4, config.ue_ipv6}) {
    if (address) by_ue_[address_key(*address)] = config.id.value;
  }
  bearers_[config.id.value] = config;
  return config;
}

Expected<ran::SessionConfig> BearerStore::add_session(ran::SessionConfig config, std::optional<unsigned> shard) {
  if (config.bearers.empty()) return fail("{}", *ran::refuse(config));
  ran::BearerConfig& front = config.bearers.front().config;
  std::vector<BearerId> taken;  // of the other bearers, and the spare one
  const auto enter = [&](BearerId id) {
    session_of_[id.value] = id.value;  // until the session has its TEID, so that the identity is not taken twice
    taken.push_back(id);
  };
  const auto undo = [&](const std::string& why) {
    for (const BearerId id : taken) {
      session_of_.erase(id.value);
      give_back(id);
    }
    return fail("{}", why);
  };
  std::vector<BearerId*> others;
  for (std::size_t i = 1; i < config.bearers.size(); ++i) others.push_back(&config.bearers[i].config.id);
  others.push_back(&config.spare);

  for (const BearerId* id : others) {  // those that are named come first, so that none of them is chosen for another
    if (id->value == 0 || *id == front.id) continue;
    if (const auto claimed = claim(*id); !claimed) return undo(claimed.error().message);
    enter(*id);
    if (!shard && front.id.value == 0) shard = ran::shard_of(id->value).value;
  }
  const auto dl_teid = front.dl_teid;
  const auto first = add(front, shard);
  if (!first) return undo(first.error().message);
  front = *first;
  const auto undo_all = [&](const std::string& why) {
    remove(first->id);
    return undo(why);
  };
  for (BearerId* id : others) {
    if (id->value != 0) continue;
    const auto chosen = choose(ran::shard_of(first->id.value).value);
    if (!chosen) return undo_all(chosen.error().message);
    *id = *chosen;
    enter(*id);
  }
  for (ran::SessionBearer& bearer : config.bearers) {
    if (bearer.config.dl_teid == dl_teid) bearer.config.dl_teid = first->dl_teid;
  }
  if (const auto refused = ran::refuse(config)) return undo_all(*refused);
  for (const BearerId id : taken) session_of_[id.value] = first->id.value;
  session_of_[first->id.value] = first->id.value;
  for (const ran::SessionBearer& bearer : config.bearers) bearers_[bearer.config.id.value] = bearer.config;
  return sessions_[first->id.value] = config;
}

void BearerStore::remove_session(Teid teid) {
  const auto found = sessions_.find(teid.value);
  if (found == sessions_.end()) return;
  const ran::SessionConfig config = std::move(found->second);
  sessions_.erase(found);
  for (std::size_t i = 1; i < config.bearers.size(); ++i) {
    const BearerId id = config.bearers[i].config.id;
    session_of_.erase(id.value);
    bearers_.erase(id.value);
    give_back(id);
  }
  session_of_.erase(config.spare.value);
  give_back(config.spare);
  session_of_.erase(teid.value);
  remove(BearerId{teid.value});  // with the keys of the session
}

void BearerStore::replace_session(const ran::SessionConfig& config) {
  if (const auto found = sessions_.find(config.teid().value); found != sessions_.end()) found->second = config;
}

const ran::SessionConfig* BearerStore::session_of(BearerId id) const {
  const auto teid = session_of_.find(id.value);
  if (teid == session_of_.end() || !bearers_.contains(id.value)) return nullptr;
  const auto found = sessions_.find(teid->second);
  return found == sessions_.end() ? nullptr : &found->second;
}

std::vector<ran::SessionConfig> BearerStore::sessions_after(std::uint32_t after, std::size_t limit) const {
  std::vector<ran::SessionConfig> page;
  for (auto at = sessions_.upper_bound(after); at != sessions_.end() && page.size() < limit; ++at)
    page.push_back(at->second);
  return page;
}

std::optional<Error> BearerStore::key_in_use(const ran::BearerConfig& config) const {
  const auto sentence = [](const std::string& key, std::uint32_t holder) {
    return Error{fmt::format("{} is in use by bearer {:#010x}", key, holder)};
  };
  if (config.dl_teid) {
    const std::uint32_t teid = config.dl_teid->value;
    const std::string key = fmt::format("dl_teid: {:#010x}", teid);
    if (bearers_.contains(teid)) return sentence(key, teid);
    if (const auto at = by_dl_teid_.find(teid); at != by_dl_teid_.end()) return sentence(key, at->second);
  }
  if (by_ue_address_ && !config.ue_ipv4 && !config.ue_ipv6) {
    return Error{"has no UE address, which lookup ue_address needs; allowed: ue_ipv4, ue_ipv6 or both"};
  }
  for (const auto& [key, address] : {std::pair{"ue_ipv4", config.ue_ipv4}, {"ue_ipv6", config.ue_ipv6}}) {
    if (!address) continue;
    const auto at = by_ue_.find(address_key(*address));
    if (at == by_ue_.end()) continue;
    // As gnb/config/check_bearers.cpp says it of a file.
    return Error{fmt::format("{}: {} holds a UE address that bearer {:#010x} has too; allowed: one that no bearer has",
                             key, address->to_string(), at->second)};
  }
  return std::nullopt;
}

const ran::BearerConfig* BearerStore::find_uplink(const IpAddress& upf, Teid uplink_teid) const {
  const auto found = by_uplink_.find(uplink_key(upf, uplink_teid));
  return found == by_uplink_.end() ? nullptr : find(BearerId{found->second});
}

const ran::BearerConfig* BearerStore::find(BearerId id) const {
  const auto found = bearers_.find(id.value);
  return found == bearers_.end() ? nullptr : &found->second;
}

const ran::BearerConfig* BearerStore::find_downlink(Teid teid) const {
  const auto named = by_dl_teid_.find(teid.value);
  return find(BearerId{named == by_dl_teid_.end() ? teid.value : named->second});
}

void BearerStore::replace(const ran::BearerConfig& config) {
  ran::BearerConfig& entry = bearers_.at(config.id.value);
  if (const auto teid = session_of_.find(config.id.value); teid != session_of_.end()) {
    // The tunnel's keys lead to the first bearer, and stay.
    entry = config;
    for (ran::SessionBearer& bearer : sessions_.at(teid->second).bearers) {
      if (bearer.config.id == config.id) bearer.config = config;
    }
    return;
  }
  by_uplink_.erase(uplink_key(entry.upf, entry.uplink_teid));
  entry = config;
  by_uplink_[uplink_key(entry.upf, entry.uplink_teid)] = entry.id.value;
}

void BearerStore::remove(BearerId id) {
  const auto found = bearers_.find(id.value);
  if (found == bearers_.end() || session_of_.contains(id.value)) return;
  by_uplink_.erase(uplink_key(found->second.upf, found->second.uplink_teid));
  const ran::BearerConfig& config = found->second;
  if (config.dl_teid) by_dl_teid_.erase(config.dl_teid->value);
  for (const auto& address : {config.ue_ipv4, config.ue_ipv6}) {
    if (address) by_ue_.erase(address_key(*address));
  }
  give_back(id);
  bearers_.erase(found);
}

std::vector<ran::BearerConfig> BearerStore::after(std::uint32_t after, std::size_t limit) const {
  std::vector<ran::BearerConfig> page;
  for (auto at = bearers_.upper_bound(after); at != bearers_.end() && page.size() < limit; ++at)
    page.push_back(at->second);
  return page;
}

}  // namespace splitplane::app
