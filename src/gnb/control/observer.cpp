#include "gnb/control/observer.h"

#include <algorithm>

#include "observe/stats_json.h"

namespace splitplane::gnb {
namespace {

bool consumes_copies(const WorkerConfig& worker) {
  return worker.function == WorkerConfig::Function::kCopies;
}

// A consumer of copies reads the rings of its workers first, then the queues of its port.
std::uint64_t received_from_port(WorkerRuntime& worker) {
  const auto& received = worker.stats().received;
  std::uint64_t sum = 0;
  for (std::size_t queue = worker.config.from.size(); queue < received.size(); ++queue) sum += received[queue].get();
  return sum;
}

// Packets from other workers that this one has not received yet.
unsigned on_rings(const WorkerRuntime& worker) {
  unsigned handed = 0;
  for (std::size_t i = 0; worker.gnb && i < worker.gnb->handed.size(); ++i) handed += worker.gnb->handed[i].waiting();
  return worker.rings.waiting() + handed;
}

std::uint64_t silent_seconds(const WorkerRuntime& worker) {
  return worker.thread.running ? worker.silent_seconds.load(std::memory_order_relaxed) : 0;
}

std::array<KeyTableObservation, 3> keys_of(const datapath::BearerLookup& keys) {
  const auto of = [](std::string_view name, const auto& table) {
    if (!table) return KeyTableObservation{};
    const auto& s = table->stats();
    return KeyTableObservation{name, s.entries, s.slots, s.displaced(), s.refused};
  };
  return {of("dl_teid", keys.teids), of("ue_ipv4", keys.ue_ipv4), of("ue_ipv6", keys.ue_ipv6)};
}

nlohmann::json placement_row(const placement::View& view) {
  nlohmann::json row{{"mode", view.mode},
                     {"bearers", view.bearers},
                     {"movable", view.movable},
                     {"on_cards", view.on_cards},
                     {"pinned", view.pinned},
                     {"load", view.load},
                     {"load_on_cards", view.load_on_cards},
                     {"longest_hold_us", view.longest_hold_us}};
  for (const auto& counter : kPlacementCounters) row[std::string(counter.name)] = view.*counter.field;
  return row;
}

}  // namespace

PortObservation Observer::observe_port(const PortConfig& config) const {
  const datapath::Port& port = *parts_.ports.at(config.name);
  std::uint64_t received = 0, transmitted = 0;  // by our own count
  for (const auto& worker : parts_.workers.all()) {
    const datapath::WorkerStats& s = worker->stats();
    const WorkerConfig& w = worker->config;
    const bool from_rings = worker->rings.downlink != nullptr;
    if (w.function == WorkerConfig::Function::kDispatch) {
      const auto queues = dispatch_queues(parts_.config, w);
      for (std::size_t q = 0; q < queues.size(); ++q) {
        if (queues[q].port == config.name) received += s.received[q].get();
      }
    }
    if (w.function == WorkerConfig::Function::kCopies && w.rx == config.name) received += received_from_port(*worker);
    if (w.function == WorkerConfig::Function::kL2fwd) {
      if (w.rx == config.name) received += s.received[0].get();
      if (w.tx == config.name) transmitted += s.transmitted_air.get();
    }
    if (worker->gnb) {
      if (w.n3 == config.name) {
        if (!from_rings) received += s.received[0].get();
        transmitted += s.transmitted_n3.get() + s.returned.get() + s.settled.get() + s.injected.get();
      }
      if (w.air == config.name) {
        if (!from_rings) received += s.received[1].get();
        transmitted += s.transmitted_air.get() + s.rlc_own.get();
      }
    }
  }
  const WatchedPort* const watched = parts_.watch.find(config.name);
  return {config.name,
          port.counters(),
          received,
          transmitted,
          watched == nullptr ? std::nullopt : std::optional(watched->link.up),
          watched == nullptr ? config.mtu : watched->mtu()};
}

WorkerObservation Observer::observe_worker(WorkerRuntime& worker) {
  auto seen = std::make_shared<WorkerObservation>(WorkerObservation{
      worker.config.name, worker.config.core, consumes_copies(worker.config), {}, 0, 0, {}, worker.config.policy.kind});
  if (const WorkerRuntime* const host = worker.host; host != nullptr) seen->host = host->config.name;
  WorkerRuntime* w = &worker;
  const bool done = worker.execute([seen, w] {
    seen->counters = take_snapshot(w->stats());
    seen->cpu_cycles = w->thread.cpu_cycles();
    if (w->keys() != nullptr) seen->keys = keys_of(*w->keys());
    seen->on_rings = on_rings(*w);
    if (w->gnb && !w->gnb->handed.empty()) {
      const auto& received = w->stats().received;
      seen->handed = received[datapath::kHandedQueue].get() + received[datapath::kHandedQueue + 1].get();
    }
  });
  if (done) return *seen;
  // It makes no rounds, or is about to be found so: its counters as they stand, which may not add up.
  seen->counters = take_snapshot(worker.stats());
  seen->on_rings = on_rings(worker);
  seen->silent_s = std::max(silent_seconds(worker), std::uint64_t{1});
  return *seen;
}

nlohmann::json Observer::stats(const Locked& locked) const {
  nlohmann::json workers = nlohmann::json::array();
  std::uint64_t received = 0, transmitted = 0, dropped = 0, consumed = 0, held = 0;
  bool balanced = true, running = false;
  for (const auto& worker : parts_.workers.all()) {
    running = running || worker->thread.running;
    const WorkerObservation seen = observe_worker(*worker);
    const WorkerSnapshot& s = seen.counters;
    // Copies from rings were received as packets already; those from a port come from a card.
    const bool copies = seen.consumes_copies;
    const std::uint64_t from_port = copies ? received_from_port(*worker) : 0;
    if (worker->rings.downlink == nullptr && !copies) received += s.received - seen.handed;  // from a port
    received += from_port + made_by_radio(s);
    consumed += copies ? from_port : consumed_by(seen);
    transmitted += transmitted_by(s);
    dropped += s.dropped();
    held += seen.held();
    workers.push_back(to_json(seen));
    balanced = balanced && workers.back().at("balanced").get<bool>();
  }
  // Workers are read one after the other: packets on the way between them only add up once all have stopped.
  if (!running) balanced = balanced && received == transmitted + dropped + consumed + held;

  nlohmann::json ports = nlohmann::json::array();
  for (const auto& port : parts_.config.ports) ports.push_back(to_json(observe_port(port)));
  return nlohmann::json{{"ports", ports},
                        {"workers", workers},
                        {"peers", parts_.n3.peer_rows(locked)},
                        {"gtpu", parts_.n3.gtpu_rows(locked)},
                        {"cards", parts_.cards.rows()},
                        {"placement", placement_ ? placement_row(placement_(locked)) : nlohmann::json(nullptr)},
                        {"journal", parts_.numbers.row()},
                        {"baas", parts_.service.row(locked)},
                        {"phys", parts_.phys.rows()},
                        {"bearers", parts_.store.size()},
                        {"tsc_hz", rte_get_tsc_hz()},
                        {"totals",
                         {{"received", received},
                          {"transmitted", transmitted},
                          {"dropped", dropped},
                          {"consumed", consumed},
                          {"held", held},
                          {"balanced", balanced}}}};
}

Observation Observer::observe(const Locked& locked) const {
  Observation all{.file_prefix = parts_.config.file_prefix, .bearers = parts_.store.size(), .tsc_hz = rte_get_tsc_hz()};
  for (const auto& worker : parts_.workers.all()) {
    all.workers.push_back({worker->config.name,
                           worker->config.core,
                           consumes_copies(worker->config),
                           take_snapshot(worker->stats()),
                           on_rings(*worker),
                           0,
                           {},
                           worker->config.policy.kind,
                           0,
                           silent_seconds(*worker),
                           worker->host == nullptr ? "" : worker->host.load()->config.name});
  }
  for (const auto& port : parts_.config.ports) all.ports.push_back(observe_port(port));
  all.card_links = parts_.cards.views();
  if (placement_) all.placement = placement_(locked);
  all.journal = parts_.numbers.view();
  all.n3 = parts_.n3.observe(locked);
  parts_.phys.for_each([&](const std::string& worker, const PhyThread& thread) {
    all.phys.push_back(take_snapshot(thread.counters(), thread.link().counters()));
    all.phys.back().worker = worker;
    all.phys.back().runs = thread.link().state() == phy::PhyLinkState::running;
  });
  all.log = log::unwritten();
  all.meter = parts_.power.view();
  return all;
}

}  // namespace splitplane::gnb
