#include "gnb/place/consolidating.h"

#include <rte_cycles.h>
#include <rte_lcore.h>

#include <algorithm>

#include "base/log.h"
#include "engine/guest.h"
#include "power/settings_json.h"

namespace splitplane::gnb {
namespace {

constexpr const char* kNotByHand = "worker: cores follow the load; allowed: after `ctl place set --no-consolidate`";
constexpr std::chrono::milliseconds kLook{100};
static_assert(placement::kMostGuests == datapath::Hosting::kMostGuests && placement::kMostQueues == power::kMaxQueues);

// Loops with the same one may share a core: no packet then waits by another policy than its worker's.
std::string kind_of(const WorkerRuntime& worker) {
  return fmt::format("{} {} {} {}", rte_lcore_to_socket_id(worker.lcore), to_json(worker.config.policy).dump(),
                     static_cast<int>(worker.config.schedule.kind), worker.config.schedule.fifo_priority);
}

}  // namespace

bool Consolidating::takes_part(const WorkerRuntime& worker) const {
  if (!worker.gnb || !worker.thread.running || worker.silent_seconds != 0 || by_hand_.contains(&worker)) return false;
  const unsigned core = worker.config.core;
  const auto& service = parts_.config.baas;
  if (service && std::ranges::find(service->cores, core) != service->cores.end()) return false;
  return std::ranges::count(parts_.config.workers, core, &WorkerConfig::core) == 1;
}

void Consolidating::start() {
  if (parts_.workers.all().size() > 1) thread_ = std::thread([this] { run(); });
}

void Consolidating::stop() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Consolidating::set(const placement::ConsolidationSettings& settings) {
  const std::lock_guard guard(mutex_);
  if (settings == settings_) return;
  if (settings.on) by_hand_.clear();
  settings_ = settings;
  consolidation_.set(settings);
  changed_.notify_all();
}

// It is switched on, or a worker that it has parked has to come home.
bool Consolidating::has_work() const {
  if (settings_.on) return true;
  const Locked locked = parts_.control.lock();
  return std::any_of(parts_.workers.all().begin(), parts_.workers.all().end(),
                     [&](const auto& worker) { return worker->host != nullptr && !by_hand_.contains(worker.get()); });
}

void Consolidating::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!has_work()) {
      seen_at_ = 0;
      busy_.clear();
      changed_.wait(lock);
      continue;
    }
    if (changed_.wait_for(lock, kLook, [this] { return stop_; })) return;
    look();
  }
}

std::vector<placement::LoopFacts> Consolidating::facts(const Locked& /*locked*/) {
  const auto& workers = parts_.workers.all();
  const std::uint64_t at = rte_rdtsc(), elapsed = at - seen_at_;
  const bool is_first = seen_at_ == 0;
  seen_at_ = at;
  seen_busy_.resize(workers.size());
  busy_.resize(workers.size());
  std::vector<placement::LoopFacts> all(workers.size());
  std::vector<std::string> kinds(workers.size());
  for (std::size_t i = 0; i < workers.size(); ++i) {
    WorkerRuntime& worker = *workers[i];
    const std::uint64_t busy = worker.stats().busy_cycles.get();
    WorkerRuntime* const host = worker.host;
    // At the fastest P-state: a core that could go faster is not busy.
    const float speed = (host == nullptr ? worker : *host).power.speed();
    busy_[i] = speed * static_cast<double>(busy - seen_busy_[i]) / static_cast<double>(elapsed);
    seen_busy_[i] = busy;
    const auto on = std::find_if(workers.begin(), workers.end(), [&](const auto& w) { return w.get() == host; });
    kinds[i] = kind_of(worker);
    all[i] = {.busy = busy_[i],
              .on = on == workers.end() ? i : static_cast<std::size_t>(on - workers.begin()),
              .takes_part = takes_part(worker),
              .group = static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kinds[i]) - kinds.begin()),
              .queues = worker.power.hosting().own_queues()};
  }
  if (!is_first) return all;
  busy_.clear();
  return {};
}

void Consolidating::look() {
  const Locked locked = parts_.control.lock();
  const auto loops = facts(locked);
  const auto time_of_look =
      std::chrono::duration_cast<placement::Time>(std::chrono::steady_clock::now().time_since_epoch());
  const auto step = consolidation_.decide(time_of_look, loops);
  if (!step) return;
  WorkerRuntime &guest = *parts_.workers.all()[step->guest], &host = *parts_.workers.all()[step->host];
  const bool parks = step->kind == Step::Kind::kPark;
  const auto begin = std::chrono::steady_clock::now();
  if (const auto done = carry_out(locked, guest, parks ? &host : nullptr); !done) {
    log::warn("{}", done.error().message);
    return;
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  const std::string text =
      parks ? fmt::format("its core {} sleeps, worker {} makes its rounds; core {} will be busy {:.0f} %",
                          guest.config.core, host.config.name, host.config.core, 100 * step->load)
            : fmt::format("makes its rounds itself, on core {}; core {} of worker {} was busy {:.0f} %",
                          guest.config.core, host.config.core, host.config.name, 100 * step->load);
  log::write(spdlog::level::info, {{"worker", guest.config.name}},
             fmt::format("worker {}: {}; took {:.1f} ms", guest.config.name, text, took.count()));
}

Expected<void> Consolidating::carry_out(const Locked& locked, WorkerRuntime& guest, WorkerRuntime* host) {
  const auto begin = std::chrono::steady_clock::now();
  auto done = host != nullptr ? parts_.workers.park(locked, guest, *host) : parts_.workers.wake(locked, guest);
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  const std::lock_guard guard(counters_mutex_);
  ++(!done ? counters_.not_parked : host != nullptr ? counters_.parked : counters_.woken);
  if (done) counters_.longest_us = std::max(counters_.longest_us, static_cast<std::uint64_t>(took.count()));
  return done;
}

Expected<void> Consolidating::park(const std::string& worker, const std::string& host) {
  const std::lock_guard guard(mutex_);
  if (settings_.on) return fail("{}", kNotByHand);
  const Locked locked = parts_.control.lock();
  const auto guest = parts_.workers.named("worker", worker), to = parts_.workers.named("on", host);
  if (!guest) return tl::unexpected(guest.error());
  if (!to) return tl::unexpected(to.error());
  auto done = carry_out(locked, **guest, *to);
  if (done) by_hand_.insert(*guest);
  return done;
}

Expected<void> Consolidating::wake(const std::string& worker) {
  const std::lock_guard guard(mutex_);
  if (settings_.on) return fail("{}", kNotByHand);
  const Locked locked = parts_.control.lock();
  const auto guest = parts_.workers.named("worker", worker);
  if (!guest) return tl::unexpected(guest.error());
  auto done = carry_out(locked, **guest, nullptr);
  if (done) by_hand_.erase(*guest);
  return done;
}

Consolidating::Counters Consolidating::counters() const {
  const std::lock_guard guard(counters_mutex_);
  Counters all = counters_;
  all.woken += parts_.workers.late_homecomings();
  return all;
}

std::vector<Consolidating::Row> Consolidating::rows() const {
  const std::lock_guard guard(mutex_);
  const Locked locked = parts_.control.lock();
  std::vector<Row> rows;
  const auto& workers = parts_.workers.all();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const WorkerRuntime& worker = *workers[i];
    rows.push_back({worker.config.name, worker.config.core,
                    worker.host == nullptr ? "" : worker.host.load()->config.name,
                    worker.silent_seconds.load(std::memory_order_relaxed) != 0,
                    i < busy_.size() ? std::optional(busy_[i]) : std::nullopt});
  }
  return rows;
}

}  // namespace splitplane::gnb
