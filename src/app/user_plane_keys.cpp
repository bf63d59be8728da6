// Tables for bearers that are found by a key of somebody else's choosing, in each worker that looks for one: room is
// made once at the start, and a full table refuses the bearer.
#include <algorithm>
#include <random>

#include "app/user_plane.h"

namespace splitplane::app {
namespace {

template <class Table>
Expected<void> make_table(std::optional<Table>& table, std::vector<DpdkArray<std::byte>>& memory, std::size_t entries,
                          const WorkerRuntime& worker) {
  const std::size_t bytes = Table::bytes_needed(entries);
  memory.push_back(make_dpdk_array<std::byte>("keys", bytes));
  if (!memory.back()) {
    return fail("worker {}: no memory for a table of {} keys ({} MiB); allowed: a larger memory.megabytes or fewer "
                "keys",
                worker.config.name, entries, bytes >> 20);
  }
  std::random_device random;
  const std::uint64_t seed = (std::uint64_t{random()} << 32) | random();
  auto made = Table::create({memory.back().get(), bytes}, entries, seed);
  if (!made) return tl::unexpected(made.error());
  table.emplace(std::move(*made));
  return {};
}

}  // namespace

// Every worker has room for all keys: which bearers a shard gets is the operator's choice.
Expected<void> UserPlane::make_key_tables() {
  const bool by_ue_address = config_.lookup == Config::Lookup::kUeAddress;
  for (auto& worker : workers_) {
    datapath::ForeignKeys* keys = worker->keys();
    if (keys == nullptr) continue;
    keys->by_ue_address = by_ue_address;
    Expected<void> made;
    if (config_.foreign_teids != 0) made = make_table(keys->teids, worker->key_memory, config_.foreign_teids, *worker);
    if (made && by_ue_address) made = make_table(keys->ue_ipv4, worker->key_memory, config_.max_bearers, *worker);
    if (made && by_ue_address) made = make_table(keys->ue_ipv6, worker->key_memory, config_.max_bearers, *worker);
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

// The worker that serves a bearer, and the dispatching workers in front of it.
std::vector<WorkerRuntime*> UserPlane::key_holders(const WorkerRuntime& owner) {
  std::vector<WorkerRuntime*> holders;
  for (auto& worker : workers_) {
    const auto& to = worker->config.to;
    const bool dispatches = worker->dispatch && std::count(to.begin(), to.end(), owner.config.name) != 0;
    if (worker.get() == &owner || dispatches) holders.push_back(worker.get());
  }
  return holders;
}

}  // namespace splitplane::app
