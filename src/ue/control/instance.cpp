#include "ue/control/instance.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "runtime/config/lookup.h"
#include "runtime/power_view.h"
#include "runtime/start_up.h"
#include "ue/control/report.h"
#include "ue/ue_report.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kLcore = 1;
constexpr const char* kWorker = "ue";
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

}  // namespace

Expected<std::unique_ptr<UeSide>> UeSide::start(const UeConfig& config) {
  auto eal = start_eal(config, {config.core});
  if (!eal) return tl::unexpected(eal.error());
  return start_on(std::move(*eal), config);
}

Expected<std::unique_ptr<UeSide>> UeSide::start_on(std::optional<datapath::Eal> eal, const UeConfig& config) {
  std::unique_ptr<UeSide> side(new UeSide(config, std::move(eal)));
  if (const auto opened = side->open(); !opened) return tl::unexpected(opened.error());
  return side;
}

// Not inline: what it destroys of the packet path is then compiled here, for speed.
UeSide::~UeSide() {
  stop();
}

Expected<void> UeSide::open() {
  const PortConfig& air = *find_port(config_, config_.port);
  auto pool = make_pool("port " + air.name, air.name, config_.memory);
  if (!pool) return tl::unexpected(pool.error());
  pool_ = *std::move(pool);
  datapath::PortSettings settings = port_settings(air);
  settings.rx_queues = settings.tx_queues = 1;  // the UE side is one loop
  auto port = datapath::Port::open(settings, pool_.get());
  if (!port) return tl::unexpected(port.error());
  port_ = *std::move(port);
  if (auto watched = watched_port(air, port_->id())) port_watch_ = PortWatch({*std::move(watched)});

  auto tun = ue::Tun::create({.name = config_.tun, .mtu = config_.tun_mtu});
  if (!tun) return tl::unexpected(tun.error());
  tun_ = std::make_unique<ue::Tun>(*std::move(tun));
  addresses_ = std::make_unique<ue::UeAddresses>(*tun_);
  if (config_.default_route) {
    if (const auto added = tun_->add_default_route(false); !added) return added;
    // A kernel without IPv6 is no reason to stop.
    if (const auto added = tun_->add_default_route(true); !added) log::warn("{}", added.error().message);
  }

  air_ = make_air(config_, pool_.get());
  worker_ = std::make_unique<ue::UeWorker>(
      ue::UeFunction::Ends{.air_in = {{port_->id(), 0}, air_.downlink.get()},
                           .air_out = {{port_->id(), 0, port_->passes_mbufs()}, air_.uplink.get()},
                           .link = {.ours = port_->mac(), .peer = config_.peer_mac, .mtu = air.mtu},
                           .tun = *tun_,
                           .pool = pool_.get()});
  follower_.emplace(config_.gnb_control,
                    BearerFollower::Ways{.unknown = [this] { return unknown_bearers(); },
                                         .failed = [this] { return failed_bearers(); },
                                         .change = [this](const auto& changes) { change(changes); }});
  return worker_->start(kLcore, config_.policy);
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
    std::transform(page.begin(), page.end(), std::back_inserter(*views),
                   [](const auto& bearer) { return view_of(bearer); });
  });
  if (!done) return fail("the worker does not answer");
  return std::move(*views);
}

Expected<Json> UeSide::stats() {
  const auto taken = ue::take_report(*worker_, kBearersInStats);
  if (!taken) return tl::unexpected(taken.error());
  return stats_json(*taken, port_->counters(), {port_->name(), config_.core});
}

Expected<Json> UeSide::show_power() {
  const auto view = std::make_shared<Json>();
  const bool done = worker_->execute(
      [view, worker = worker_.get()](ue::UeBearers&) { *view = view_of(worker->power(), worker->worker_stats()); });
  if (!done) return fail("the worker does not answer");
  (*view)["name"] = kWorker;
  (*view)["core"] = config_.core;
  (*view)["governor"] = nullptr;
  return Json::array({std::move(*view)});
}

Expected<Json> UeSide::set_power(const std::string& worker, const power::Settings& settings) {
  if (worker != kWorker) return fail("worker: there is no '{}'; allowed: {}", printable(worker), kWorker);
  const bool done = worker_->execute([settings, w = worker_.get()](ue::UeBearers&) { w->power().set(settings); });
  if (!done) return fail("the worker does not answer; its policy stays as it was");
  return Json{{"name", kWorker}, {"policy", to_json(settings)}, {"governor", nullptr}};
}

// Radio link failure of this side's senders.
std::vector<BearerId> UeSide::failed_bearers() {
  auto ids = std::make_shared<std::vector<BearerId>>();
  const bool done = worker_->execute([this, ids](ue::UeBearers&) { *ids = worker_->failed(); });
  return done ? std::move(*ids) : std::vector<BearerId>{};
}

void UeSide::change(const std::vector<ue::BearerChange>& changes) {
  // What is destroyed is destroyed here, when the worker does not use it any more.
  auto arq = std::make_shared<std::vector<std::unique_ptr<datapath::ArqBearer>>>();
  for (const auto& one : changes) {
    const bool begins = one.kind == ue::BearerChange::Kind::kEstablish && one.config.acknowledged;
    arq->push_back(begins ? worker_->make_arq(one.config, one.numbers.rlc_epoch) : nullptr);
  }
  const bool done = worker_->execute([this, arq, changes](ue::UeBearers&) {
    for (std::size_t i = 0; i < changes.size(); ++i) (*arq)[i] = worker_->change(changes[i], std::move((*arq)[i]));
  });
  if (!done) log::error("the worker does not answer; {} changes of bearers may come late", changes.size());
  for (const auto& one : changes) addresses_->follow(one);
}

std::uint64_t UeSide::unknown_bearers() const {
  return worker_->stats().downlink[static_cast<std::size_t>(ue::UeOutcome::bearer_unknown)].get();
}

}  // namespace splitplane::app
