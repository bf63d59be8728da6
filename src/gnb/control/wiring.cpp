#include "gnb/control/wiring.h"

#include <rte_cycles.h>

#include <algorithm>
#include <random>

#include "base/log.h"
#include "gnb/config/copies_limit.h"
#include "gnb/phy/phys.h"
#include "placement/numa_plan.h"
#include "runtime/start_up.h"

namespace splitplane::gnb {
namespace {

constexpr unsigned kPuntEntries = 256;
constexpr unsigned kWorkerEntries = 4096;
constexpr unsigned kHandedEntries = 1024;
constexpr std::size_t kLeastMessages = 4096;  // of a ring to or from the buffering service

// First error of a chain of steps.
template <class... Steps>
Expected<void> in_order(Steps&&... steps) {
  Expected<void> result;
  (void)((result = steps(), result.has_value()) && ...);
  return result;
}

bool serves(const WorkerConfig& worker, unsigned shard) {
  return worker.function == WorkerConfig::Function::kGnb && shard >= worker.shard_first && shard <= worker.shard_last;
}

}  // namespace

std::vector<ShardId> owned_shards(const GnbConfig& config) {
  std::vector<ShardId> owned;
  for (unsigned shard = 0; shard < ran::kShards; ++shard) {
    if (std::ranges::any_of(config.workers, [&](const WorkerConfig& worker) { return serves(worker, shard); }))
      owned.push_back(ShardId{static_cast<std::uint8_t>(shard)});
  }
  return owned;
}

std::uint32_t bearers_per_shard(const GnbConfig& config) {
  return static_cast<std::uint32_t>((config.max_bearers + ran::kShards - 1) / ran::kShards);
}

Expected<void> Wiring::make(Workers& workers, PeerTable& peers) {
  return in_order([&] { return open_ports(); }, [&] { return wire(workers, peers); },
                  [&] { return make_pdcp(workers); });
}

// No card sets flags where there is no device: checksums that it would verify are verified by the worker.
Expected<void> Wiring::make_without_ports(Workers& workers, PeerTable& peers, rte_mempool* pool) {
  using datapath::ChecksumMode;
  for (const PortConfig& config : config_.ports) {
    const bool verified = config.checksum.value_or(ChecksumMode::off) != ChecksumMode::off;
    port_ends_[config.name] = {{{}, config.mtu, verified ? ChecksumMode::software : ChecksumMode::off}, pool};
  }
  return wire(workers, peers);
}

Expected<void> Wiring::wire(Workers& workers, PeerTable& peers) {
  for (const auto& n3 : config_.n3) peers.add_interface(n3, port_ends_.at(n3.port).facts.mac);
  return in_order([&] { return share_with_service(workers); },
                  [&] {
                    Expected<void> made;
                    for (const auto& worker : workers.all()) {
                      if (worker->config.function != WorkerConfig::Function::kGnb) continue;
                      if (made = make_gnb(*worker, peers); !made) return made;
                    }
                    connect_copies(workers);
                    share_reorder_buffers(workers);
                    return made;
                  },
                  [&] { return make_bearer_memory(workers); }, [&] { return connect_dispatchers(workers); },
                  [&] { return connect_punt_handoff(workers); }, [&] { return make_key_tables(workers); });
}

Expected<void> Wiring::open_ports() {
  const PlacementPlan plan = plan_placement(config_, config_.sysfs_root);
  for (const auto& warning : plan.warnings) log::warn("{}", warning);
  for (const auto& config : config_.ports) {
    auto pool = make_pool("port " + config.name, config.name, config_.memory, socket_of(plan.pools.at(config.name)));
    if (!pool) return tl::unexpected(pool.error());
    auto port = datapath::Port::open(port_settings(config), pool->get());
    pools_[config.name] = *std::move(pool);
    if (!port) return tl::unexpected(port.error());
    const std::string mac = (*port)->mac().to_string();
    const auto checksums = datapath::name_of((*port)->checksums());
    log::write(spdlog::level::info,
               {{"port", config.name}, {"device", config.device}, {"mac", mac}, {"checksums", std::string(checksums)}},
               fmt::format("port {}: {} ({}), checksums: {}", config.name, config.device, mac, checksums));
    port_ends_[config.name] = {{(*port)->mac(), (*port)->mtu(), (*port)->checksums()}, pools_.at(config.name).get()};
    ports_[config.name] = std::move(*port);
  }
  return {};
}

std::vector<WatchedPort> Wiring::watched_ports() const {
  std::vector<WatchedPort> watched;
  for (const auto& config : config_.ports) {
    if (auto port = watched_port(config, ports_.at(config.name)->id())) watched.push_back(*std::move(port));
  }
  return watched;
}

Expected<rte_ring*> Wiring::make_ring(const std::string& name, unsigned entries) {
  Ring ring(rte_ring_create(name.c_str(), entries, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ));
  if (!ring) return fail("no memory for ring {} of {} entries; allowed: a larger memory.megabytes", name, entries);
  rings_.push_back(std::move(ring));
  return rings_.back().get();
}

// A ring for each direction, from another worker to this one.
Expected<datapath::WorkerRings> Wiring::make_worker_rings(WorkerRuntime& worker, const std::string& name,
                                                          unsigned entries) {
  auto downlink = make_ring(name + ".dl", entries);
  auto uplink = make_ring(name + ".ul", entries);
  if (!downlink || !uplink) return tl::unexpected((downlink ? uplink : downlink).error());
  return datapath::WorkerRings{*downlink, *uplink, &worker.power.wakeup()};
}

datapath::EthSource Wiring::source(WorkerRuntime& worker, const std::string& name, std::uint16_t queue) const {
  return {ports_.at(name)->id(), queue, &worker.taps[name]};
}

datapath::EthSink Wiring::sink(WorkerRuntime& worker, const std::string& name, std::uint16_t queue) const {
  const datapath::Port& port = *ports_.at(name);
  return {port.id(), queue, port.passes_mbufs(), &worker.taps[name]};
}

Expected<void> Wiring::make_gnb(WorkerRuntime& worker, PeerTable& peers) {
  worker.gnb = std::make_unique<datapath::GnbContext>();
  datapath::GnbContext& gnb = *worker.gnb;
  peers.add_sender(worker);
  const PortEnd& n3 = port_ends_.at(worker.config.n3);
  const PortFacts no_air;  // in full mode
  fill(gnb, config_, worker.config, n3.facts,
       worker.config.air.empty() ? no_air : port_ends_.at(worker.config.air).facts);
  gnb.pool = n3.pool;

  const auto take = [&](rte_ring*& place, const char* what, unsigned entries) -> Expected<void> {
    auto ring = make_ring(fmt::format("{}.{}", worker.config.name, what), entries);
    if (!ring) return tl::unexpected(ring.error());
    place = *ring;
    return {};
  };
  make_cell(worker, gnb);
  return in_order([&] { return make_arq(worker, gnb); },
                  [&] { return take(gnb.copies, "copies", static_cast<unsigned>(copies_of(config_, worker.config))); },
                  [&] { return make_punts(gnb.punt, worker.config.name); },
                  [&] { return take(gnb.inject, "inject", kPuntEntries); });
}

Expected<void> Wiring::share_with_service(const Workers& workers) {
  if (!config_.baas) return {};
  for (const auto& worker : workers.all()) {
    if (uses_service(worker->config)) service_workers_.push_back(worker.get());
  }
  if (service_workers_.empty()) return {};
  auto shared = baas::make_shared_memory(service_workers_.size(), config_.baas->cores.size());
  if (!shared) return tl::unexpected(shared.error());
  service_memory_ = *shared;
  return {};
}

// The window of acknowledged bearers: here, or in the buffering service over a channel to each of its cores.
Expected<void> Wiring::make_arq(WorkerRuntime& worker, datapath::GnbContext& gnb) {
  if (worker.config.baas == WorkerConfig::Baas::kNone) return {};
  const std::size_t copies = copies_of(config_, worker.config);
  datapath::Arq::Settings settings{.sends = Direction::kDownlink,
                                   .ethernet = gnb.air_header,
                                   .pool = gnb.pool,
                                   .max_unacked = copies,
                                   .max_octets = worker.config.max_copy_octets,
                                   .longest_frame = gnb.air_frame_bytes,
                                   .ticks_per_ms = rte_get_tsc_hz() / 1000,
                                   .now = rte_rdtsc()};
  if (uses_service(worker.config)) {
    const auto at = std::ranges::find(service_workers_, &worker);
    const auto number = static_cast<std::size_t>(at - service_workers_.begin());
    for (std::size_t core = 0; core < config_.baas->cores.size(); ++core) {
      std::array<rte_ring*, 2> ends{};
      for (const bool to_service : {true, false}) {
        const std::string name = baas::ring_name(number, core, to_service);
        auto ring = baas::make_message_ring(name, static_cast<unsigned>(std::max(2 * copies, kLeastMessages)));
        if (!ring) return fail("no memory for ring {}; allowed: a larger memory.megabytes", name);
        ends[to_service ? 0 : 1] = ring.get();
        message_rings_.push_back(std::move(ring));
      }
      settings.service.push_back({ends[0], ends[1]});
    }
    const unsigned shards = worker.config.shard_last - worker.config.shard_first + 1;
    settings.max_bearers = std::size_t{shards} * bearers_per_shard(config_);
    service_memory_->max_copies[number] = copies;
    worker.power.wakeup().announce_at(service_memory_->worker[number]);
  }
  gnb.arq = std::make_unique<datapath::Arq>(settings);
  return {};
}

// Full mode: the UEs with their RLC entities.
void Wiring::make_cell(const WorkerRuntime& worker, datapath::GnbContext& gnb) const {
  if (worker.config.features != datapath::FeatureSet::full) return;
  const unsigned shards = worker.config.shard_last - worker.config.shard_first + 1;
  gnb.cell = std::make_unique<datapath::Cell>(
      datapath::Cell::Settings{.pool = gnb.pool,
                               .max_sdus = copies_of(config_, worker.config),
                               .max_segments = most_segments(config_, worker.config),
                               .max_channels = std::size_t{shards} * bearers_per_shard(config_),
                               .ticks_per_ms = rte_get_tsc_hz() / 1000,
                               .now = rte_rdtsc(),
                               .last_rnti = static_cast<std::uint16_t>(std::random_device{}())},
      gnb.stats);
  if (!worker.config.phy) return;
  gnb.slots = std::make_unique<datapath::CellSlots>(slots_settings(*worker.config.phy));
  gnb.phy = std::make_unique<datapath::PhyExchange>(exchange_settings(*worker.config.phy));
}

// Not for workers without ports, as those of `splitplane explain`: a COUNT that they used would be used a second time.
Expected<void> Wiring::make_pdcp(const Workers& workers) {
  if (config_.key_file.empty()) return {};
  auto keys = datapath::BearerKeys::create(config_.key_file);
  if (!keys) return tl::unexpected(keys.error());
  for (const auto& worker : workers.all()) {
    if (!worker->gnb) continue;
    auto pdcp = datapath::WorkerPdcp::create({.sends = Direction::kDownlink,
                                              .pool = worker->gnb->pool,
                                              .max_held = most_for_order(config_, worker->config),
                                              .ticks_per_ms = rte_get_tsc_hz() / 1000,
                                              .now = rte_rdtsc()},
                                             *keys);
    if (!pdcp) return fail("worker {}: {}", worker->config.name, pdcp.error().message);
    worker->gnb->pdcp = std::move(*pdcp);
  }
  return {};
}

// A ring and a rate for each class: a worker may punt that many frames a second, and a ringful after a pause.
Expected<void> Wiring::make_punts(datapath::Punts& punts, const std::string& worker) {
  for (std::size_t i = 0; i < punts.rings.size(); ++i) {
    auto ring = make_ring(fmt::format("{}.p{}", worker, i), kPuntEntries);
    if (!ring) return tl::unexpected(ring.error());
    punts.rings[i] = *ring;
    const unsigned per_second = datapath::punts_per_second(static_cast<datapath::PuntClass>(i));
    punts.rates[i] = datapath::PuntRate::of(rte_get_tsc_hz(), per_second, kPuntEntries);
  }
  return {};
}

// Packets that wait for their order take a quarter of the port's buffers at most: the rest is for those that pass.
// Packets that wait for a card's lease take a half: a burst comes back this way as a whole.
void Wiring::share_reorder_buffers(const Workers& workers) {
  for (const auto& worker : workers.all()) {
    if (!worker->gnb) continue;
    const auto sharing = static_cast<std::size_t>(std::ranges::count_if(
        workers.all(), [&](const auto& other) { return other->gnb && other->config.n3 == worker->config.n3; }));
    worker->gnb->reorder.limit(config_.memory.mbufs / 4 / sharing);
    worker->gnb->flow_moves.limit(config_.memory.mbufs / 8 / sharing);
    worker->gnb->card_returns.limit(config_.memory.mbufs / 2 / sharing);
    worker->gnb->session_uplinks.limit(config_.memory.mbufs / 8 / sharing);
  }
}

// A gnb worker consumes its own copies unless a worker with function `copies` names it.
void Wiring::connect_copies(const Workers& workers) {
  for (const auto& consumer : workers.all()) {
    if (consumer->config.function != WorkerConfig::Function::kCopies) continue;
    const auto& from = consumer->config.from;
    for (const auto& worker : workers.all()) {
      if (std::count(from.begin(), from.end(), worker->config.name) == 0) continue;
      worker->drains_copies = false;
      worker->gnb->copies_consumer = &consumer->power.wakeup();
    }
  }
}

Expected<void> Wiring::make_bearer_memory(const Workers& workers) {
  const std::vector<ShardId> owned = owned_shards(config_);
  if (owned.empty()) return {};
  const std::uint32_t per_shard = bearers_per_shard(config_);
  const std::size_t lines = owned.size() * per_shard;
  downlink_ = make_dpdk_array<ran::BearerDownlink>("bearers.dl", lines);
  uplink_ = make_dpdk_array<ran::BearerUplink>("bearers.ul", lines);
  drops_ = make_dpdk_array<ran::BearerDrops>("bearers.drops", lines);
  lease_lines_ = make_dpdk_array<ran::CountLease>("bearers.leases", lines);
  if (!downlink_ || !uplink_ || !drops_ || !lease_lines_) {
    return fail("no memory for {} bearers ({} MiB); allowed: a larger memory.megabytes or a smaller max_bearers", lines,
                lines * ran::kBytesPerBearer >> 20);
  }
  for (std::size_t i = 0; i < owned.size(); ++i) {
    WorkerRuntime& worker = **std::ranges::find_if(
        workers.all(), [&](const auto& candidate) { return serves(candidate->config, owned[i].value); });
    const std::size_t first = i * per_shard;
    worker.gnb->bearers.attach(owned[i],
                               {&downlink_[first], &uplink_[first], &drops_[first], per_shard, &lease_lines_[first]});
    if (worker.gnb->arq) worker.gnb->arq_bearers.attach(owned[i], per_shard);
    if (worker.gnb->cell) worker.gnb->cell->attach(owned[i], per_shard);
    if (!config_.key_file.empty()) worker.gnb->secured_bearers.attach(owned[i], per_shard);
  }
  return {};
}

Expected<void> Wiring::connect_dispatchers(const Workers& workers) {
  for (const auto& dispatcher : workers.all()) {
    const WorkerConfig& config = dispatcher->config;
    if (config.function != WorkerConfig::Function::kDispatch) continue;
    dispatcher->dispatch = std::make_unique<datapath::DispatchContext>();
    datapath::DispatchContext& context = *dispatcher->dispatch;
    fill(context, port_ends_.at(config.n3).facts);
    if (auto made = make_punts(context.punt, config.name); !made) return made;
    for (const auto& worker : workers.all()) {
      if (std::count(config.to.begin(), config.to.end(), worker->config.name) == 0) continue;
      auto rings = make_worker_rings(*worker, worker->config.name, kWorkerEntries);
      if (!rings) return tl::unexpected(rings.error());
      worker->rings = *rings;
      feed(context, worker->config, *worker->gnb, worker->rings);
    }
  }
  return {};
}

// Each worker behind a card gives packets of the others' bearers to them, over a ring of its own to each.
Expected<void> Wiring::connect_punt_handoff(const Workers& workers) {
  for (const CardLinkConfig& card : config_.cards) {
    std::vector<WorkerRuntime*> behind;
    for (const auto& worker : workers.all()) {
      if (reads_vfs(config_, card, worker->config)) behind.push_back(worker.get());
    }
    for (WorkerRuntime* reader : behind) {
      for (WorkerRuntime* owner : behind) {
        if (owner == reader) continue;
        const std::string name = fmt::format("{}.h{}", owner->config.name, owner->gnb->handed.size());
        auto rings = make_worker_rings(*owner, name, kHandedEntries);
        if (!rings) return tl::unexpected(rings.error());
        owner->gnb->handed.push_back(*rings);
        add_worker(reader->gnb->punt_handoff, owner->config, *rings);
      }
    }
  }
  return {};
}

// Every worker has room for all keys: which bearers a shard gets is the operator's choice.
Expected<void> Wiring::make_key_tables(const Workers& workers) {
  for (const auto& worker : workers.all()) {
    if (worker->keys() == nullptr) continue;
    auto made = app::make_key_tables(*worker->keys(), worker->key_memory, config_.lookup, config_.foreign_teids,
                                     config_.max_bearers, worker->config.name);
    if (!made) return made;
  }
  return {};
}

void Wiring::make_loops(const Workers& workers) {
  for (const auto& worker : workers.all()) {
    workers.power_of(*worker).start();
    worker->power.slow_down(worker->config.slow_clock);
    worker->loop = make_loop(*worker, workers);
  }
}

datapath::WorkerLoop Wiring::make_loop(WorkerRuntime& worker, const Workers& workers) const {
  const WorkerConfig& config = worker.config;
  switch (config.function) {
    case WorkerConfig::Function::kL2fwd:
      return datapath::make_l2fwd_loop(source(worker, config.rx, config.queue), sink(worker, config.tx, config.queue),
                                       worker.power, worker.other_stats, worker.mailbox, worker.stop);
    case WorkerConfig::Function::kDispatch: {
      std::vector<datapath::Dispatch::Queue> queues;
      for (const DispatchQueue& queue : dispatch_queues(config_, config))
        queues.push_back({datapath::Lookahead(source(worker, queue.port, queue.queue)), queue.direction});
      return datapath::make_dispatch_loop(queues, worker.power, *worker.dispatch, worker.mailbox, worker.stop);
    }
    case WorkerConfig::Function::kCopies: {
      std::vector<datapath::CopiesConsumer::Queue> queues;
      for (const auto& other : workers.all()) {
        if (std::count(config.from.begin(), config.from.end(), other->config.name) != 0)
          queues.push_back({datapath::RingSource{other->gnb->copies}});
      }
      for (const PortConfig& port : config_.ports) {
        for (std::uint16_t queue = 0; port.name == config.rx && queue < port.rx_queues; ++queue)
          queues.push_back({source(worker, port.name, queue)});
      }
      return datapath::make_copies_loop(queues, worker.power, worker.other_stats, worker.mailbox, worker.stop);
    }
    case WorkerConfig::Function::kGnb:
      break;
  }
  datapath::GnbSources sources;
  if (worker.rings.downlink != nullptr) {
    sources = std::pair{datapath::RingSource{worker.rings.downlink}, datapath::RingSource{worker.rings.uplink}};
  } else {
    const bool has_air = !config.air.empty();
    sources = std::pair{source(worker, config.n3, config.queue),
                        has_air ? source(worker, config.air, config.queue) : datapath::EthSource{}};
  }
  return datapath::make_gnb_loop(
      {.features = config.features,
       .sources = sources,
       .n3 = sink(worker, config.n3, config.queue),
       .air = config.air.empty() ? datapath::EthSink{} : sink(worker, config.air, config.queue),
       .drain_copies = worker.drains_copies},
      worker.power, *worker.gnb, worker.mailbox, worker.stop);
}

}  // namespace splitplane::gnb
