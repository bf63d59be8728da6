#include "ue/control/instance.h"

#include <rte_cycles.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "runtime/config/lookup.h"
#include "runtime/power_view.h"
#include "runtime/start_up.h"
#include "ue/control/report.h"
#include "ue/pdcp_counts.h"
#include "ue/ue_report.h"
#include "ue/ue_view.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kLcore = 1;
constexpr const char* kWorker = "ue";
constexpr std::size_t kBearersInStats = 256;

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
  if (!config_.key_file.empty()) {
    auto keys = datapath::BearerKeys::create(config_.key_file);
    if (!keys) return tl::unexpected(keys.error());
    auto pdcp = datapath::WorkerPdcp::create({.sends = Direction::kUplink,
                                              .pool = pool_.get(),
                                              .max_held = config_.memory.mbufs / 8,
                                              .ticks_per_ms = rte_get_tsc_hz() / 1000,
                                              .now = rte_rdtsc()},
                                             *keys);
    if (!pdcp) return tl::unexpected(pdcp.error());
    worker_->take_pdcp(std::move(*pdcp));
  }
  follower_.emplace(config_.gnb_control,
                    BearerFollower::Ways{.unknown = [this] { return unknown_bearers(); },
                                         .failed = [this] { return failed_bearers(); },
                                         .change = [this](const auto& changes) { return change(changes); }});
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
    if (const auto* bearer = bearers.find(id); bearer != nullptr) {
      *view = ue::view_of(*bearer);
      if (bearer->session != nullptr) (*view)->session_flows = bearer->session->flows();
    }
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
                   [](const auto& bearer) { return ue::view_of(bearer); });
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

// The PDCP entity of a secured bearer. Without keys for it there is none, and its packets are dropped (pdcp_no_keys).
std::unique_ptr<datapath::SecuredBearer> UeSide::make_secured(const ue::BearerChange& change) {
  const ran::BearerConfig& config = change.config;
  datapath::WorkerPdcp* const pdcp = worker_->pdcp();
  if (pdcp == nullptr) {
    log::warn("bearer {:#010x} is secured, and ue.key_file is absent; its packets are dropped", config.id.value);
    return nullptr;
  }
  const auto first = ue::first_counts(config, change.numbers, pdcp->keys().used(*config.security));
  auto made = pdcp->make(config, first.tx_next, first.rx_deliv);
  if (made) return std::move(*made);
  log::warn("bearer {:#010x}: {}; its packets are dropped", config.id.value, made.error().message);
  return nullptr;
}

// Once for each number of keys, though it is tried with each list.
void UeSide::say_refused(const ue::BearerChange& change, const std::string& why) {
  if (!refused_keys_.emplace(change.config.id.value, change.config.security->key).second) return;
  log::warn("bearer {:#010x}: {}; it passes no packets, and is tried again each second", change.config.id.value, why);
}

// Other keys for the PDCP entity of a bearer. Nothing if the file does not have them.
std::optional<datapath::NewKeys> UeSide::make_keys(const ue::BearerChange& change) {
  datapath::WorkerPdcp* const pdcp = worker_->pdcp();
  if (pdcp == nullptr) return std::nullopt;
  const ran::SecurityConfig& security = *change.config.security;
  auto pair = pdcp->keys().make(security);
  if (!pair) {
    say_refused(change, pair.error().message);
    return std::nullopt;
  }
  datapath::NewKeys keys{.pair = std::move(*pair), .security = security};
  if (const auto* used = pdcp->keys().used(security); used != nullptr) keys.first = *used;
  return keys;
}

// The entities that a change needs. False: the file has no keys for it.
bool UeSide::make_entities(const ue::BearerChange& change, ue::UeEntities& entities) {
  if (change.kind == ue::BearerChange::Kind::kRekey) {
    entities.keys = make_keys(change);
    return entities.keys.has_value();
  }
  if (change.kind != ue::BearerChange::Kind::kEstablish) return true;
  if (change.config.acknowledged) entities.arq = worker_->make_arq(change.config, change.numbers.rlc_epoch);
  if (change.config.security) entities.secured = make_secured(change);
  return true;
}

std::vector<ue::BearerChange> UeSide::change(const std::vector<ue::BearerChange>& wanted) {
  std::vector<ue::BearerChange> changes, refused, without_entity;
  // What is destroyed is destroyed here, when the worker does not use it any more.
  auto entities = std::make_shared<std::vector<ue::UeEntities>>();
  for (const ue::BearerChange& one : wanted) {
    ue::UeEntities made;
    if (!make_entities(one, made)) {
      refused.push_back(one);
      continue;
    }
    changes.push_back(one);
    entities->push_back(std::move(made));
  }
  const bool done = worker_->execute([this, entities, changes](ue::UeBearers&) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
      (*entities)[i] = worker_->change(changes[i], std::move((*entities)[i]));
    }
  });
  for (std::size_t i = 0; done && i < changes.size(); ++i) {
    ue::UeEntities& old = (*entities)[i];
    if (old.secured) {
      worker_->pdcp()->keys().note_used(old.secured->security,
                                        {old.secured->entity.tx().tx_next(), old.secured->received_until});
    }
    if (old.was_rekeyed) worker_->pdcp()->keys().note_used(*changes[i].before.security, old.used_before);
    if (old.keys_refused) {
      say_refused(changes[i],
                  fmt::format("a key with number {} is that of its keys before", changes[i].config.security->key));
      refused.push_back(changes[i]);
    } else if (old.keys && !old.was_rekeyed) {
      without_entity.push_back(changes[i]);
    }
  }
  if (!done) {  // the command was taken back
    log::error("the worker does not answer; {} changes of bearers are tried again", changes.size());
    return wanted;
  }
  addresses_->follow(changes);
  for (auto& one : without_entity) one.kind = ue::BearerChange::Kind::kEstablish;  // it had no keys before
  if (!without_entity.empty()) (void)change(without_entity);
  return refused;
}

std::uint64_t UeSide::unknown_bearers() const {
  const auto& downlink = worker_->stats().downlink;
  return downlink[static_cast<std::size_t>(ue::UeOutcome::bearer_unknown)].get() +
         downlink[static_cast<std::size_t>(ue::UeOutcome::rlc_other_epoch)].get();
}

}  // namespace splitplane::app
