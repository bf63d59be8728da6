#include "bypass/wire_run.h"

#include <atomic>
#include <thread>

#include "bypass/cpu_drivers.h"
#include "gpu/launch.h"
#include "gpu/watchdog.h"

namespace splitplane::bypass {
namespace {

constexpr std::chrono::milliseconds kLook{20};
constexpr std::uint64_t kQuietNs = 1'000'000'000;  // nothing left for so long: nothing will

class Gate final : public nicmodel::Wire {
 public:
  explicit Gate(nicmodel::Wire& wire) : wire_(wire) {}
  [[nodiscard]] std::uint32_t arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override {
    return closed_.load(std::memory_order_relaxed) ? 0 : wire_.arrive(frames, max, now_ns);
  }
  [[nodiscard]] std::uint32_t leave(const nicmodel::WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override {
    return wire_.leave(frames, n, now_ns);
  }
  void close() { closed_.store(true, std::memory_order_relaxed); }

 private:
  nicmodel::Wire& wire_;
  std::atomic<bool> closed_{false};
};

Live look(Bed& bed, Driver& driver, std::uint64_t begin_ns) {
  const nicmodel::NicCounters& c = bed.model().counters();
  return {.seconds = static_cast<double>(gpu::steady_ns() - begin_ns) * 1e-9,
          .sent = c.arrived.get(),
          .received = c.left.get(),
          .lost_at_nic = bed.lost_at_nic(),
          .dropped = driver.dropped(),
          .doorbells = driver.doorbells()};
}

// Nothing arrives any more: until every frame has left or is counted as lost.
void wait_until_out(Bed& bed, Driver& driver) {
  const nicmodel::NicCounters& c = bed.model().counters();
  std::uint64_t left = c.left.get(), since = gpu::steady_ns();
  const auto all_out = [&] { return c.arrived.get() == c.left.get() + driver.dropped() + bed.lost_at_nic(); };
  while (!all_out() && gpu::steady_ns() - since < kQuietNs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (const std::uint64_t now = c.left.get(); now != left) {
      left = now;
      since = gpu::steady_ns();
    }
  }
}

}  // namespace

Expected<WireRunResult> run_on_wire(const Scenario& scenario, nicmodel::Wire& wire, const Observer& observer) {
  if (auto good = check(scenario); !good) return tl::unexpected(good.error());
  Gate gate(wire);
  gpu::HostMemory provider({.hugepages = false});
  const auto memory = allocate(provider, scenario);
  if (!memory) return tl::unexpected(memory.error());
  auto made = Bed::make(scenario, *memory, gate);
  if (!made) return tl::unexpected(made.error());
  Bed& bed = **made;
  GnbBearers bearers(scenario);
  const auto driver = make_cpu_driver(scenario, bed, bearers);
  driver->start();
  if (auto open = bed.open(); !open) return tl::unexpected(open.error());

  WireRunResult result;
  gpu::Watchdog watchdog(bed.view(), scenario.rings, kWatchdogNs);
  const std::uint64_t begin = gpu::steady_ns();
  bed.model().start();
  while (observer(look(bed, *driver, begin))) {
    std::this_thread::sleep_for(kLook);
    for (const gpu::Finding& finding : watchdog.look(gpu::steady_ns())) {
      note(result.findings, finding.sentence());
    }
  }
  result.seconds = static_cast<double>(gpu::steady_ns() - begin) * 1e-9;
  gate.close();
  wait_until_out(bed, *driver);
  const auto stopped = driver->stop();
  if (!stopped) note(result.findings, stopped.error().message);
  bed.model().stop();

  const nicmodel::NicCounters& c = bed.model().counters();
  result.arrived = c.arrived.get();
  result.delivered = c.delivered.get();
  result.sent = c.left.get();
  result.dropped = driver->dropped();
  result.doorbells = driver->doorbells();
  result.driver_packets = driver->packets();
  for (std::size_t i = 0; i < nicmodel::kNicDropCount; ++i) {
    if (c.dropped[i].get() != 0) result.lost_at_nic.emplace_back(nicmodel::kNicDropNames[i], c.dropped[i].get());
  }
  for (std::size_t v = 1; v < gpu::kVerdictCount; ++v) {
    const std::uint64_t n = bed.sums().dropped_as(v);
    if (n != 0) result.verdicts.emplace_back(gpu::kVerdictNames[v], n);
  }
  result.slots_sound = stopped && driver->slots_are_sound();  // engines that run on cannot be counted
  if (auto closed = bed.close(); !closed) note(result.findings, closed.error().message);
  return result;
}

}  // namespace splitplane::bypass
