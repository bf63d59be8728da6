// For tests only: a machine whose bearers are in memory and nowhere else, behind the methods bearer.*.
#pragma once

#include <algorithm>
#include <functional>
#include <map>

#include "ran/control/bearer_methods.h"

namespace splitplane::app {

class MemoryBearers {
 public:
  explicit MemoryBearers(std::size_t capacity = 100000) : capacity_(capacity) {}

  Expected<AddedBearers> add(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard) {
    if (bearers_.size() + wanted.size() > capacity_) return fail("no room; allowed: {} bearers", capacity_);
    AddedBearers added{{wanted.begin(), wanted.end()}, 0};
    for (ran::BearerConfig& bearer : added.bearers) {
      const auto twin = std::ranges::find_if(bearers_, [&](const auto& b) {
        return b.second.config.upf == bearer.upf && b.second.config.uplink_teid == bearer.uplink_teid;
      });
      if (twin != bearers_.end()) {
        bearer = twin->second.config;
        ++added.existed;
        continue;
      }
      if (bearer.id.value == 0)
        bearer.id.value = ran::make_teid(1, ShardId{static_cast<std::uint8_t>(shard.value_or(0))}, ++last_);
      bearers_[bearer.id.value].config = bearer;
    }
    return added;
  }
  Expected<ran::BearerConfig> modify(BearerId id, const BearerPatch& patch) {
    const auto at = bearers_.find(id.value);
    if (at == bearers_.end()) return fail("there is no bearer {:#x}", id.value);
    ran::BearerConfig& bearer = at->second.config;
    return bearer = patch.applied_to(bearer);
  }
  Expected<bool> release(BearerId id) { return bearers_.erase(id.value) == 1; }
  Expected<BearerView> show(BearerId id) {
    const auto at = bearers_.find(id.value);
    if (at == bearers_.end()) return fail("there is no bearer {:#x}", id.value);
    return at->second;
  }
  Expected<std::vector<BearerView>> list(std::uint32_t after, std::size_t limit) {
    std::vector<BearerView> page;
    for (auto at = bearers_.upper_bound(after); at != bearers_.end() && page.size() < limit; ++at)
      page.push_back(at->second);
    return page;
  }

  // This must outlive the registry.
  void add_methods(MethodRegistry& registry) {
    const auto calls = [this](auto member) { return std::bind_front(member, this); };
    const WaitForDisk wait_for_disk = [] { return Expected<void>(); };
    registry.add("bearer.add", bearer_add(calls(&MemoryBearers::add), wait_for_disk));
    registry.add("bearer.modify", bearer_modify(calls(&MemoryBearers::modify), wait_for_disk));
    registry.add("bearer.release", bearer_release(calls(&MemoryBearers::release), wait_for_disk));
    registry.add("bearer.list", bearer_list(calls(&MemoryBearers::list)));
    registry.add("bearer.show", bearer_show(calls(&MemoryBearers::show)));
  }
  [[nodiscard]] std::size_t size() const { return bearers_.size(); }

 private:
  std::size_t capacity_;
  std::uint32_t last_ = 0;
  std::map<std::uint32_t, BearerView> bearers_;
};

}  // namespace splitplane::app
