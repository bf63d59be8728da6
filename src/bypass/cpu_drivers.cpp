#include "bypass/cpu_drivers.h"

#include <atomic>
#include <bit>
#include <thread>

#include "base/idle_rounds.h"
#include "bypass/plain_thread.h"
#include "gpu/rings/launch.h"
#include "gpu/rings/pdcp_nea2.h"

namespace splitplane::bypass {
namespace {

constexpr std::chrono::milliseconds kStopWithin{5000};
constexpr gpu::RestoreSettings kRestore{.window = 8192};

// The ring engines on CPU threads.
template <class Function>
class EngineDriver final : public Driver {
 public:
  EngineDriver(const Scenario& scenario, DrivenNic& nic, const std::vector<Function>& functions)
      : nic_(nic),
        set_(nic.rings(), functions, nic.view().stop,
             scenario.restore_order ? std::optional(kRestore) : std::optional<gpu::RestoreSettings>()),
        threads_(scenario.thread_per_engine),
        restores_(scenario.restore_order) {}
  ~EngineDriver() override { static_cast<void>(stop()); }

  void start() override {
    if (threads_) return set_.start();
    set_.step(gpu::steady_ns());  // the NIC gets its descriptors before a frame arrives
    thread_ = std::thread([this] {
      IdleRounds idle;
      while (!stop_.load(std::memory_order_relaxed)) idle.note(set_.step(gpu::steady_ns()) != 0);
      const std::uint64_t deadline = gpu::steady_ns() + 1'000'000'000;
      while (!set_.is_idle() && gpu::steady_ns() < deadline) set_.step(gpu::steady_ns());
      for (std::uint32_t i = 0; i < gpu::kQuietSteps; ++i) set_.step(gpu::steady_ns());  // publishes the counters
    });
  }
  Expected<void> stop() override {
    if (threads_) return set_.stop(kStopWithin);
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
    return {};
  }
  std::uint64_t dropped() override { return nic_.sums().dropped(); }
  std::uint64_t doorbells() override { return nic_.sums().doorbells(); }
  std::uint64_t packets() override { return nic_.sums().packets(); }
  Restored restored() override {
    return restores_ ? Restored{set_.window().late(), set_.window().given_up()} : Restored{};
  }
  bool slots_are_sound() override {
    for (std::size_t i = 0; i < set_.rings(); ++i) {
      if (!set_.census(i).is_sound()) return false;
    }
    return true;
  }

 private:
  DrivenNic& nic_;
  gpu::RingSet<Function> set_;
  bool threads_, restores_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

template <class Function>
std::unique_ptr<Driver> with(const Scenario& scenario, DrivenNic& nic, const std::vector<Function>& functions) {
  if (scenario.mode == Mode::bypass) return std::make_unique<EngineDriver<Function>>(scenario, nic, functions);
  if (scenario.mode == Mode::plain) {
    return std::make_unique<PlainThread<InPlace<Function>>>(
        nic.rings(), gpu::kBatch, 0, [&](std::size_t ring) { return InPlace<Function>{functions[ring]}; });
  }
  return std::make_unique<PlainThread<Staged<Function>>>(
      nic.rings(), scenario.staging_batch, kStagedWithinNs, [&](std::size_t ring) {
        return Staged<Function>(functions[ring], scenario.staging_batch, scenario.ring.slot_bytes);
      });
}

}  // namespace

GnbBearers::GnbBearers(const Scenario& s) : bearers_(std::bit_ceil(flows_of(s) + 1)), keys_(bench_keys(s)) {
  for (std::uint32_t id = 1; id <= flows_of(s); ++id) bearers_[id].id = id;
}

gpu::GnbHeaders gnb_headers(gpu::GnbBearer* bearers, std::uint32_t capacity) {
  gpu::AirHeader air{{0x02, 0, 0, 0, 0, 3, 0x02, 0x82, 0x59, 0x90, 0, 1, 0x88, 0xb5}};
  return {bearers, capacity, capacity - 1, air, 1514};
}

std::unique_ptr<Driver> make_cpu_driver(const Scenario& s, DrivenNic& nic, GnbBearers& bearers) {
  if (s.function == FunctionKind::echo) return with(s, nic, std::vector<gpu::Echo>(s.rings));
  if (s.function == FunctionKind::macswap) return with(s, nic, std::vector<gpu::MacSwap>(s.rings));
  const gpu::GnbHeaders headers = gnb_headers(bearers.lines().data(), bearers.capacity());
  if (s.function == FunctionKind::gnb_headers) return with(s, nic, std::vector(s.rings, headers));
  return with(s, nic, std::vector(s.rings, gpu::PdcpNea2(headers, &gpu::kAesTable, bearers.keys().data())));
}

}  // namespace splitplane::bypass
