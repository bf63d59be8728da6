// Everything counted, as JSON: the same names as in the lists of stages and drop reasons. Each worker's counters are
// read on its own thread between two rounds, so they add up exactly.
#include "app/user_plane.h"

namespace splitplane::app {
namespace {

// A worker's counters, copied between two rounds.
struct Snapshot {
  struct StageNumbers {
    std::uint64_t packets = 0, sampled_packets = 0, sampled_cycles = 0;
  };
  std::array<StageNumbers, datapath::kStageCount> stages{};
  std::array<std::uint64_t, datapath::kDropReasonCount> drops{};
  std::uint64_t received = 0, air = 0, n3 = 0, punted = 0, control_pdus = 0, dispatched = 0, copies = 0,
                copies_lost = 0, injected = 0, monitored = 0, reorder_given_up = 0, held = 0, busy = 0, idle = 0,
                asleep = 0, rounds = 0, sleeps = 0;
};

Snapshot take(const datapath::WorkerStats& s) {
  Snapshot copy;
  for (std::size_t i = 0; i < copy.stages.size(); ++i) {
    copy.stages[i] = {s.stages[i].packets.get(), s.stages[i].sampled_packets.get(), s.stages[i].sampled_cycles.get()};
  }
  for (std::size_t i = 0; i < copy.drops.size(); ++i) copy.drops[i] = s.drops[i].get();
  copy.received = s.received_total();
  copy.air = s.transmitted_air.get();
  copy.n3 = s.transmitted_n3.get();
  copy.punted = s.punted.get();
  copy.control_pdus = s.control_pdus.get();
  copy.dispatched = s.dispatched.get();
  copy.copies = s.copies.get();
  copy.copies_lost = s.copies_lost.get();
  copy.injected = s.injected.get();
  copy.monitored = s.monitored.get();
  copy.busy = s.busy_cycles.get();
  copy.idle = s.idle_cycles.get();
  copy.asleep = s.asleep_cycles.get();
  copy.rounds = s.rounds.get();
  copy.sleeps = s.sleeps.get();
  return copy;
}

nlohmann::json stages_of(const Snapshot& s) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < s.stages.size(); ++i) {
    const auto& stage = s.stages[i];
    if (stage.packets == 0) continue;
    nlohmann::json row{{"name", datapath::name_of(static_cast<datapath::Stage>(i))}, {"packets", stage.packets}};
    if (stage.sampled_packets != 0) {
      row["cycles_per_packet"] = static_cast<double>(stage.sampled_cycles) / static_cast<double>(stage.sampled_packets);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

nlohmann::json UserPlane::port_stats(const PortConfig& config) {
  const datapath::Port& port = *ports_.at(config.name);
  const datapath::PortCounters counters = port.counters();
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
        transmitted += s.transmitted_air.get();
      }
    }
  }
  return {{"name", config.name},
          {"received", counters.received},
          {"transmitted", counters.transmitted},
          {"rx_missed", counters.rx_missed},
          {"rx_errors", counters.rx_errors},
          {"tx_errors", counters.tx_errors},
          {"rx_no_mbuf", counters.rx_no_mbuf},
          {"workers_received", received},
          {"workers_transmitted", transmitted}};
}

Expected<nlohmann::json> UserPlane::worker_stats(WorkerRuntime& worker) {
  auto snapshot = std::make_shared<Snapshot>();
  auto ring_count = std::make_shared<unsigned>(0);
  WorkerRuntime* w = &worker;
  const bool done = worker.execute([snapshot, ring_count, w] {
    *snapshot = take(w->stats());
    if (w->gnb) {
      snapshot->held = w->gnb->reorder.held();
      snapshot->reorder_given_up = w->gnb->reorder.given_up();
    }
    if (w->rings.downlink != nullptr) *ring_count = rte_ring_count(w->rings.downlink) + rte_ring_count(w->rings.uplink);
  });
  if (!done) return fail("worker {} does not answer", worker.config.name);

  const Snapshot& s = *snapshot;
  nlohmann::json drops = nlohmann::json::object();
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < s.drops.size(); ++i) {
    if (s.drops[i] == 0) continue;
    drops[std::string(datapath::name_of(static_cast<datapath::DropReason>(i)))] = s.drops[i];
    dropped += s.drops[i];
  }
  // A consumer of copies keeps nothing: what it received is what it released.
  const bool copies = worker.config.function == WorkerConfig::Function::kCopies;
  const std::uint64_t consumed = copies ? s.received : s.punted + s.control_pdus;
  const std::uint64_t transmitted = s.air + s.n3;
  return nlohmann::json{
      {"name", worker.config.name},
      {"core", worker.config.core},
      {"received", s.received},
      {"transmitted", transmitted},
      {"transmitted_air", s.air},
      {"transmitted_n3", s.n3},
      {"dropped", dropped},
      {"consumed", consumed},
      {"dispatched", s.dispatched},
      {"held", *ring_count + s.held},
      {"balanced", s.received == transmitted + dropped + consumed + s.dispatched + s.held},
      {"copies", s.copies},
      {"copies_lost", s.copies_lost},
      {"rlc_control", s.control_pdus},
      {"punted", s.punted},
      {"injected", s.injected},
      {"qos_monitored", s.monitored},
      {"reorder_given_up", s.reorder_given_up},
      {"stages", stages_of(s)},
      {"drops", drops},
      {"cycles", {{"busy", s.busy}, {"idle", s.idle}, {"asleep", s.asleep}}},
      {"cycles_per_packet", s.received == 0 ? 0.0 : static_cast<double>(s.busy) / static_cast<double>(s.received)},
      {"rounds", s.rounds},
      {"sleeps", s.sleeps}};
}

Expected<nlohmann::json> UserPlane::stats() {
  const std::lock_guard guard(mutex_);
  nlohmann::json workers = nlohmann::json::array();
  std::uint64_t received = 0, transmitted = 0, dropped = 0, consumed = 0, held = 0;
  bool balanced = true, running = false;
  for (auto& worker : workers_) {
    running = running || worker->running;
    auto row = worker_stats(*worker);
    if (!row) return row;
    const bool from_port =
        worker->rings.downlink == nullptr && worker->config.function != WorkerConfig::Function::kCopies;
    if (from_port) received += row->at("received").get<std::uint64_t>();
    if (worker->config.function != WorkerConfig::Function::kCopies)
      consumed += row->at("consumed").get<std::uint64_t>();
    transmitted += row->at("transmitted").get<std::uint64_t>();
    dropped += row->at("dropped").get<std::uint64_t>();
    held += row->at("held").get<std::uint64_t>();
    balanced = balanced && row->at("balanced").get<bool>();
    workers.push_back(std::move(*row));
  }
  // Workers are read one after the other: packets on the way between them only add up once all have stopped.
  if (!running) balanced = balanced && received == transmitted + dropped + consumed + held;

  nlohmann::json ports = nlohmann::json::array();
  for (const auto& port : config_.ports) ports.push_back(port_stats(port));
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

}  // namespace splitplane::app
