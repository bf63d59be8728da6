#include "card/control/report.h"

#include <rte_cycles.h>

#include "observe/stats_json.h"

namespace splitplane::app {
namespace {

template <std::size_t N, std::size_t M>
Json counts_of(const std::array<std::uint64_t, N>& counts, const std::array<std::string_view, M>& names) {
  static_assert(N == M);
  Json object = Json::object();
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] != 0) object[std::string(names[i])] = counts[i];
  }
  return object;
}

Json totals_of(const CardSums& all) {
  return {{"received", all.received}, {"clones", all.clones},     {"transmitted", all.transmitted},
          {"dropped", all.dropped},   {"consumed", all.consumed}, {"held", all.held},
          {"balanced", all.balanced}};
}

Json port_rows(const nic::CardCounters& counters, const std::vector<std::string>& names) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < counters.ports.size(); ++i) {
    if (names[i].empty()) continue;  // not connected
    const auto& port = counters.ports[i];
    rows.push_back({{"name", names[i]},
                    {"port", i},
                    {"in", port.in},
                    {"out", port.out},
                    {"clones", port.clones},
                    {"tx_full", port.tx_full}});
  }
  return rows;
}

}  // namespace

Json counters_json(const CardSeen& seen, const std::vector<std::string>& names) {
  const nic::CardCounters& c = seen.card;
  const Json totals = totals_of(seen.totals);
  return {{"ports", port_rows(c, names)},
          {"punts", counts_of(c.punts, nic::kPuntReasonNames)},
          {"drops", counts_of(c.drops, nic::kCardDropNames)},
          {"tx_full", c.tx_full},
          {"rlc_control", c.rlc_control},
          {"clones", {{"made", c.clones}, {"sunk", c.clones_sunk}, {"failed", c.clones_failed}, {"fences", c.fences}}},
          {"held", totals.at("held")},
          {"totals", totals}};
}

Json stats_json(const CardSeen& seen, const std::vector<PortObservation>& ports, const CardNames& names) {
  const bool several = seen.cores.size() > 1;
  Json workers = Json::array();
  for (std::size_t i = 0; i < seen.cores.size(); ++i) {
    const CoreCounts& core = seen.cores[i];
    Json worker = to_json(seen.workers[i]);
    const CardSums sums = sums_of(core, several);
    worker.update({{"transmitted", sums.transmitted},
                   {"dropped", sums.dropped},
                   {"consumed", sums.consumed},
                   {"held", sums.held},
                   {"balanced", sums.balanced}});
    worker["drops"] = counts_of(core.card.drops, nic::kCardDropNames);
    if (core.card.tx_full != 0) worker["drops"]["tx_full"] = core.card.tx_full;
    workers.push_back(std::move(worker));
  }
  Json port_list = Json::array();
  for (const auto& port : ports) port_list.push_back(to_json(port));
  Json card = counters_json(seen, names.ports);
  const Json totals = card.at("totals");
  card["name"] = names.card;
  card["program"] = names.program;
  return Json{
      {"ports", std::move(port_list)}, {"workers", std::move(workers)}, {"cards", Json::array({std::move(card)})},
      {"bearers", seen.bearers},       {"tsc_hz", rte_get_tsc_hz()},    {"totals", totals}};
}

}  // namespace splitplane::app
