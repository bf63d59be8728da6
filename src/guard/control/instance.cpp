#include "guard/control/instance.h"

#include <rte_cycles.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "guard/config/check.h"
#include "guard/control/metrics.h"
#include "guard/control/report.h"
#include "guard/state/recount.h"
#include "power/governor/loan.h"
#include "runtime/config/lookup.h"
#include "runtime/instance_lock.h"
#include "runtime/start_up.h"

namespace splitplane::app {
namespace {

using guard::Side;

constexpr std::array<std::string_view, 3> kProofNames{"none", "cookie", "vouched"};  // as guard::Proof

std::vector<unsigned> cores_of(const GuardConfig& config) {
  std::vector<unsigned> cores;
  for (const auto& worker : config.workers) cores.push_back(worker.core);
  return cores;
}

// As the tables count.
std::uint32_t now_seconds() {
  return guard::GuardClock::of_this_machine().at(rte_rdtsc()).seconds;
}

guard::SourceTable::Key key_of(const IpAddress& client) {
  guard::FourTuple tuple;
  tuple.client = client.octets();
  tuple.is_v6 = client.is_v6() ? 1 : 0;
  return guard::SourceTable::key_of(tuple);
}

}  // namespace

GuardInstance::GuardInstance(const GuardConfig& config, std::optional<datapath::Eal> eal)
    : config_(config), eal_(std::move(eal)), loops_(config_.sysfs_root), servers_(loops_) {}

// Not inline: what it destroys of the packet path is then compiled here, for speed.
GuardInstance::~GuardInstance() {
  stop();
}

Expected<std::unique_ptr<GuardInstance>> GuardInstance::start(const GuardConfig& config) {
  auto eal = start_eal(config, cores_of(config));
  if (!eal) return tl::unexpected(eal.error());
  for (const auto& loan : governor::restore_all(runtime_directory())) {
    if (!loan.in_use) log::info("{}: given back what an earlier run had set", loan.name);
  }
  return start_on(std::move(*eal), config);
}

Expected<std::unique_ptr<GuardInstance>> GuardInstance::start_on(std::optional<datapath::Eal> eal,
                                                                 const GuardConfig& config) {
  std::unique_ptr<GuardInstance> instance(new GuardInstance(config, std::move(eal)));
  if (auto opened = instance->open(); !opened) return tl::unexpected(opened.error());
  return instance;
}

Expected<void> GuardInstance::open() {
  auto tables = guard::StateFile::open({.path = config_.state_file,
                                        .workers = static_cast<unsigned>(config_.workers.size()),
                                        .sources = config_.sources,
                                        .flows = config_.flows});
  if (!tables) return tl::unexpected(tables.error());
  tables_.emplace(*std::move(tables));
  if (!config_.state_file.empty()) log::info("{}", tables_->beginning());
  if (auto opened = open_port(config_.client, Side::kClient); !opened) return opened;
  if (auto opened = open_port(config_.server, Side::kServer); !opened) return opened;
  std::vector<WatchedPort> watched;
  for (const auto& port : config_.ports) {
    const Side side = port.name == config_.client ? Side::kClient : Side::kServer;
    if (auto one = watched_port(port, ports_[static_cast<std::size_t>(side)]->id())) watched.push_back(*std::move(one));
  }
  port_watch_ = PortWatch(std::move(watched));
  if (auto made = make_workers(); !made) return made;
  for (const auto& rule : config_.servers) {
    if (auto added = servers_.add(rule); !added) return tl::unexpected(added.error());
  }
  return loops_.launch();
}

Expected<void> GuardInstance::open_port(const std::string& name, Side side) {
  const auto at = static_cast<std::size_t>(side);
  const PortConfig& config = *find_port(config_, name);
  auto pool = make_pool("port " + name, name, config_.memory);
  if (!pool) return tl::unexpected(pool.error());
  pools_[at] = *std::move(pool);
  datapath::PortSettings settings = port_settings(config);
  settings.spread_by_address = true;  // both directions of a connection meet in one worker
  auto port = datapath::Port::open(settings, pools_[at].get());
  if (!port) return tl::unexpected(port.error());
  ports_[at] = *std::move(port);
  return {};
}

Expected<void> GuardInstance::make_workers() {
  const auto& client = *ports_[static_cast<std::size_t>(Side::kClient)];
  const auto& server = *ports_[static_cast<std::size_t>(Side::kServer)];
  guard::GuardSettings settings{.sources = config_.sources,
                                .flows = config_.flows,
                                .key_seconds = config_.key_seconds,
                                .replies_per_second = config_.limits.replies_per_second,
                                .unproven_per_second = config_.limits.unproven_per_second,
                                .checksums = client.checksums()};
  // A port that verifies nothing leaves it to the guard, unless the file says otherwise.
  if (!find_port(config_, config_.client)->checksum && settings.checksums == datapath::ChecksumMode::off)
    settings.checksums = datapath::ChecksumMode::software;
  for (std::size_t i = 0; i < config_.workers.size(); ++i) {
    const auto part = tables_->part(static_cast<unsigned>(i));
    const auto queue = static_cast<std::uint16_t>(i);
    auto worker = std::make_unique<guard::GuardWorker>(
        settings, guard::GuardMemory{part.sources, part.flows, part.keys, part.secret},
        guard::GuardWorker::Function::Ends{.client_in = {client.id(), queue},
                                           .server_in = {server.id(), queue},
                                           .client_out = {client.id(), queue, client.passes_mbufs()},
                                           .server_out = {server.id(), queue, server.passes_mbufs()}});
    loops_.add(config_.workers[i], std::move(worker));
    if (!tables_->continues()) continue;
    // How old the keys are is not known, so they count as over: what was given by the newer one is good once more.
    auto counted = loops_.execute(i, [](guard::WorkerGuard& guard) {
      recount_flows(guard.sources, guard.flows);
      guard.rotate_keys();
    });
    if (!counted) return counted;
  }
  return {};
}

void GuardInstance::stop() {
  const std::lock_guard lock(mutex_);
  loops_.stop();
}

void GuardInstance::watch(std::chrono::steady_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  (void)port_watch_.look(now);
  for (const auto& line : events_.look(servers_.armed_now(), std::chrono::system_clock::now())) log::info("{}", line);
}

std::vector<std::string> GuardInstance::ports_down() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> down;
  for (const auto& port : config_.ports) {
    const WatchedPort* const watched = port_watch_.find(port.name);
    if (watched != nullptr && !watched->link.up) down.push_back(port.name);
  }
  return down;
}

std::vector<GuardSeen> GuardInstance::look() {
  std::vector<GuardSeen> all;
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    GuardLoop& loop = loops_[i];
    auto seen = std::make_shared<GuardSeen>();
    const auto done =
        loops_.execute(i, [&](guard::WorkerGuard& guard) { *seen = look_at(guard, loop.worker->worker_stats()); });
    if (!done) *seen = look_beside(loop.worker->stats(), loop.worker->worker_stats());
    seen->name = loop.name;
    seen->core = loop.core;
    seen->cpu_cycles = loop.thread.cpu_cycles();
    all.push_back(std::move(*seen));
  }
  return all;
}

std::vector<PortObservation> GuardInstance::look_at_ports(const std::vector<GuardSeen>& seen) {
  std::vector<PortObservation> all;
  for (const Side side : {Side::kClient, Side::kServer}) {
    const auto at = static_cast<std::size_t>(side);
    const datapath::Port& port = *ports_[at];
    PortObservation& row = all.emplace_back();
    row.name = port.name();
    row.driver = port.counters();
    for (const GuardSeen& worker : seen) {
      row.workers_received += worker.received[at];
      row.workers_transmitted += worker.sent_to(side);
    }
    const WatchedPort* const watched = port_watch_.find(port.name());
    if (watched != nullptr) row.link_up = watched->link.up;
    row.mtu = watched != nullptr ? watched->mtu() : port.mtu();
  }
  return all;
}

Json GuardInstance::show_of(const std::vector<GuardSeen>& seen) {
  Json json = guard_json(servers_.rules(), seen, config_.key_seconds);
  json["events"] = events_.count();
  json["table_bytes"] = tables_->bytes();
  json["continued"] = tables_->continues();
  return json;
}

Expected<Json> GuardInstance::stats() {
  const std::lock_guard lock(mutex_);
  const auto seen = look();
  return stats_json(seen, look_at_ports(seen), show_of(seen));
}

Expected<Json> GuardInstance::show() {
  const std::lock_guard lock(mutex_);
  return show_of(look());
}

Expected<Json> GuardInstance::show_power() {
  const std::lock_guard lock(mutex_);
  Json rows = Json::array();
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    auto row = loops_.power_of(i).show();
    if (!row) return row;
    rows.push_back(*std::move(row));
  }
  return rows;
}

Expected<Json> GuardInstance::set_power(const std::string& worker, const power::Settings& settings) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    if (loops_[i].name == worker) return loops_.power_of(i).set(settings);
  }
  return fail("worker: there is no '{}'; allowed: w0{}", printable(worker),
              loops_.size() == 1 ? "" : fmt::format(" to w{}", loops_.size() - 1));
}

Expected<Json> GuardInstance::add_server(const guard::ServerRule& rule) {
  const std::lock_guard lock(mutex_);
  const auto added = servers_.add(rule);
  if (!added) return tl::unexpected(added.error());
  return Json{{"existed", !*added}, {"server", server_json(rule, look())}};
}

Expected<Json> GuardInstance::set_server(const std::string& name,
                                         const std::function<void(guard::ServerRule& rule)>& change) {
  const std::lock_guard lock(mutex_);
  const auto rule = servers_.change(name, change);
  if (!rule) return tl::unexpected(rule.error());
  return Json{{"server", server_json(*rule, look())}};
}

Expected<Json> GuardInstance::remove_server(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return servers_.remove(name).map([](bool existed) { return Json{{"existed", existed}}; });
}

Expected<Json> GuardInstance::count_sources() {
  const std::lock_guard lock(mutex_);
  Json rows = Json::array();
  for (const GuardSeen& worker : look()) {
    rows.push_back({{"name", worker.name},
                    {"entries", worker.source_entries},
                    {"live", worker.sources_live},
                    {"inserted", worker.sources_inserted},
                    {"evicted", worker.sources_evicted},
                    {"refused", worker.sources_refused}});
  }
  return Json{{"workers", std::move(rows)}};
}

Expected<Json> GuardInstance::one_source(const IpAddress& client, SourceAction action) {
  const std::lock_guard lock(mutex_);
  Json rows = Json::array();
  const auto key = key_of(client);
  const auto done = loops_.on_all([&](GuardLoop& loop, guard::WorkerGuard& guard) {
    const std::uint32_t now = now_seconds();
    bool has_room = true;
    if (action == SourceAction::kAllow) has_room = guard.sources.put(key, guard::Proof::kCookie, now);
    if (action == SourceAction::kForget) (void)guard.sources.remove(key);
    const auto proof = static_cast<std::size_t>(guard.sources.find(key, now));
    rows.push_back({{"name", loop.name}, {"proof", has_room ? kProofNames[proof] : "no room"}});
  });
  if (!done) return tl::unexpected(done.error());
  return Json{{"address", client.to_string()}, {"workers", std::move(rows)}};
}

Expected<Json> GuardInstance::list_flows(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  Json rows = Json::array();
  std::uint64_t used = 0;
  const auto done = loops_.on_all([&](GuardLoop& loop, guard::WorkerGuard& guard) {
    used += guard.flows.counts().used;
    if (rows.size() >= limit || guard.flows.counts().used == 0) return;
    const std::uint32_t now = now_seconds();
    guard.flows.for_each([&](const guard::Flow& flow) {
      if (rows.size() >= limit) return;
      rows.push_back(flow_json(flow, now));
      rows.back()["worker"] = loop.name;
    });
  });
  if (!done) return tl::unexpected(done.error());
  return Json{{"used", used}, {"flows", std::move(rows)}};
}

Expected<Json> GuardInstance::rotate_keys() {
  const std::lock_guard lock(mutex_);
  std::uint64_t rotations = 0;
  const auto done = loops_.on_all([&](GuardLoop&, guard::WorkerGuard& guard) {
    guard.rotate_keys();
    rotations += guard.stats.key_rotations.get();
  });
  if (!done) return tl::unexpected(done.error());
  log::info("cookies have a new key, as asked for");
  return Json{{"rotations", rotations}};
}

Expected<Json> GuardInstance::events() {
  const std::lock_guard lock(mutex_);
  return json_of(events_);
}

Scrape GuardInstance::observe() {
  const std::lock_guard lock(mutex_);
  const auto seen = look();
  Scrape scrape{.all = {.file_prefix = config_.file_prefix, .tsc_hz = rte_get_tsc_hz()}};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    WorkerObservation& row = scrape.all.workers.emplace_back();
    row.name = seen[i].name;
    row.core = seen[i].core;
    row.counters = seen[i].loop;
    row.policy = loops_[i].policy.kind;
    row.cpu_cycles = seen[i].cpu_cycles;
    row.silent_s = seen[i].silent_s;
  }
  scrape.all.ports = look_at_ports(seen);
  scrape.all.log = log::unwritten();
  scrape.more = guard_samples(seen);
  return scrape;
}

}  // namespace splitplane::app
