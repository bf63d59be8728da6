#include "baas/control/service.h"

#include <linux/close_range.h>
#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/log.h"
#include "base/paths.h"
#include "base/text.h"
#include "observe/stats_json.h"
#include "runtime/instance_lock.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatienceWithDpdk = 10s;  // a gNB that ends while we join leaves DPDK waiting for it
constexpr auto kPatienceWithLoop = 1000ms;
constexpr auto kPatienceWithWorkers = 30'000ms;  // each of the gNB's may take a second to answer
constexpr auto kBeforeAnew = 50ms;               // so that one that fails again and again leaves the machine its time

// Becomes a new process unless it is told in time that all is well.
class Watchdog {
 public:
  Watchdog(std::chrono::seconds patience, const std::string& control)
      : thread_([this, patience, control] {
          std::unique_lock lock(mutex_);
          if (told_.wait_for(lock, patience, [this] { return well_; })) return;
          log::warn("DPDK does not answer; this process begins anew");
          re_execute(control);
          std::_Exit(1);
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      well_ = true;
    }
    told_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  bool well_ = false;
  std::thread thread_;
};

}  // namespace

// Loops may run until exec ends them: what they write to is still mapped, and no gNB uses it any more.
void re_execute(const std::string& control) {
  ::unlink(control.c_str());  // the process might end before it serves there again
  // DPDK's descriptors hold locks of the memory before, which would keep the next gNB from its own.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(file)), {});
  std::vector<char*> words;
  for (std::size_t at = 0; at < all.size(); at += std::strlen(&all[at]) + 1) words.push_back(&all[at]);
  words.push_back(nullptr);
  StopFlag::instance().leave_signals();
  if (StopFlag::instance().requested()) std::_Exit(0);
  ::execv("/proc/self/exe", words.data());
  log::error("this process cannot begin anew: {}", std::strerror(errno));
}

bool BufferingService::Loop::execute(const std::function<void()>& command) {
  if (thread.running) return mailbox.execute(command, kPatienceWithLoop);
  command();
  return true;
}

Expected<std::unique_ptr<BufferingService>> BufferingService::join(const GnbConfig& config, std::string& why) {
  auto gnb = ControlClient::connect(config.control.empty() ? control_path(config.file_prefix) : config.control, 2s);
  if (!gnb) {
    why = gnb.error().message;
    return nullptr;
  }
  const auto attached = gnb->call("baas.attach", {{"process", ::getpid()}});
  if (!attached) {
    if (gnb->refused()) return tl::unexpected(attached.error());
    why = attached.error().message;
    return nullptr;
  }
  std::unique_ptr<BufferingService> service(new BufferingService(config));
  if (auto started = service->start(*gnb, *attached); !started) {
    if (service->gnb_lives() && !service->begin_refused_) return tl::unexpected(started.error());
    // DPDK runs here: only a new process can try again.
    log::warn("{}; this process begins anew", started.error().message);
    service->abandon();
  }
  return service;
}

Expected<void> BufferingService::start(ControlClient& gnb, const Json& attached) {
  gnb_process_ = attached.at("process").get<int>();
  gnb_ = OtherProcess(gnb_process_);
  // Its number may be another process's by now, but not one that holds the gNB's lock.
  if (!gnb_.is_open() || InstanceLock::holder(config_.file_prefix) != gnb_process_)
    return fail("the gNB has ended meanwhile");
  {
    const Watchdog watchdog(kPatienceWithDpdk, control_path(baas_instance(config_)));
    auto eal = datapath::Eal::start(
        {.file_prefix = config_.file_prefix, .worker_cores = config_.baas->cores, .secondary = true});
    if (!eal) return tl::unexpected(eal.error());
    eal_.emplace(std::move(*eal));
  }
  log::run_beside_caller();
  auto shared = baas::find_shared_memory();
  if (!shared) return tl::unexpected(shared.error());
  shared_ = *shared;
  if (shared_->cores != config_.baas->cores.size())
    return fail("baas.cores: {} are here, and the gNB was started with {}; allowed: the gNB's configuration",
                config_.baas->cores.size(), shared_->cores);
  for (const Json& number : attached.at("wakeups")) wakeups_.push_back(gnb_.take_descriptor(number.get<int>()));
  const bool can_wake_workers = std::ranges::all_of(wakeups_, [](const Fd& one) { return one.get() >= 0; });
  Json wakeups = Json::array();
  for (std::size_t core = 0; core < config_.baas->cores.size(); ++core) {
    if (auto made = make_loop(core); !made) return made;
    wakeups.push_back(loops_.back()->power.wakeup().fd());
  }
  gnb.wait_no_longer_than(kPatienceWithWorkers);
  const auto begun = gnb.call(
      "baas.begin", {{"process", ::getpid()}, {"wakeups", std::move(wakeups)}, {"can_wake", can_wake_workers}});
  begin_refused_ = !begun;
  if (!begun) return tl::unexpected(begun.error());
  if (!begun->at("can_wake").get<bool>()) {
    log::warn("the gNB may not wake this process (pidfd_getfd): its loops look for messages each {} ms",
              baas::kBlindSleepMs);
    for (const auto& loop : loops_) loop->buffering->nobody_wakes();
  }
  return launch();
}

Expected<void> BufferingService::make_loop(std::size_t core) {
  auto& loop = *loops_.emplace_back(std::make_unique<Loop>());
  loop.name = fmt::format("baas{}", core);
  loop.core = config_.baas->cores[core];
  loop.lcore = datapath::Eal::kSecondaryLcore + 1 + static_cast<unsigned>(core);
  loop.policy = config_.baas->policy;
  baas::Buffering::Settings settings{.max_copies = 0, .ticks_per_ms = rte_get_tsc_hz() / 1000, .now = rte_rdtsc()};
  for (std::size_t worker = 0; worker < shared_->workers; ++worker) {
    auto channel = baas::find_channel(worker, core);
    if (!channel) return tl::unexpected(channel.error());
    settings.channels.push_back(*channel);
    settings.max_copies += shared_->max_copies[worker];
  }
  loop.buffering = std::make_unique<baas::Buffering>(settings, loop.stats);
  loop.buffering->wake = [this](std::size_t worker) {
    if (worker < wakeups_.size() && wakeups_[worker].get() >= 0) shared_->worker[worker].wake(wakeups_[worker].get());
  };
  loop.power.wakeup().announce_at(shared_->service[core]);
  return {};
}

Expected<void> BufferingService::launch() {
  for (const auto& loop : loops_) {
    power_of(*loop).start();
    const auto run = [&own = *loop] { baas::run_loop(*own.buffering, own.power, own.mailbox, own.stats, own.stop); };
    if (!loop->thread.start(loop->lcore, loop->name, config_.baas->schedule, run))
      return fail("{}: its thread could not be started on core {}", loop->name, loop->core);
  }
  for (const auto& loop : loops_) power_of(*loop).say_what_cannot_wake();
  return {};
}

BufferingService::~BufferingService() {
  stop();
}

void BufferingService::stop() {
  const std::lock_guard guard(mutex_);
  for (const auto& loop : loops_) {
    loop->stop.store(true, std::memory_order_relaxed);
    loop->power.wakeup().wake();
  }
  for (const auto& loop : loops_) {
    if (loop->thread.running) loop->thread.join();
  }
}

void BufferingService::abandon() {
  std::this_thread::sleep_for(kBeforeAnew);
  re_execute(control_path(baas_instance(config_)));
  std::_Exit(1);
}

LoopPower BufferingService::power_of(Loop& loop) const {
  return {.name = loop.name,
          .core = loop.core,
          .sysfs_root = config_.sysfs_root,
          .settings = loop.policy,
          .governor = loop.governor,
          .governor_kind = config_.power ? config_.power->governor : governor::Kind::cpufreq,
          .power = loop.power,
          .stats = loop.stats,
          .execute = [&loop](const std::function<void()>& command) { return loop.execute(command); }};
}

WorkerObservation BufferingService::observe(const Loop& loop) {
  return {.name = loop.name,
          .core = loop.core,
          .consumes_copies = true,
          .counters = take_snapshot(loop.stats),
          .policy = loop.policy.kind};
}

Observation BufferingService::observe() {
  const std::lock_guard guard(mutex_);
  Observation all{.file_prefix = baas_instance(config_), .tsc_hz = rte_get_tsc_hz()};
  all.log = log::unwritten();
  for (const auto& loop : loops_) {
    all.workers.push_back(observe(*loop));
    all.buffering.push_back({.name = loop->name,
                             .held = loop->stats.rlc_unacked.get(),
                             .counters = take_snapshot(loop->buffering->counters())});
  }
  return all;
}

Json BufferingService::row(Loop& loop) {
  Json row;
  const auto look = [&] {
    WorkerObservation seen = observe(loop);
    seen.cpu_cycles = loop.thread.cpu_cycles();
    row = to_json(seen);
    // The windows are walked by a loop that has ended only: it would make the packets of others wait.
    const baas::Buffering& b = *loop.buffering;
    row["balanced"] = b.balanced() && (loop.thread.running || b.held() == b.held_in_windows());
    row["baas"] = {{"held", b.held()}};
#define SPLITPLANE_SHOW(field, unit, help) row["baas"][#field] = b.counters().field.get();
    SPLITPLANE_BUFFERING_COUNTERS(SPLITPLANE_SHOW)
#undef SPLITPLANE_SHOW
  };
  if (!loop.execute(look)) return {{"name", loop.name}, {"core", loop.core}, {"silent", true}};
  return row;
}

Expected<Json> BufferingService::stats() {
  const std::lock_guard guard(mutex_);
  Json workers = Json::array();
  // SDUs, not messages: those that workers told of, and what became of them.
  std::uint64_t received = 0, consumed = 0, held = 0;
  bool balanced = true;
  for (const auto& loop : loops_) {
    workers.push_back(row(*loop));
    if (!workers.back().contains("received")) return fail("{} makes no rounds", loop->name);
    const Json& sdus = workers.back().at("baas");
    const auto number = [&sdus](const char* name) { return sdus.at(name).get<std::uint64_t>(); };
    received += number("copies") + number("without_copy");
    consumed += number("released") + number("withdrawn");
    held += number("held");
    balanced = balanced && workers.back().at("balanced").get<bool>();
  }
  return Json{{"ports", Json::array()},
              {"workers", std::move(workers)},
              {"gnb", gnb_process_},
              {"bearers", 0},
              {"tsc_hz", rte_get_tsc_hz()},
              {"totals",
               {{"received", received},
                {"transmitted", 0},
                {"dropped", 0},
                {"consumed", consumed},
                {"held", held},
                {"balanced", balanced}}}};
}

Expected<Json> BufferingService::show_power() {
  const std::lock_guard guard(mutex_);
  Json rows = Json::array();
  for (const auto& loop : loops_) {
    auto view = power_of(*loop).show();
    if (!view) return view;
    rows.push_back(*std::move(view));
  }
  return rows;
}

Expected<Json> BufferingService::set_power(const std::string& worker, const power::Settings& settings) {
  const std::lock_guard guard(mutex_);
  std::vector<std::string_view> names;
  for (const auto& loop : loops_) {
    if (loop->name == worker) return power_of(*loop).set(settings);
    names.emplace_back(loop->name);
  }
  return fail("worker: there is no '{}'; allowed: {}", printable(worker), comma_list(names));
}

}  // namespace splitplane::app
