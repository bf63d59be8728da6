#include "ue/control/instance.h"

#include <fmt/core.h>
#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "config/check.h"
#include "power/any_policy.h"
#include "runtime/start_up.h"
#include "ue/ue_report.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kLcore = 1;
constexpr std::size_t kBearersInStats = 256;

BearerView view_of(const ue::UeBearer& b) {
  BearerView view;
  view.config = b.config;
  view.downlink = {b.downlink.received, b.downlink.delivered, b.downlink.dropped, b.downlink.control, b.downlink.bytes};
  view.uplink = {b.uplink.received, b.uplink.sent, b.uplink.dropped, 0, b.uplink.bytes};
  view.pdcp_tx_next = b.pdcp_tx_next;
  view.rlc_tx_next = b.rlc_tx_next;
  view.pdcp_rx_next = b.pdcp_rx.next();
  view.rlc_rx_next = b.config.rlc_mode == RlcMode::kAm ? b.rlc_rx.next() : 0;
  if (b.arq != nullptr) view.rlc_am = datapath::view_of(*b.arq);
  return view;
}

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

}  // namespace

Expected<std::unique_ptr<UeSide>> UeSide::start(const Config& config) {
  auto eal = start_eal(config, {config.ue->core});
  if (!eal) return tl::unexpected(eal.error());
  std::unique_ptr<UeSide> side(new UeSide(config, std::move(*eal)));
  if (const auto opened = side->open(); !opened) return tl::unexpected(opened.error());
  return side;
}

Expected<void> UeSide::open() {
  const PortConfig& air = *find_port(config_, config_.ue->port);
  auto pool = make_pool("port " + air.name, air.name, config_.memory);
  if (!pool) return tl::unexpected(pool.error());
  pool_ = *std::move(pool);
  datapath::PortSettings settings = port_settings(air);
  settings.rx_queues = settings.tx_queues = 1;  // the UE side is one loop
  auto port = datapath::Port::open(settings, pool_.get());
  if (!port) return tl::unexpected(port.error());
  port_ = *std::move(port);
  if (auto watched = watched_port(air, port_->id())) port_watch_ = PortWatch({*std::move(watched)});

  auto tun = ue::Tun::create({.name = config_.ue->tun, .mtu = config_.ue->tun_mtu});
  if (!tun) return tl::unexpected(tun.error());
  tun_ = std::make_unique<ue::Tun>(*std::move(tun));
  addresses_ = std::make_unique<ue::UeAddresses>(*tun_);
  if (config_.ue->default_route) {
    if (const auto added = tun_->add_default_route(false); !added) return added;
    // A kernel without IPv6 is no reason to stop.
    if (const auto added = tun_->add_default_route(true); !added) log::warn("{}", added.error().message);
  }

  air_ = make_air(config_, pool_.get());
  worker_ = std::make_unique<ue::UeWorker>(
      ue::UeFunction::Ends{.air_in = {{port_->id(), 0}, air_.downlink.get()},
                           .air_out = {{port_->id(), 0, port_->passes_mbufs()}, air_.uplink.get()},
                           .link = {.ours = port_->mac(), .peer = config_.ue->peer_mac, .mtu = air.mtu},
                           .tun = *tun_,
                           .pool = pool_.get()});
  return worker_->start(kLcore, config_.ue->policy);
}

void UeSide::watch_port(Clock::time_point now) {
  for (const WatchedPort& port : port_watch_.look(now)) {
    (void)worker_->execute([worker = worker_.get(), mtu = static_cast<std::uint16_t>(port.mtu())](ue::UeBearers&) {
      worker->take_mtu(mtu);
    });
  }
}

Expected<BearerView> UeSide::show_bearer(BearerId id) {
  auto view = std::make_shared<std::optional<BearerView>>();
  const bool done = worker_->execute([id, view](ue::UeBearers& bearers) {
    if (const auto* bearer = bearers.find(id); bearer != nullptr) *view = view_of(*bearer);
  });
  if (!done) return fail("the worker does not answer");
  if (!view->has_value()) return fail("no bearer with identity {:#010x}", id.value);
  return **view;
}

Expected<std::vector<BearerView>> UeSide::list_bearers(std::uint32_t after, std::size_t limit) {
  auto views = std::make_shared<std::vector<BearerView>>();
  const bool done = worker_->execute([after, limit, views](ue::UeBearers& bearers) {
    const auto page = bearers.after(BearerId{after}, limit);
    std::transform(page.begin(), page.end(), std::back_inserter(*views), view_of);
  });
  if (!done) return fail("the worker does not answer");
  return std::move(*views);
}

Expected<Json> UeSide::stats() {
  const auto taken = ue::take_report(*worker_, kBearersInStats);
  if (!taken) return tl::unexpected(taken.error());
  const ue::UeReport& r = *taken;
  const datapath::PortCounters port = port_->counters();
  Json drops = json_of(r.downlink).at("drops");
  for (const auto& [name, n] : r.uplink.drops)
    drops[std::string(name)] = drops.value(std::string(name), std::uint64_t{0}) + n;
  const Json totals{{"received", r.downlink.received + r.uplink.received},
                    {"transmitted", r.downlink.good + r.uplink.good},
                    {"dropped", r.downlink.dropped + r.uplink.dropped},
                    {"consumed", r.downlink.consumed + r.uplink.consumed},
                    {"held", 0},
                    {"balanced", r.balanced()}};
  Json worker = totals;
  worker.update({{"name", "ue"},
                 {"core", config_.ue->core},
                 {"transmitted_air", r.transmitted_air},
                 {"transmitted_tun", r.downlink.good},
                 {"drops", drops},
                 {"cycles", {{"busy", r.busy_cycles}, {"idle", r.idle_cycles}, {"asleep", r.asleep_cycles}}},
                 {"cpu_cycles", r.cpu_cycles},
                 {"rounds", r.rounds},
                 {"sleeps", r.sleeps}});
  Json rows = Json::array();
  for (const auto& bearer : r.bearers) rows.push_back(row_of(bearer));
  Json air = Json::object();  // empty: nothing between port and UE side
  if (r.air_downlink) air = {{"downlink", json_of(*r.air_downlink)}, {"uplink", json_of(*r.air_uplink)}};
  return Json{{"ports", Json::array({Json{{"name", port_->name()},
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
