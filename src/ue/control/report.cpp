#include "ue/control/report.h"

#include <rte_cycles.h>

#include "ue/control/air.h"

namespace splitplane::app {
namespace {

// One flat row: a table of people's size for `ctl stats`.
Json row_of(const ue::UeBearer& b) {
  const auto& d = b.downlink;
  return {{"id", b.config.id.value},
          {"rlc", ran::rlc_name(b.config.rlc_mode, b.config.rlc_sn_bits)},
          {"dl_received", d.received},
          {"dl_delivered", d.delivered},
          {"dl_dropped", d.dropped},
          {"dl_control", d.control},
          {"rlc_missing", b.rlc_rx.missing()},
          {"rlc_late", d.rlc_late},
          {"rlc_restarts", d.rlc_restarts},
          {"rlc_duplicates", d.rlc_duplicates},
          {"pdcp_missing", b.pdcp_rx.missing()},
          {"pdcp_late", d.pdcp_late},
          {"pdcp_duplicates", d.pdcp_duplicates},
          {"polls", d.polls},
          {"status_sent", d.status_sent},
          {"reflective", d.reflective},
          {"other_qfi", d.other_qfi},
          {"other_destination", d.other_destination},
          {"ul_received", b.uplink.received},
          {"ul_sent", b.uplink.sent},
          {"ul_dropped", b.uplink.dropped},
          {"ul_polls", b.uplink.polls}};
}

}  // namespace

Json json_of(const ue::DirectionReport& report) {
  Json drops = Json::object();
  for (const auto& [name, n] : report.drops) drops[std::string(name)] = n;
  return {{"received", report.received},
          {"transmitted", report.good},
          {"consumed", report.consumed},
          {"dropped", report.dropped},
          {"drops", drops},
          {"balanced", report.balanced()}};
}

Json drops_of(const ue::DirectionReport& downlink, const ue::DirectionReport& uplink) {
  Json drops = Json::object();
  for (const auto* direction : {&downlink, &uplink}) {
    for (const auto& [name, n] : direction->drops)
      drops[std::string(name)] = drops.value(std::string(name), std::uint64_t{0}) + n;
  }
  return drops;
}

Json stats_json(const ue::UeReport& r, const datapath::PortCounters& port, const UeNames& names) {
  const Json totals{{"received", r.downlink.received + r.uplink.received},
                    {"transmitted", r.downlink.good + r.uplink.good},
                    {"dropped", r.downlink.dropped + r.uplink.dropped},
                    {"consumed", r.downlink.consumed + r.uplink.consumed},
                    {"held", r.downlink.held},
                    {"balanced", r.balanced()}};
  Json worker = totals;
  worker.update({{"name", "ue"},
                 {"core", names.core},
                 {"transmitted_air", r.transmitted_air},
                 {"transmitted_tun", r.downlink.good},
                 {"drops", drops_of(r.downlink, r.uplink)},
                 {"cycles", {{"busy", r.busy_cycles}, {"idle", r.idle_cycles}, {"asleep", r.asleep_cycles}}},
                 {"cpu_cycles", r.cpu_cycles},
                 {"rounds", r.rounds},
                 {"sleeps", r.sleeps}});
  Json rows = Json::array();
  for (const auto& bearer : r.bearers) rows.push_back(row_of(bearer));
  Json air = Json::object();  // empty: nothing between port and UE side
  if (r.air_downlink) air = {{"downlink", json_of(*r.air_downlink)}, {"uplink", json_of(*r.air_uplink)}};
  return Json{{"ports", Json::array({Json{{"name", names.port},
                                          {"received", port.received},
                                          {"transmitted", port.transmitted},
                                          {"rx_missed", port.rx_missed},
                                          {"rx_errors", port.rx_errors},
                                          {"tx_errors", port.tx_errors},
                                          {"rx_no_mbuf", port.rx_no_mbuf},
                                          {"workers_received", r.received_air},
                                          {"workers_transmitted", r.transmitted_air}}})},
              {"workers", Json::array({worker})},
              {"bearers", r.bearer_count},
              {"tsc_hz", rte_get_tsc_hz()},
              {"totals", totals},
              {"downlink", json_of(r.downlink)},
              {"uplink", json_of(r.uplink)},
              {"air", air},
              {"checks",
               {{"polls", r.polls},
                {"end_markers", r.end_markers},
                {"status_sent", r.status_sent},
                {"status_lost", r.status_lost},
                {"rlc_missing", r.rlc_missing},
                {"rlc_late", r.rlc_late},
                {"rlc_duplicates", r.rlc_duplicates},
                {"pdcp_missing", r.pdcp_missing},
                {"pdcp_late", r.pdcp_late},
                {"pdcp_duplicates", r.pdcp_duplicates},
                {"other_qfi", r.other_qfi},
                {"other_destination", r.other_destination},
                {"no_buffer", r.no_buffer}}},
              {"rlc_am",
               {{"status_sent", r.arq_status},
                {"retransmitted", r.arq_retransmitted},
                {"sent", r.arq_sent},
                {"lost", r.arq_lost},
                {"status_stale", r.arq_status_stale},
                {"status_malformed", r.arq_status_malformed},
                {"max_retx", r.arq_max_retx},
                {"unacked", r.arq_unacked}}},
              {"bearer_counters", rows}};
}

}  // namespace splitplane::app
