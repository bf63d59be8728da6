// Everything counted, as JSON: the same names as in the lists of stages and drop reasons. Each worker's counters are
// read on its own thread between two rounds, so they add up exactly.
#include "app/user_plane.h"
#include "datapath/cpu_time.h"

namespace splitplane::app {
namespace {

nlohmann::json stages_of(const WorkerSnapshot& s) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < s.stages.size(); ++i) {
    const auto& stage = s.stages[i];
    if (stage.packets == 0) continue;
    nlohmann::json row{{"name", datapath::name_of(static_cast<datapath::Stage>(i))}};
    for (const auto& counter : kStageCounters) row[std::string(counter.name)] = stage.*counter.field;
    if (stage.sampled_packets != 0) {
      row["cycles_per_packet"] = static_cast<double>(stage.sampled_cycles) / static_cast<double>(stage.sampled_packets);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::json drops_of(const WorkerSnapshot& s) {
  nlohmann::json drops = nlohmann::json::object();
  for (std::size_t i = 0; i < s.drops.size(); ++i) {
    if (s.drops[i] != 0) drops[std::string(datapath::name_of(static_cast<datapath::DropReason>(i)))] = s.drops[i];
  }
  return drops;
}

// A consumer of copies keeps nothing: what it received is what it released.
std::uint64_t consumed_by(const WorkerObservation& w) {
  const bool copies = w.function == WorkerConfig::Function::kCopies;
  return copies ? w.counters.received : w.counters.punted + w.counters.rlc_control + w.counters.rlc_deferred;
}

nlohmann::json to_json(const WorkerObservation& w) {
  const WorkerSnapshot& s = w.counters;
  const std::uint64_t transmitted = s.transmitted_air + s.transmitted_n3;
  const std::uint64_t consumed = consumed_by(w);
  nlohmann::json row{{"name", w.name},
                     {"core", w.core},
                     {"received", s.received},
                     {"transmitted", transmitted},
                     {"dropped", s.dropped()},
                     {"consumed", consumed},
                     {"held", w.held()},
                     {"balanced", s.received == transmitted + s.dropped() + consumed + s.dispatched + s.reorder_held},
                     {"stages", stages_of(s)},
                     {"drops", drops_of(s)},
                     {"cycles", {{"busy", s.busy_cycles}, {"idle", s.idle_cycles}, {"asleep", s.asleep_cycles}}},
                     {"cpu_cycles", w.cpu_cycles},
                     {"cycles_per_packet",
                      s.received == 0 ? 0.0 : static_cast<double>(s.busy_cycles) / static_cast<double>(s.received)}};
  for (const auto& counter : kWorkerCounters) {
    if (counter.unit != "cycles") row[std::string(counter.name)] = s.*counter.field;
  }
  for (const KeyTableObservation& table : w.keys) {
    if (table.slots == 0) continue;
    nlohmann::json& entry = row["keys"][std::string(table.name)];
    for (const auto& number : kKeyNumbers) entry[std::string(number.name)] = table.*number.field;
  }
  return row;
}

nlohmann::json to_json(const PortObservation& port) {
  nlohmann::json row{{"name", port.name},
                     {"workers_received", port.workers_received},
                     {"workers_transmitted", port.workers_transmitted}};
  for (const auto& counter : kPortCounters) row[std::string(counter.name)] = port.driver.*counter.field;
  return row;
}

}  // namespace

PortObservation UserPlane::observe_port(const PortConfig& config) {
  const datapath::Port& port = *ports_.at(config.name);
  std::uint64_t received = 0, transmitted = 0;  // by our own count
  for (auto& worker : workers_) {
    const datapath::WorkerStats& s = worker->stats();
    const WorkerConfig& w = worker->config;
    const bool from_rings = worker->rings.downlink != nullptr;
    if (w.function == WorkerConfig::Function::kDispatch) {
      const auto queues = dispatch_queues(*worker);
      for (std::size_t q = 0; q < queues.size(); ++q) {
        if (queues[q].source.source().port == port.id()) received += s.received[q].get();
      }
    }
    if (w.function == WorkerConfig::Function::kL2fwd) {
      if (w.rx == config.name) received += s.received[0].get();
      if (w.tx == config.name) transmitted += s.transmitted_air.get();
    }
    if (worker->gnb) {
      if (w.n3 == config.name) {
        if (!from_rings) received += s.received[0].get();
        transmitted += s.transmitted_n3.get() + s.injected.get();
      }
      if (w.air == config.name) {
        if (!from_rings) received += s.received[1].get();
        transmitted += s.transmitted_air.get() + s.rlc_own.get();
      }
    }
  }
  return {config.name, port.counters(), received, transmitted};
}

Expected<WorkerObservation> UserPlane::observe_worker(WorkerRuntime& worker) {
  auto seen = std::make_shared<WorkerObservation>(WorkerObservation{
      worker.config.name, worker.config.core, worker.config.function, {}, 0, {}, worker.config.policy.kind, 0});
  WorkerRuntime* w = &worker;
  const bool done = worker.execute([seen, w] {
    seen->counters = take_snapshot(w->stats());
    seen->cpu_cycles = datapath::thread_cpu_time();
    if (w->keys() != nullptr) seen->keys = observe_keys(*w->keys());
    if (w->rings.downlink != nullptr)
      seen->on_rings = rte_ring_count(w->rings.downlink) + rte_ring_count(w->rings.uplink);
  });
  if (!done) return fail("worker {} does not answer", worker.config.name);
  return *seen;
}

Expected<nlohmann::json> UserPlane::stats() {
  const std::lock_guard guard(mutex_);
  nlohmann::json workers = nlohmann::json::array();
  std::uint64_t received = 0, transmitted = 0, dropped = 0, consumed = 0, held = 0;
  bool balanced = true, running = false;
  for (auto& worker : workers_) {
    running = running || worker->running;
    const auto seen = observe_worker(*worker);
    if (!seen) return tl::unexpected(seen.error());
    const WorkerSnapshot& s = seen->counters;
    const bool copies = seen->function == WorkerConfig::Function::kCopies;
    if (worker->rings.downlink == nullptr && !copies) received += s.received;  // read from a port
    if (!copies) consumed += consumed_by(*seen);
    transmitted += s.transmitted_air + s.transmitted_n3;
    dropped += s.dropped();
    held += seen->held();
    workers.push_back(to_json(*seen));
    balanced = balanced && workers.back().at("balanced").get<bool>();
  }
  // Workers are read one after the other: packets on the way between them only add up once all have stopped.
  if (!running) balanced = balanced && received == transmitted + dropped + consumed + held;

  nlohmann::json ports = nlohmann::json::array();
  for (const auto& port : config_.ports) ports.push_back(to_json(observe_port(port)));
  return nlohmann::json{{"ports", ports},
                        {"workers", workers},
                        {"peers", peer_rows()},
                        {"gtpu", gtpu_rows()},
                        {"bearers", store_->size()},
                        {"tsc_hz", rte_get_tsc_hz()},
                        {"totals",
                         {{"received", received},
                          {"transmitted", transmitted},
                          {"dropped", dropped},
                          {"consumed", consumed},
                          {"held", held},
                          {"balanced", balanced}}}};
}

// For whoever looks often and must not disturb: no worker is asked, so sums of one look may be off by what was moving.
Observation UserPlane::observe() {
  const std::lock_guard guard(mutex_);
  Observation all{.file_prefix = config_.file_prefix, .bearers = store_->size(), .tsc_hz = rte_get_tsc_hz()};
  for (auto& worker : workers_) {
    const auto& rings = worker->rings;
    all.workers.push_back(
        {worker->config.name,
         worker->config.core,
         worker->config.function,
         take_snapshot(worker->stats()),
         rings.downlink == nullptr ? 0 : rte_ring_count(rings.downlink) + rte_ring_count(rings.uplink),
         {},
         worker->config.policy.kind});
  }
  for (const auto& port : config_.ports) all.ports.push_back(observe_port(port));
  for (const N3Runtime& n3 : n3_) all.n3.push_back({n3.config.port, n3.gtpu.counters});
  return all;
}

}  // namespace splitplane::app
