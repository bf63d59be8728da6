// Tables for bearers that are found by a key of somebody else's choosing, in each worker that looks for one: room is
// made once at the start, and a full table refuses the bearer.
#include <algorithm>

#include "gnb/control/instance.h"
#include "gnb/control/key_tables.h"

namespace splitplane::app {
// Every worker has room for all keys: which bearers a shard gets is the operator's choice.
Expected<void> UserPlane::make_key_tables() {
  for (auto& worker : workers_) {
    if (worker->keys() == nullptr) continue;
    auto made = app::make_key_tables(*worker->keys(), worker->key_memory, config_.lookup, config_.foreign_teids,
                                     config_.max_bearers, worker->config.name);
    if (!made) return made;
  }
  return {};
}

std::array<KeyTableObservation, 3> UserPlane::observe_keys(const datapath::ForeignKeys& keys) {
  const auto of = [](std::string_view name, const auto& table) {
    if (!table) return KeyTableObservation{};
    const auto& s = table->stats();
    return KeyTableObservation{name, s.entries, s.slots, s.displaced(), s.refused};
  };
  return {of("dl_teid", keys.teids), of("ue_ipv4", keys.ue_ipv4), of("ue_ipv6", keys.ue_ipv6)};
}

// The worker that serves a bearer first, then the dispatching workers in front of it, and the one that hands it what a
// card punted.
std::vector<WorkerRuntime*> UserPlane::key_holders(WorkerRuntime& owner) {
  std::vector<WorkerRuntime*> holders{&owner};
  const std::uint32_t one_of_its =
      ran::make_teid(config_.instance, ShardId{static_cast<std::uint8_t>(owner.config.shard_first)}, 0);
  for (auto& worker : workers_) {
    const auto& to = worker->config.to;
    const bool dispatches = worker->dispatch && std::count(to.begin(), to.end(), owner.config.name) != 0;
    const bool hands_over = worker->gnb && worker->gnb->mates.own(one_of_its);
    if (worker.get() != &owner && (dispatches || hands_over)) holders.push_back(worker.get());
  }
  return holders;
}

}  // namespace splitplane::app
