#include "gnb/control/instance.h"

#include <rte_cycles.h>
#include <rte_launch.h>

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "config/copies_limit.h"
#include "engine/cpu_time.h"
#include "placement/numa_plan.h"
#include "power/governor/loan.h"
#include "runtime/instance_lock.h"
#include "runtime/start_up.h"

namespace splitplane::app {
namespace {

constexpr unsigned kPuntEntries = 256;
constexpr unsigned kWorkerEntries = 4096;

// First error of a chain of steps.
template <class... Steps>
Expected<void> in_order(Steps&&... steps) {
  Expected<void> result;
  (void)((result = steps(), result.has_value()) && ...);
  return result;
}

}  // namespace

Expected<std::unique_ptr<UserPlane>> UserPlane::start(const Config& config, bool fresh) {
  std::vector<unsigned> cores;
  for (const auto& worker : config.workers) cores.push_back(worker.core);
  auto eal = start_eal(config, cores);
  if (!eal) return tl::unexpected(eal.error());
  for (const auto& loan : governor::restore_all(runtime_directory())) {
    if (!loan.in_use) log::info("{}: given back what an earlier run had set", loan.name);
  }
  std::unique_ptr<UserPlane> plane(new UserPlane(config, std::move(*eal)));
  const auto built = in_order([&] { return plane->open_ports(); }, [&] { return plane->make_workers(); },
                              [&] { return plane->make_bearer_memory(); }, [&] { return plane->connect_dispatchers(); },
                              [&] { return plane->connect_mates(); }, [&] { return plane->make_key_tables(); },
                              [&] { return plane->open_journal(fresh); }, [&] { return plane->make_loops(); },
                              [&] {
                                plane->connect_cards();
                                return plane->restore_bearers();
                              },
                              [&] {
                                plane->begin_cards();
                                return plane->start_configured_taps();
                              },
                              [&] { return plane->launch(); });
  if (!built) return tl::unexpected(built.error());
  return plane;
}

UserPlane::~UserPlane() {
  stop_workers();
}

Expected<void> UserPlane::open_ports() {
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
    ports_[config.name] = std::move(*port);
  }
  std::vector<WatchedPort> watched;
  for (const auto& config : config_.ports) {
    if (auto port = watched_port(config, ports_.at(config.name)->id())) watched.push_back(*std::move(port));
  }
  watch_ = PortWatch(std::move(watched));
  for (const auto& n3 : config_.n3) {
    n3_.push_back({n3, {n3.ipv4, n3.ipv6, ports_.at(n3.port)->mac(), n3.vlan}, {}, {}, GtpuRuntime(n3)});
  }
  return {};
}

Expected<rte_ring*> UserPlane::make_ring(const std::string& name, unsigned entries) {
  Ring ring(rte_ring_create(name.c_str(), entries, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ));
  if (!ring) return fail("no memory for ring {} of {} entries; allowed: a larger memory.megabytes", name, entries);
  rings_.push_back(std::move(ring));
  return rings_.back().get();
}

datapath::EthSource UserPlane::source(WorkerRuntime& worker, const std::string& name, std::uint16_t queue) const {
  return {ports_.at(name)->id(), queue, &worker.taps[name]};
}

datapath::EthSink UserPlane::sink(WorkerRuntime& worker, const std::string& name, std::uint16_t queue) const {
  const datapath::Port& port = *ports_.at(name);
  return {port.id(), queue, port.passes_mbufs(), &worker.taps[name]};
}

PortFacts UserPlane::facts_of(const std::string& name) const {
  const datapath::Port& port = *ports_.at(name);
  return {port.mac(), port.mtu(), port.checksums()};
}

Expected<void> UserPlane::make_workers() {
  for (const auto& config : config_.workers) {
    auto worker = std::make_unique<WorkerRuntime>();
    worker->config = config;
    worker->lcore = static_cast<unsigned>(workers_.size()) + 1;
    workers_.push_back(std::move(worker));
    if (config.function == WorkerConfig::Function::kGnb) {
      if (auto made = make_gnb(*workers_.back()); !made) return made;
    }
  }
  connect_copies();
  for (const N3Runtime& n3 : n3_) {
    // What waits for its order takes a quarter of the port's buffers at most: the rest is for those that pass.
    for (WorkerRuntime* worker : n3.workers) worker->gnb->reorder.limit(config_.memory.mbufs / 4 / n3.workers.size());
  }
  return {};
}

Expected<void> UserPlane::make_gnb(WorkerRuntime& worker) {
  worker.gnb = std::make_unique<datapath::GnbContext>();
  datapath::GnbContext& gnb = *worker.gnb;
  N3Runtime* n3 = n3_of(worker);
  n3->workers.push_back(&worker);
  fill(gnb, config_, worker.config, facts_of(worker.config.n3), facts_of(worker.config.air));
  gnb.pool = pools_.at(worker.config.n3).get();

  if (worker.config.baas_inline) {
    gnb.arq = std::make_unique<datapath::Arq>(datapath::Arq::Settings{.sends = Direction::kDownlink,
                                                                      .ethernet = gnb.air_header,
                                                                      .pool = gnb.pool,
                                                                      .max_unacked = copies_of(config_, worker.config),
                                                                      .longest_frame = gnb.air_frame_bytes,
                                                                      .ticks_per_ms = rte_get_tsc_hz() / 1000,
                                                                      .now = rte_rdtsc()});
  }

  const auto take = [&](rte_ring*& place, const char* what, unsigned entries) -> Expected<void> {
    auto ring = make_ring(fmt::format("{}.{}", worker.config.name, what), entries);
    if (!ring) return tl::unexpected(ring.error());
    place = *ring;
    return {};
  };
  return in_order([&] { return take(gnb.copies, "copies", static_cast<unsigned>(copies_of(config_, worker.config))); },
                  [&] { return make_punts(gnb.punt, worker.config.name); },
                  [&] { return take(gnb.inject, "inject", kPuntEntries); });
}

// A ring and a rate for each class: so many a second of a worker, and a ringful after a pause.
Expected<void> UserPlane::make_punts(datapath::Punts& punts, const std::string& worker) {
  for (std::size_t i = 0; i < punts.rings.size(); ++i) {
    auto ring = make_ring(fmt::format("{}.p{}", worker, i), kPuntEntries);
    if (!ring) return tl::unexpected(ring.error());
    punts.rings[i] = *ring;
    const unsigned per_second = datapath::punts_per_second(static_cast<datapath::PuntClass>(i));
    punts.rates[i] = datapath::PuntRate::of(rte_get_tsc_hz(), per_second, kPuntEntries);
  }
  return {};
}

// A gnb worker consumes its own copies unless a worker with function `copies` names it.
void UserPlane::connect_copies() {
  for (auto& consumer : workers_) {
    if (consumer->config.function != WorkerConfig::Function::kCopies) continue;
    const auto& from = consumer->config.from;
    for (auto& worker : workers_) {
      if (std::count(from.begin(), from.end(), worker->config.name) == 0) continue;
      worker->drains_copies = false;
      worker->gnb->copies_consumer = &consumer->power.wakeup();
    }
  }
}

Expected<void> UserPlane::make_bearer_memory() {
  std::vector<std::pair<WorkerRuntime*, ShardId>> slabs;
  std::vector<ShardId> owned;
  for (unsigned shard = 0; shard < ran::kShards; ++shard) {
    for (auto& worker : workers_) {
      if (!worker->gnb || shard < worker->config.shard_first || shard > worker->config.shard_last) continue;
      owned.push_back(ShardId{static_cast<std::uint8_t>(shard)});
      slabs.emplace_back(worker.get(), owned.back());
      break;
    }
  }
  bearers_per_shard_ = static_cast<std::uint32_t>((config_.max_bearers + ran::kShards - 1) / ran::kShards);
  const bool by_ue_address = config_.lookup == Config::Lookup::kUeAddress;
  store_ = std::make_unique<BearerStore>(config_.instance, owned, bearers_per_shard_, by_ue_address);
  if (owned.empty()) return {};

  const std::size_t lines = slabs.size() * bearers_per_shard_;
  downlink_ = make_dpdk_array<ran::BearerDownlink>("bearers.dl", lines);
  uplink_ = make_dpdk_array<ran::BearerUplink>("bearers.ul", lines);
  losses_ = make_dpdk_array<ran::BearerLosses>("bearers.losses", lines);
  lease_lines_ = make_dpdk_array<ran::CountLease>("bearers.leases", lines);
  if (!downlink_ || !uplink_ || !losses_ || !lease_lines_) {
    return fail("no memory for {} bearers ({} MiB); allowed: a larger memory.megabytes or a smaller max_bearers", lines,
                lines * ran::kBytesPerBearer >> 20);
  }
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    const std::size_t first = i * bearers_per_shard_;
    slabs[i].first->gnb->bearers.attach(slabs[i].second, {&downlink_[first], &uplink_[first], &losses_[first],
                                                          bearers_per_shard_, &lease_lines_[first]});
    if (slabs[i].first->gnb->arq) slabs[i].first->gnb->arq_bearers.attach(slabs[i].second, bearers_per_shard_);
  }
  return {};
}

std::vector<datapath::Dispatch::Queue> UserPlane::dispatch_queues(WorkerRuntime& worker) const {
  std::vector<datapath::Dispatch::Queue> queues;
  for (const auto& config : config_.ports) {
    for (std::uint16_t queue = 0; queue < config.rx_queues; ++queue) {
      if (config.name == worker.config.n3)
        queues.push_back({{datapath::Lookahead(source(worker, config.name, queue))}, Direction::kDownlink});
      if (config.name == worker.config.air)
        queues.push_back({{datapath::Lookahead(source(worker, config.name, queue))}, Direction::kUplink});
    }
  }
  return queues;
}

Expected<void> UserPlane::connect_dispatchers() {
  for (auto& dispatcher : workers_) {
    const WorkerConfig& config = dispatcher->config;
    if (config.function != WorkerConfig::Function::kDispatch) continue;
    dispatcher->dispatch = std::make_unique<datapath::DispatchContext>();
    datapath::DispatchContext& context = *dispatcher->dispatch;
    fill(context, facts_of(config.n3));
    if (auto made = make_punts(context.punt, config.name); !made) return made;
    for (auto& worker : workers_) {
      if (std::count(config.to.begin(), config.to.end(), worker->config.name) == 0) continue;
      auto downlink = make_ring(worker->config.name + ".dl", kWorkerEntries);
      auto uplink = make_ring(worker->config.name + ".ul", kWorkerEntries);
      if (!downlink || !uplink) return tl::unexpected((downlink ? uplink : downlink).error());
      worker->rings = {*downlink, *uplink, &worker->power.wakeup()};
      feed(context, worker->config, *worker->gnb, worker->rings);
    }
  }
  return {};
}

Expected<void> UserPlane::make_loops() {
  for (auto& worker : workers_) {
    const WorkerConfig& config = worker->config;
    power_of(*worker).start();
    worker->power.slow_down(config.slow_clock);
    switch (config.function) {
      case WorkerConfig::Function::kL2fwd:
        worker->loop =
            datapath::make_l2fwd_loop(source(*worker, config.rx, config.queue), sink(*worker, config.tx, config.queue),
                                      worker->power, worker->other_stats, worker->mailbox, worker->stop);
        break;
      case WorkerConfig::Function::kDispatch:
        worker->loop = datapath::make_dispatch_loop(dispatch_queues(*worker), worker->power, *worker->dispatch,
                                                    worker->mailbox, worker->stop);
        break;
      case WorkerConfig::Function::kCopies: {
        std::vector<datapath::CopiesConsumer::Queue> queues;
        for (auto& other : workers_) {
          if (std::count(config.from.begin(), config.from.end(), other->config.name) != 0)
            queues.push_back({datapath::RingSource{other->gnb->copies}});
        }
        for (const PortConfig& port : config_.ports) {
          for (std::uint16_t queue = 0; port.name == config.rx && queue < port.rx_queues; ++queue)
            queues.push_back({source(*worker, port.name, queue)});
        }
        worker->loop =
            datapath::make_copies_loop(queues, worker->power, worker->other_stats, worker->mailbox, worker->stop);
        break;
      }
      case WorkerConfig::Function::kGnb: {
        datapath::GnbSources sources;
        if (worker->rings.downlink != nullptr) {
          sources = std::pair{datapath::RingSource{worker->rings.downlink}, datapath::RingSource{worker->rings.uplink}};
        } else {
          sources = std::pair{source(*worker, config.n3, config.queue), source(*worker, config.air, config.queue)};
        }
        worker->loop = datapath::make_gnb_loop({.features = config.features,
                                                .sources = sources,
                                                .n3 = sink(*worker, config.n3, config.queue),
                                                .air = sink(*worker, config.air, config.queue),
                                                .drain_copies = worker->drains_copies},
                                               worker->power, *worker->gnb, worker->mailbox, worker->stop);
        break;
      }
    }
  }
  return {};
}

Expected<void> UserPlane::launch() {
  for (auto& worker : workers_) {
    const auto loop = [](void* argument) {
      auto& runtime = *static_cast<WorkerRuntime*>(argument);
      apply_schedule(runtime.config.name, runtime.config.schedule);
      runtime.loop();
      runtime.cpu_at_end = datapath::thread_cpu_time();
      return 0;
    };
    if (rte_eal_remote_launch(loop, worker.get(), worker->lcore) != 0) {
      return fail("worker {}: its thread could not be started on core {}", worker->config.name, worker->config.core);
    }
    worker->running = true;
  }
  for (auto& worker : workers_) power_of(*worker).say_what_cannot_wake();
  return {};
}

void UserPlane::stop_workers() {
  // First, since a link puts each lease into the journal before the card may use it.
  for (CardRuntime& card : cards_) card.link->end();
  if (journal_) journal_->stop();  // it asks workers, which must run or have ended for that
  const std::lock_guard guard(mutex_);
  // In the order of the packets' way, and each worker empties its rings before it ends: nothing is left in between.
  using Function = WorkerConfig::Function;
  const auto stop = [&](auto concerned) {
    for (auto& worker : workers_) {
      if (!worker->running || !concerned(*worker)) continue;
      worker->stop.store(true, std::memory_order_relaxed);
      worker->power.wakeup().wake();
    }
    for (auto& worker : workers_) {
      if (!worker->running || !concerned(*worker)) continue;
      rte_eal_wait_lcore(worker->lcore);
      worker->running = false;
    }
  };
  const auto is = [](Function function) {
    return [function](const WorkerRuntime& worker) { return worker.config.function == function; };
  };
  stop(is(Function::kDispatch));
  stop(is(Function::kL2fwd));
  stop([](const WorkerRuntime& worker) { return worker.gnb && !worker.gnb->mates.workers.empty(); });
  stop(is(Function::kGnb));
  stop(is(Function::kCopies));
  end_taps();
  close_journal();
}

}  // namespace splitplane::app
