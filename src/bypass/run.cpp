#include "bypass/run.h"

#include <chrono>
#include <thread>

#include "bypass/bed.h"
#include "bypass/bench_wire.h"
#include "bypass/cpu_drivers.h"
#include "bypass/nic_thread.h"
#include "gpu/nic/host_memory.h"
#include "gpu/rings/launch.h"
#include "gpu/rings/watchdog.h"

namespace splitplane::bypass {
namespace {

constexpr std::chrono::milliseconds kLook{20};

Live look(const BenchWire& wire, const NicThread& nic, Bed& bed, Driver& driver, std::uint64_t begin_ns) {
  const nicmodel::PeerCounters& c = (nic.is_measuring() ? wire.measured() : wire.warm_up()).counters();
  return {.seconds = static_cast<double>(gpu::steady_ns() - begin_ns) * 1e-9,
          .sent = c.sent.get(),
          .received = c.returned.get(),
          .lost_at_nic = bed.lost_at_nic(),
          .dropped = driver.dropped(),
          .doorbells = driver.doorbells(),
          .warming_up = !nic.is_measuring()};
}

}  // namespace

Expected<Result> run_with(const Scenario& scenario, BenchWire& wire, Bed& bed, Driver& driver,
                          const Observer& observer) {
  driver.start();
  if (auto open = bed.open(); !open) return tl::unexpected(open.error());
  NicThread nic(scenario, [&](std::uint64_t now) { return bed.model().step(nicmodel::Nic82599Model::kBatch, now); },
                wire,
                {.lost = [&] { return driver.dropped() + bed.lost_at_nic(); },
                 .cpu_seconds = [&] { return driver.cpu_seconds(); },
                 .doorbells = [&] { return driver.doorbells(); },
                 .packets = [&] { return driver.packets(); }});
  gpu::Watchdog watchdog(bed.view(), scenario.rings, kWatchdogNs);
  Result result{.scenario = scenario};
  const std::uint64_t begin = gpu::steady_ns();
  nic.start();
  while (!nic.is_done()) {
    std::this_thread::sleep_for(kLook);
    if (driver.has_failed() || (observer && !observer(look(wire, nic, bed, driver, begin)))) nic.cancel();
    if (!has_engines(scenario.mode)) continue;
    for (const gpu::Finding& finding : watchdog.look(gpu::steady_ns(), bed.no_descriptor())) {
      note(result.findings, finding.sentence());
    }
  }
  nic.join();
  const auto stopped = driver.stop();
  if (!nic.failure().empty()) return fail("{}", nic.failure());
  if (const std::string why = driver.failure(); !why.empty()) return fail("{}", why);
  if (!stopped) note(result.findings, stopped.error().message);
  nic.fill(result);
  result.lost_at_nic = bed.lost_at_nic();
  result.dropped = driver.dropped();
  result.restored_late = driver.restored().late;
  result.restored_without = driver.restored().given_up;
  result.slots_sound = stopped && driver.slots_are_sound();  // engines that still run cannot be counted
  result.driver_faults = bed.model().faults().total();
  if (auto closed = bed.close(); !closed) note(result.findings, closed.error().message);
  return result;
}

Expected<Result> run_on_cpu(const Scenario& scenario, const Observer& observer) {
  if (auto good = check(scenario); !good) return tl::unexpected(good.error());
  BenchWire wire(scenario);
  gpu::HostMemory provider({.hugepages = false});  // DPDK needs the few hugepages of this machine
  const auto memory = allocate(provider, scenario);
  if (!memory) return tl::unexpected(memory.error());
  auto bed = Bed::make(scenario, *memory, wire, BenchWire::filters(scenario));
  if (!bed) return tl::unexpected(bed.error());
  GnbBearers bearers(scenario);
  const auto driver = make_cpu_driver(scenario, (*bed)->nic(), bearers);
  return run_with(scenario, wire, **bed, *driver, observer);
}

}  // namespace splitplane::bypass
