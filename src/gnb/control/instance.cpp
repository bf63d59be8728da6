#include "gnb/control/instance.h"

#include "base/log.h"
#include "engine/dpdk_log.h"
#include "power/governor/loan.h"
#include "runtime/instance_lock.h"
#include "runtime/start_up.h"

namespace splitplane::gnb {
namespace {

constexpr std::chrono::milliseconds kFailures{200};  // how often workers' counters are looked at for failed bearers
constexpr std::chrono::milliseconds kMtu{200};       // when a worker that did not listen is asked again

}  // namespace

Expected<std::unique_ptr<Instance>> Instance::start(const GnbConfig& config, bool fresh) {
  std::vector<unsigned> cores;
  for (const auto& worker : config.workers) cores.push_back(worker.core);
  auto eal = start_eal(config, cores);
  if (!eal) return tl::unexpected(eal.error());
  for (const auto& loan : governor::restore_all(runtime_directory())) {
    if (!loan.in_use) log::info("{}: given back what an earlier run had set", loan.name);
  }
  return start_on(std::move(*eal), config, fresh);
}

Expected<std::unique_ptr<Instance>> Instance::start_on(std::optional<datapath::Eal> eal, const GnbConfig& config,
                                                       bool fresh) {
  std::unique_ptr<Instance> instance(new Instance(config, std::move(eal)));
  if (const auto built = instance->build(fresh); !built) return tl::unexpected(built.error());
  return instance;
}

Instance::Instance(GnbConfig config, std::optional<datapath::Eal> eal)
    : eal_(std::move(eal)), parts_(std::move(config)) {}

Expected<void> Instance::build(bool fresh) {
  if (auto made = parts_.wiring.make(parts_.workers, parts_.peers); !made) return made;
  parts_.watch = PortWatch(parts_.wiring.watched_ports());
  if (auto opened = parts_.numbers.open(fresh); !opened) return opened;
  parts_.wiring.make_loops(parts_.workers);
  const auto port_id = [this](const std::string& port) { return parts_.wiring.ports().at(port)->id(); };
  if (auto connected = parts_.cards.connect(port_id, parts_.numbers.for_cards()); !connected) return connected;
  if (auto restored = parts_.bearers.restore(parts_.config.journal); !restored) return restored;
  parts_.cards.begin(parts_.control.lock());
  if (auto started = parts_.taps.start_configured(); !started) return started;
  if (auto launched = parts_.workers.launch(); !launched) return launched;
  if (auto started = parts_.power.start([this] { return parts_.workers.loop_times(); }); !started) return started;
  return parts_.phys.start(parts_.workers.with_phy());
}

Instance::~Instance() {
  stop_workers();
}

void Instance::stop_workers() {
  // First, since a link puts each lease into the journal before the card may use it.
  parts_.cards.end();
  parts_.numbers.stop();
  parts_.phys.stop();
  parts_.power.stop();
  const Locked locked = parts_.control.lock();
  parts_.workers.stop(locked);
  parts_.taps.end(locked);
  parts_.numbers.close(locked);
}

void Instance::serve_n3(std::chrono::steady_clock::time_point now) {
  parts_.workers.watch(now);
  {
    const Locked locked = parts_.control.lock();
    parts_.workers.notice_homecomings(locked);
    parts_.taps.quiet_stopped(locked);
    parts_.numbers.serve(locked, now);
    parts_.n3.serve(locked, now);
    parts_.service.serve(locked);
  }
  if (now < next_failures_) return;
  next_failures_ = now + kFailures;
  parts_.workers.warn_of_failures(now);
  parts_.bearers.reestablish_gone();
}

void Instance::watch_ports(std::chrono::steady_clock::time_point now) {
  datapath::say_dpdk_repeats();
  const Locked locked = parts_.control.lock();
  const auto changed = parts_.watch.look(now);
  for (const WatchedPort& port : changed) mtus_to_tell_[port.name] = port.mtu();
  if (mtus_to_tell_.empty() || (changed.empty() && now < next_mtu_)) return;
  next_mtu_ = now + kMtu;
  std::erase_if(mtus_to_tell_, [&](const auto& row) { return take_mtu(locked, row.first, row.second); });
}

// From now on the workers drop what is longer. False: a worker did not listen, and those after it were not told.
bool Instance::take_mtu(const Locked& locked, const std::string& port, unsigned mtu) {
  return parts_.peers.take_mtu(locked, port, mtu) && parts_.workers.take_air_mtu(locked, port, mtu);
}

Expected<void> Instance::wait_for_disk() {
  return parts_.numbers.wait_for_disk();
}

Expected<AddedBearers> Instance::add_bearers(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard) {
  return parts_.bearers.add(wanted, shard);
}

Expected<ran::BearerConfig> Instance::modify_bearer(BearerId id, const BearerPatch& patch) {
  return parts_.bearers.modify(id, patch);
}

Expected<bool> Instance::release_bearer(BearerId id) {
  return parts_.bearers.release(id);
}

Expected<std::uint8_t> Instance::reestablish_bearer(BearerId id) {
  return parts_.bearers.reestablish(id);
}

Expected<Rekeyed> Instance::rekey_bearer(BearerId id, std::uint32_t key) {
  return parts_.bearers.rekey(id, key);
}

Expected<BearerView> Instance::show_bearer(BearerId id) {
  return parts_.bearers.show(id);
}

Expected<std::vector<BearerView>> Instance::list_bearers(std::uint32_t after, std::size_t limit) {
  return parts_.bearers.list(after, limit);
}

Expected<AddedSession> Instance::add_session(const ran::WantedSession& wanted) {
  return parts_.bearers.add_session(wanted);
}

Expected<bool> Instance::release_session(Teid teid) {
  return parts_.bearers.release_session(teid);
}

Expected<std::vector<RekeyedBearer>> Instance::rekey_session(Teid teid, std::uint32_t key) {
  return parts_.bearers.rekey_session(teid, key);
}

Expected<ran::SessionConfig> Instance::move_flow(Teid teid, Qfi qfi, ran::sdap::DrbId drb) {
  return parts_.bearers.move_flow(teid, qfi, drb);
}

Expected<SessionView> Instance::show_session(Teid teid) {
  return parts_.bearers.show_session(teid);
}

Expected<std::vector<SessionView>> Instance::list_sessions(std::uint32_t after, std::size_t limit) {
  return parts_.bearers.list_sessions(after, limit);
}

std::size_t Instance::bearer_count() {
  return parts_.bearers.count();
}

Expected<nlohmann::json> Instance::stats() {
  return parts_.observer.stats(parts_.control.lock());
}

Expected<nlohmann::json> Instance::peers() {
  return parts_.n3.peer_rows(parts_.control.lock());
}

Observation Instance::observe() {
  return parts_.observer.observe(parts_.control.lock());
}

Expected<nlohmann::json> Instance::tap_on(const tap::Settings& settings) {
  return parts_.taps.on(settings);
}

Expected<nlohmann::json> Instance::tap_off(const std::string& name) {
  return parts_.taps.off(name);
}

Expected<nlohmann::json> Instance::list_taps() {
  return parts_.taps.list();
}

Expected<nlohmann::json> Instance::show_power() {
  return parts_.workers.show_power(parts_.control.lock());
}

nlohmann::json Instance::show_meter() const {
  const auto view = parts_.power.view();
  return view ? to_json(*view) : nlohmann::json(nullptr);
}

Expected<nlohmann::json> Instance::set_power(const std::string& worker, const power::Settings& settings) {
  return parts_.workers.set_power(parts_.control.lock(), worker, settings);
}

Expected<nlohmann::json> Instance::attach_service(int process) {
  return parts_.service.attach(parts_.control.lock(), process);
}

Expected<nlohmann::json> Instance::begin_service(int process, const std::vector<int>& wakeups, bool wakes) {
  return parts_.service.begin(parts_.control.lock(), process, wakeups, wakes);
}

Expected<nlohmann::json> Instance::show_service() {
  auto row = parts_.service.row(parts_.control.lock());
  if (row.is_null()) return fail("no worker here has baas: process; allowed: with one, and with the section baas");
  return row;
}

Expected<nlohmann::json> Instance::show_phys() {
  auto rows = parts_.phys.rows();
  if (rows.empty()) return fail("no worker here has the key phy; allowed: with features full and phy");
  return rows;
}

Expected<nlohmann::json> Instance::show_card() {
  return parts_.cards.show();
}

}  // namespace splitplane::gnb
