#include "gnb/control/contexts.h"

#include <algorithm>
#include <random>

namespace splitplane::app {
namespace {

template <class Sections>
const auto& of_port(const Sections& sections, const std::string& port) {
  return *std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.port == port; });
}

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

void fill(datapath::GnbContext& gnb, const GnbConfig& config, const WorkerConfig& worker, const PortFacts& n3,
          const PortFacts& air) {
  const N3Config& own = of_port(config.n3, worker.n3);
  if (own.ipv4) std::memcpy(&gnb.n3.ipv4, own.ipv4->octets().data(), 4);
  if (own.ipv6) gnb.n3.ipv6 = own.ipv6->octets();
  gnb.n3.mac = n3.mac;
  gnb.n3.mtu = n3.mtu;
  gnb.n3.vlan = own.vlan;
  gnb.n3.tos = tos_of_port(config, worker.n3);
  gnb.n3.source_mask = own.any_source ? 0 : ~std::uint32_t{0};
  if (!worker.air.empty()) {
    wire::ethernet::write(gnb.air_header, of_port(config.air, worker.air).peer_mac.octets, air.mac.octets,
                          wire::ethernet::kTypeAirhdr);
    gnb.air_frame_bytes = wire::ethernet::kHeaderBytes + air.mtu;
  }
  if (!is_fed(config, worker)) gnb.checksums = n3.checksums;  // else the dispatching worker has looked at them
}

void fill(datapath::DispatchContext& dispatch, const PortFacts& n3) {
  dispatch.worker_of_shard.fill(datapath::DispatchContext::kNoWorker);
  dispatch.checksums = n3.checksums;
}

void feed(datapath::DispatchContext& dispatch, const WorkerConfig& worker, const datapath::GnbContext& gnb,
          datapath::WorkerRings rings) {
  const auto index = static_cast<std::uint8_t>(dispatch.workers.size());
  dispatch.workers.push_back(rings);
  dispatch.n3 = gnb.n3;
  for (unsigned shard = worker.shard_first; shard <= worker.shard_last; ++shard) {
    dispatch.worker_of_shard[shard] = index;
  }
}

std::vector<DispatchQueue> dispatch_queues(const GnbConfig& config, const WorkerConfig& worker) {
  std::vector<DispatchQueue> queues;
  for (const auto& port : config.ports) {
    for (std::uint16_t queue = 0; queue < port.rx_queues; ++queue) {
      if (port.name == worker.n3) queues.push_back({port.name, queue, Direction::kDownlink});
      if (port.name == worker.air) queues.push_back({port.name, queue, Direction::kUplink});
    }
  }
  return queues;
}

bool reads_vfs(const GnbConfig& config, const CardLinkConfig& card, const WorkerConfig& worker) {
  return worker.function == WorkerConfig::Function::kGnb && worker.n3 == card.n3 && !is_fed(config, worker);
}

void add_worker(datapath::PuntHandoff& handoff, const WorkerConfig& worker, datapath::WorkerRings rings) {
  for (unsigned shard = worker.shard_first; shard <= worker.shard_last; ++shard)
    handoff.of_shard[shard] = static_cast<std::uint8_t>(handoff.workers.size());
  handoff.workers.push_back(rings);
}

Expected<void> make_key_tables(datapath::BearerLookup& keys, std::vector<DpdkArray<std::byte>>& memory,
                               GnbConfig::Lookup lookup, std::size_t teids, std::size_t addresses,
                               const std::string& worker) {
  keys.by_ue_address = lookup == GnbConfig::Lookup::kUeAddress;
  Expected<void> made;
  if (teids != 0) made = make_table(keys.teids, memory, teids, worker);
  if (made && keys.by_ue_address) made = make_table(keys.ue_ipv4, memory, addresses, worker);
  if (made && keys.by_ue_address) made = make_table(keys.ue_ipv6, memory, addresses, worker);
  return made;
}

std::size_t key_tables_bytes(GnbConfig::Lookup lookup, std::size_t teids, std::size_t addresses) {
  using Keys = datapath::BearerLookup;
  std::size_t bytes = teids == 0 ? 0 : Keys::Short::bytes_needed(teids);
  if (lookup == GnbConfig::Lookup::kUeAddress) {
    bytes += Keys::Short::bytes_needed(addresses) + Keys::Long::bytes_needed(addresses);
  }
  return bytes;
}

}  // namespace splitplane::app
