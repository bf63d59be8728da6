#include "observe/stats_json.h"

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

}  // namespace

// A consumer of copies keeps nothing: it releases all that it received.
std::uint64_t consumed_by(const WorkerObservation& w) {
  return w.consumes_copies ? w.counters.received
                           : w.counters.punted + w.counters.rlc_control + w.counters.rlc_deferred +
                                 w.counters.card_copies + w.counters.rlc_queued + w.counters.rlc_taken;
}

std::uint64_t made_by_radio(const WorkerSnapshot& s) {
  return s.rlc_pdus + s.rlc_delivered;
}

// Frames that a card gets back for numbering left by the N3 port, too. VFs: of a card itself.
std::uint64_t transmitted_by(const WorkerSnapshot& s) {
  return s.transmitted_air + s.transmitted_n3 + s.returned + s.transmitted_vf;
}

nlohmann::json to_json(const WorkerObservation& w) {
  const WorkerSnapshot& s = w.counters;
  const std::uint64_t transmitted = transmitted_by(s);
  const std::uint64_t consumed = consumed_by(w);
  nlohmann::json row{{"name", w.name},
                     {"core", w.core},
                     {"received", s.received},
                     {"transmitted", transmitted},
                     {"dropped", s.dropped()},
                     {"consumed", consumed},
                     {"held", w.held()},
                     {"balanced", s.received + made_by_radio(s) ==
                                      transmitted + s.dropped() + consumed + s.dispatched + s.reorder_held},
                     {"stages", stages_of(s)},
                     {"drops", drops_of(s)},
                     {"cycles", {{"busy", s.busy_cycles}, {"idle", s.idle_cycles}, {"asleep", s.asleep_cycles}}},
                     {"cpu_cycles", w.cpu_cycles},
                     {"silent_s", w.silent_s},
                     {"host", w.host},
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
  if (port.link_up) row["link_up"] = *port.link_up;
  if (port.mtu != 0) row["mtu"] = port.mtu;
  for (const auto& counter : kPortCounters) row[std::string(counter.name)] = port.driver.*counter.field;
  return row;
}

}  // namespace splitplane::app
