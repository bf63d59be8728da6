#include "gnb/control/key_tables.h"

#include <random>

namespace splitplane::app {
namespace {

template <class Table>
Expected<void> make_table(std::optional<Table>& table, std::vector<DpdkArray<std::byte>>& memory, std::size_t entries,
                          const std::string& worker) {
  const std::size_t bytes = Table::bytes_needed(entries);
  memory.push_back(make_dpdk_array<std::byte>("keys", bytes));
  if (!memory.back()) {
    return fail(
        "worker {}: no memory for a table of {} keys ({} MiB); allowed: a larger memory.megabytes or fewer keys",
        worker, entries, bytes >> 20);
  }
  std::random_device random;
  const std::uint64_t seed = (std::uint64_t{random()} << 32) | random();
  auto made = Table::create({memory.back().get(), bytes}, entries, seed);
  if (!made) return tl::unexpected(made.error());
  table.emplace(std::move(*made));
  return {};
}

}  // namespace

Expected<void> make_key_tables(datapath::ForeignKeys& keys, std::vector<DpdkArray<std::byte>>& memory,
                               Config::Lookup lookup, std::size_t teids, std::size_t addresses,
                               const std::string& worker) {
  keys.by_ue_address = lookup == Config::Lookup::kUeAddress;
  Expected<void> made;
  if (teids != 0) made = make_table(keys.teids, memory, teids, worker);
  if (made && keys.by_ue_address) made = make_table(keys.ue_ipv4, memory, addresses, worker);
  if (made && keys.by_ue_address) made = make_table(keys.ue_ipv6, memory, addresses, worker);
  return made;
}

std::size_t key_tables_bytes(Config::Lookup lookup, std::size_t teids, std::size_t addresses) {
  using Keys = datapath::ForeignKeys;
  std::size_t bytes = teids == 0 ? 0 : Keys::Short::bytes_needed(teids);
  if (lookup == Config::Lookup::kUeAddress) {
    bytes += Keys::Short::bytes_needed(addresses) + Keys::Long::bytes_needed(addresses);
  }
  return bytes;
}

}  // namespace splitplane::app
