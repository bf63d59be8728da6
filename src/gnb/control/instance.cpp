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

Expected<std::unique_ptr<Instance>> Instance::start(const Config& config, bool fresh) {
  std::vector<unsigned> cores;
  for (const auto& worker : config.workers) cores.push_back(worker.core);
  auto eal = start_eal(config, cores);
  if (!eal) return tl::unexpected(eal.error());
  for (const auto& loan : governor::restore_all(runtime_directory())) {
    if (!loan.in_use) log::info("{}: given back what an earlier run had set", loan.name);
  }
  return start_on(std::move(*eal), config, fresh);
}

Expected<std::unique_ptr<Instance>> Instance::start_on(std::optional<datapath::Eal> eal, const Config& config,
                                                       bool fresh) {
  std::unique_ptr<Instance> instance(new Instance(config, std::move(eal)));
  if (const auto built = instance->build(fresh); !built) return tl::unexpected(built.error());
  return instance;
}

Instance::Instance(Config config, std::optional<datapath::Eal> eal)
    : config_(std::move(config)),
      eal_(std::move(eal)),
      store_(config_.instance, owned_shards(config_), bearers_per_shard(config_),
             config_.lookup == Config::Lookup::kUeAddress) {}

Expected<void> Instance::build(bool fresh) {
  if (auto made = wiring_.make(workers_, peers_); !made) return made;
  watch_ = PortWatch(wiring_.watched_ports());
  if (auto opened = numbers_.open(fresh); !opened) return opened;
  wiring_.make_loops(workers_);
  cards_.connect([this](const std::string& port) { return wiring_.ports().at(port)->id(); }, numbers_.for_cards());
  if (auto restored = bearers_.restore(config_.journal); !restored) return restored;
  cards_.begin(control_.lock());
  if (auto started = taps_.start_configured(); !started) return started;
  return workers_.launch();
}

Instance::~Instance() {
  stop_workers();
}

void Instance::stop_workers() {
  // First, since a link puts each lease into the journal before the card may use it.
  cards_.end();
  numbers_.stop();
  const Locked locked = control_.lock();
  workers_.stop(locked);
  taps_.end(locked);
  numbers_.close(locked);
}

void Instance::serve_n3(std::chrono::steady_clock::time_point now) {
  workers_.watch(now);
  const Locked locked = control_.lock();
  taps_.quiet_stopped(locked);
  numbers_.serve(locked, now);
  n3_.serve(locked, now);
  if (now < next_failures_) return;
  next_failures_ = now + kFailures;
  workers_.warn_of_failures(now);
}

void Instance::watch_ports(std::chrono::steady_clock::time_point now) {
  datapath::say_dpdk_repeats();
  const Locked locked = control_.lock();
  const auto changed = watch_.look(now);
  for (const WatchedPort& port : changed) mtus_to_tell_[port.name] = port.mtu();
  if (mtus_to_tell_.empty() || (changed.empty() && now < next_mtu_)) return;
  next_mtu_ = now + kMtu;
  std::erase_if(mtus_to_tell_, [&](const auto& row) { return take_mtu(locked, row.first, row.second); });
}

// From now on the workers drop what is longer. False: a worker did not listen, and those after it were not told.
bool Instance::take_mtu(const Locked& locked, const std::string& port, unsigned mtu) {
  return peers_.take_mtu(locked, port, mtu) && workers_.take_air_mtu(locked, port, mtu);
}

Expected<void> Instance::settle() {
  return numbers_.settle();
}

Expected<AddedBearers> Instance::add_bearers(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard) {
  return bearers_.add(wanted, shard);
}

Expected<ran::BearerConfig> Instance::modify_bearer(BearerId id, const BearerPatch& patch) {
  return bearers_.modify(id, patch);
}

Expected<bool> Instance::release_bearer(BearerId id) {
  return bearers_.release(id);
}

Expected<std::uint8_t> Instance::reestablish_bearer(BearerId id) {
  return bearers_.reestablish(id);
}

Expected<BearerView> Instance::show_bearer(BearerId id) {
  return bearers_.show(id);
}

Expected<std::vector<BearerView>> Instance::list_bearers(std::uint32_t after, std::size_t limit) {
  return bearers_.list(after, limit);
}

std::size_t Instance::bearer_count() {
  return bearers_.count();
}

Expected<nlohmann::json> Instance::stats() {
  return observer_.stats(control_.lock());
}

Expected<nlohmann::json> Instance::peers() {
  return n3_.peer_rows(control_.lock());
}

Observation Instance::observe() {
  return observer_.observe(control_.lock());
}

Expected<nlohmann::json> Instance::tap_on(const tap::Settings& settings) {
  return taps_.on(settings);
}

Expected<nlohmann::json> Instance::tap_off(const std::string& name) {
  return taps_.off(name);
}

Expected<nlohmann::json> Instance::list_taps() {
  return taps_.list();
}

Expected<nlohmann::json> Instance::show_power() {
  return workers_.show_power(control_.lock());
}

Expected<nlohmann::json> Instance::set_power(const std::string& worker, const power::Settings& settings) {
  return workers_.set_power(control_.lock(), worker, settings);
}

Expected<nlohmann::json> Instance::show_card() {
  return cards_.show();
}

}  // namespace splitplane::gnb
