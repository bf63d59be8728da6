#include "gnb/control/workers.h"

#include <rte_cpuflags.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "gnb/config/check_workers.h"

namespace splitplane::gnb {
namespace {

constexpr std::chrono::milliseconds kLookAtRounds{100};

bool has_timed_pause() {
  rte_cpu_intrinsics intrinsics{};
  rte_cpu_get_intrinsics_support(&intrinsics);
  return intrinsics.power_pause != 0;
}

// What another worker handed on was counted there.
bool receives_from_ports(const WorkerRuntime& worker) {
  return worker.rings.downlink == nullptr && worker.config.function != WorkerConfig::Function::kCopies;
}

}  // namespace

Workers::Workers(const GnbConfig& config) : config_(config) {
  for (const WorkerConfig& one : config.workers) {
    auto worker = std::make_unique<WorkerRuntime>();
    worker->config = one;
    worker->lcore = static_cast<unsigned>(workers_.size()) + 1;
    workers_.push_back(std::move(worker));
  }
}

WorkerRuntime* Workers::owner_of(std::uint32_t id) const {
  for (const auto& worker : workers_) {
    if (worker->gnb && worker->gnb->bearers.owns(id)) return worker.get();
  }
  return nullptr;
}

std::vector<WorkerRuntime*> Workers::key_holders(WorkerRuntime& owner) const {
  std::vector<WorkerRuntime*> holders{&owner};
  const std::uint32_t one_of_its =
      ran::make_teid(config_.instance, ShardId{static_cast<std::uint8_t>(owner.config.shard_first)}, 0);
  for (const auto& worker : workers_) {
    const auto& to = worker->config.to;
    const bool dispatches = worker->dispatch && std::count(to.begin(), to.end(), owner.config.name) != 0;
    const bool hands_off = worker->gnb && worker->gnb->punt_handoff.has_worker(one_of_its);
    if (worker.get() != &owner && (dispatches || hands_off)) holders.push_back(worker.get());
  }
  return holders;
}

Expected<void> Workers::launch() {
  for (const auto& worker : workers_) {
    if (!worker->thread.start(worker->lcore, worker->config.name, worker->config.schedule, worker->loop))
      return fail("worker {}: its thread could not be started on core {}", worker->config.name, worker->config.core);
  }
  for (const auto& worker : workers_) power_of(*worker).say_what_cannot_wake();
  return {};
}

std::vector<PhyWorker> Workers::with_phy() const {
  std::vector<PhyWorker> all;
  for (const auto& worker : workers_) {
    if (!worker->config.phy) continue;
    all.push_back({worker->config.name, *worker->config.phy, *worker->gnb->phy, worker->power.wakeup(),
                   *worker->gnb->slots, [worker = worker.get()](const auto& what) { return worker->execute(what); }});
  }
  return all;
}

WorkerRuntime* Workers::find(const std::string& name) const {
  const auto at = std::find_if(workers_.begin(), workers_.end(), [&](const auto& w) { return w->config.name == name; });
  return at == workers_.end() ? nullptr : at->get();
}

Expected<WorkerRuntime*> Workers::named(std::string_view key, const std::string& name) const {
  if (WorkerRuntime* const worker = find(name)) return worker;
  std::vector<std::string_view> names;
  for (const auto& worker : workers_) names.emplace_back(worker->config.name);
  return fail("{}: there is no '{}'; allowed: {}", key, printable(name), comma_list(names));
}

Expected<void> Workers::refuse_park(const WorkerRuntime& guest, const WorkerRuntime& host) const {
  const std::string &leaves = guest.config.name, &takes = host.config.name;
  for (const WorkerRuntime* one : {&guest, &host}) {
    if (!one->gnb) return fail("worker {} has another function; allowed: workers with function gnb", one->config.name);
    if (!one->thread.running) return fail("worker {} does not run", one->config.name);
  }
  if (&guest == &host) return fail("worker {} cannot be its own host; allowed: another worker", leaves);
  if (guest.host != nullptr) return fail("worker {} is parked already, on {}", leaves, guest.host.load()->config.name);
  if (host.host != nullptr)
    return fail("worker {} is parked itself; allowed: {}, on whose core it is", takes, host.host.load()->config.name);
  for (const auto& other : workers_) {
    if (other->host == &guest)
      return fail("worker {} makes the rounds of {}; allowed: after that one has been woken", leaves,
                  other->config.name);
  }
  return {};
}

namespace {

datapath::LodgingLoop loop_of(WorkerRuntime& worker) {
  return {worker.power, [&worker](const std::function<void()>& command, std::chrono::milliseconds patience) {
            return worker.execute(command, patience);
          }};
}

}  // namespace

Expected<void> Workers::park(const Locked& /*locked*/, WorkerRuntime& guest, WorkerRuntime& host) {
  if (auto refused = refuse_park(guest, host); !refused) return refused;
  switch (datapath::lodge(loop_of(guest), loop_of(host))) {
    case datapath::Lodged::kGuestSilent:
      return fail("worker {} does not answer; it makes its rounds itself", guest.config.name);
    case datapath::Lodged::kHostSilent:
      return fail("worker {} does not answer; {} makes its rounds itself", host.config.name, guest.config.name);
    case datapath::Lodged::kNoRoom:
      return fail("worker {} has no room for one more loop; {} makes its rounds itself", host.config.name,
                  guest.config.name);
    case datapath::Lodged::kDone:
      break;
  }
  guest.host = &host;
  power_of(guest).park_core();
  return {};
}

Expected<void> Workers::wake(const Locked& /*locked*/, WorkerRuntime& guest) {
  if (guest.host == nullptr) return fail("worker {} is not parked", guest.config.name);
  WorkerRuntime& host = *guest.host;
  if (!datapath::bring_home(loop_of(guest), loop_of(host)))
    return fail("worker {} does not answer; it keeps the loop of {}", host.config.name, guest.config.name);
  guest.host = nullptr;
  power_of(guest).wake_core();
  return {};
}

void Workers::notice_homecomings(const Locked& /*locked*/) {
  for (const auto& guest : workers_) {
    const WorkerRuntime* const host = guest->host;
    if (host == nullptr || guest->power.hosting().offered() != nullptr) continue;
    guest->host = nullptr;
    power_of(*guest).wake_core();
    late_homecomings_.add(1);
    log::write(spdlog::level::info, {{"worker", guest->config.name}},
               fmt::format("worker {}: makes its rounds itself, on core {}, as worker {} goes on", guest->config.name,
                           guest->config.core, host->config.name));
  }
}

void Workers::stop(const Locked& /*locked*/) {
  // In the order of the packets' way. Each worker empties its rings before it ends: nothing is left in between.
  using Function = WorkerConfig::Function;
  const auto stop = [&](auto concerned) {
    for (const auto& worker : workers_) {
      if (!worker->thread.running || !concerned(*worker)) continue;
      worker->stop.store(true, std::memory_order_relaxed);
      worker->power.wakeup().wake();
    }
    for (const auto& worker : workers_) {
      if (!worker->thread.running || !concerned(*worker)) continue;
      worker->thread.join();
      worker->host = nullptr;
    }
  };
  const auto is = [](Function function) {
    return [function](const WorkerRuntime& worker) { return worker.config.function == function; };
  };
  stop(is(Function::kDispatch));
  stop(is(Function::kL2fwd));
  stop([](const WorkerRuntime& worker) { return worker.gnb && !worker.gnb->punt_handoff.workers.empty(); });
  stop(is(Function::kGnb));
  stop(is(Function::kCopies));
}

void Workers::watch(Time now) {
  if (now < next_watch_) return;
  next_watch_ = now + kLookAtRounds;
  for (const auto& worker : workers_) {
    if (worker->thread.running) look_at(*worker, now);
  }
}

void Workers::look_at(WorkerRuntime& worker, Time now) {
  RoundWatch& watch = worker.watch;
  const auto since = watch.silent_for(now);
  // A command stops all rounds that the thread makes.
  const WorkerRuntime* const host = worker.host;
  const WorkerRuntime* const thread = host == nullptr ? &worker : host;
  const bool is_commanded = std::any_of(workers_.begin(), workers_.end(), [thread](const auto& one) {
    return (one.get() == thread || one->host == thread) && one->commanded.load(std::memory_order_relaxed);
  });
  const auto says = watch.look(worker.stats().rounds.get(), is_commanded, now);
  if (watch.wants_wake()) worker.power.wakeup().wake();
  worker.silent_seconds.store(static_cast<std::uint64_t>(watch.silent_for(now).count()), std::memory_order_relaxed);
  const WorkerConfig& config = worker.config;
  const auto say = [&](spdlog::level::level_enum level, const std::string& text) {
    const std::string by = host == nullptr ? "" : fmt::format(", whose rounds {} makes,", host->config.name);
    log::write(level, {{"worker", config.name}},
               fmt::format("worker {} (core {}){} {}", config.name, thread->config.core, by, text));
  };
  switch (says) {
    case RoundWatch::Says::kSilent:
    case RoundWatch::Says::kStillSilent:
      say(spdlog::level::warn,
          fmt::format("has made no round for {:.0f} s: its thread hangs, or gets no CPU time; what it shall do waits",
                      watch.silent_for(now).count()));
      break;
    case RoundWatch::Says::kBack:
      say(spdlog::level::info, fmt::format("makes rounds again, after {:.1f} s", since.count()));
      break;
    case RoundWatch::Says::kNothing:
      break;
  }
}

void Workers::warn_of_failures(Time now) {
  for (const auto& worker : workers_) {
    if (!worker->gnb) continue;
    const datapath::WorkerStats& stats = worker->stats();
    const auto exhausted = stats.drops[static_cast<std::size_t>(datapath::DropReason::count_exhausted)].get();
    const FailureWatch::Counts counts{stats.rlc_max_retx.get(), stats.rlc_peer_lost.get(), exhausted};
    for (const std::string& message : failures_.look(worker->config.name, counts, now)) log::warn("{}", message);
  }
}

bool Workers::take_air_mtu(const Locked& /*locked*/, const std::string& port, unsigned mtu) {
  for (const auto& worker : workers_) {
    if (!worker->gnb || worker->config.air != port) continue;
    const bool done = worker->execute([gnb = worker->gnb.get(), mtu] {
      gnb->air_frame_bytes = static_cast<unsigned>(wire::ethernet::kHeaderBytes + mtu);
      if (gnb->arq) gnb->arq->set_status_frame(gnb->air_frame_bytes);
    });
    if (!done) return false;
  }
  return true;
}

std::vector<LoopTime> Workers::loop_times() const {
  static const bool kTimedPause = has_timed_pause();
  std::vector<LoopTime> all;
  for (const auto& worker : workers_) {
    const datapath::WorkerStats& stats = worker->stats();
    all.push_back({.core = worker->config.core,
                   .timed_pause = kTimedPause,
                   .busy = stats.busy_cycles.get(),
                   .idle = stats.idle_cycles.get(),
                   .paused = stats.paused_cycles.get(),
                   .asleep = stats.asleep_cycles.get(),
                   .packets = receives_from_ports(*worker) ? stats.received_total() : 0});
  }
  return all;
}

LoopPower Workers::power_of(WorkerRuntime& worker) const {
  return {.name = worker.config.name,
          .core = worker.config.core,
          .sysfs_root = config_.sysfs_root,
          .settings = worker.config.policy,
          .governor = worker.core_governor,
          .governor_kind = config_.power ? config_.power->governor : governor::Kind::cpufreq,
          .power = worker.power,
          .stats = worker.stats(),
          .execute = [w = &worker](const std::function<void()>& command) { return w->execute(command); }};
}

Expected<nlohmann::json> Workers::show_power(const Locked& /*locked*/) const {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& worker : workers_) {
    auto view = power_of(*worker).show();
    if (!view) return view;
    rows.push_back(*std::move(view));
  }
  return rows;
}

Expected<nlohmann::json> Workers::set_power(const Locked& locked, const std::string& name,
                                            const power::Settings& settings) {
  const auto found = named("worker", name);
  if (!found) return tl::unexpected(found.error());
  WorkerRuntime& worker = **found;
  WorkerConfig changed = worker.config;
  changed.policy = settings;
  for (const auto& other : workers_) {
    if (other.get() == &worker) continue;
    if (const auto refused = refuse_shared_core(changed, other->config)) return fail("kind: {}", *refused);
  }
  if (worker.host != nullptr) {  // whose policy it has now
    if (auto woken = wake(locked, worker); !woken) return tl::unexpected(woken.error());
  }
  return power_of(worker).set(settings);
}

}  // namespace splitplane::gnb
