// A run of the mode gpu_e3: engines and processor_nic_kernel on the device, the wire on a CPU thread.
#pragma once

#include <thread>

#include "bypass/bed.h"
#include "bypass/nic_steering.h"
#include "bypass/nic_thread.h"
#include "gpu/cuda/pinned_memory.h"
#include "gpu/cuda/processor_nic.cuh"
#include "gpu/launch.h"

namespace splitplane::gpu {

[[nodiscard]] inline Expected<bypass::Result> run_with_processors(const bypass::Scenario& s,
                                                                  const bypass::Observer& observer) {
  auto steering = bypass::steering_of(s, bypass::BenchWire::filters(s));
  if (!steering) return tl::unexpected(steering.error());
  PinnedMemory pinned;
  DeviceMemory device;
  const RingMemoryNeeds need = needs(s.ring, s.rings);
  auto dma = device.allocate(need.dma), local = device.allocate(need.local);
  auto tails = device.allocate(std::size_t{128} * s.rings), shared = pinned.allocate(need.shared);
  for (const auto* piece : {&dma, &local, &tails, &shared}) {
    if (!*piece) return tl::unexpected(piece->error());
  }
  std::vector<Doorbells> doorbells(s.rings);
  for (std::uint32_t i = 0; i < s.rings; ++i) {
    auto* const line = reinterpret_cast<std::uint32_t*>(tails->engine + std::size_t{128} * i);
    doorbells[i] = {.rdt = line, .tdt = line + 16};
  }
  const std::vector<Ring> rings = lay_out(s.ring, *dma, *local, *shared, doorbells);
  const auto limit_ns = static_cast<std::uint64_t>((s.warm_up_seconds + s.seconds + 10) * 1e9);
  Persistent driver(s, rings, shared_view(shared->host, s.rings), limit_ns);
  if (auto room = driver.check_room(ProcessorNic::blocks(s.rings)); !room) return tl::unexpected(room.error());
  bypass::BenchWire wire(s);
  ProcessorNic nic(rings, *std::move(steering), wire, limit_ns);  // before anything runs: it allocates
  driver.start();
  nic.start();
  bypass::NicThread thread(s, [&](std::uint64_t now) { return nic.step(now); }, wire,
                           {.lost = [&] { return driver.dropped() + nic.lost(); },
                            .cpu_seconds = [&] { return driver.cpu_seconds(); },
                            .doorbells = [&] { return driver.doorbells(); },
                            .packets = [&] { return driver.packets(); }});
  const std::uint64_t begin = steady_ns();
  thread.start();
  while (!thread.is_done()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto& c = (thread.is_measuring() ? wire.measured() : wire.warm_up()).counters();
    const bypass::Live live{.seconds = static_cast<double>(steady_ns() - begin) * 1e-9,
                            .sent = c.sent.get(),
                            .received = c.returned.get(),
                            .lost_at_nic = nic.lost(),
                            .dropped = driver.dropped(),
                            .doorbells = driver.doorbells(),
                            .warming_up = !thread.is_measuring()};
    if (observer && !observer(live)) thread.cancel();
  }
  thread.join();
  bypass::Result result{.scenario = s};
  const auto stopped = driver.stop();  // its senders wait for the NIC, which runs on until they are done
  const auto nic_stopped = nic.stop();
  if (!thread.failure().empty()) return fail("{}", thread.failure());
  if (!stopped) bypass::note(result.findings, stopped.error().message);
  if (!nic_stopped) bypass::note(result.findings, nic_stopped.error().message);
  thread.fill(result);
  result.lost_at_nic = nic.lost();
  result.dropped = driver.dropped();
  result.slots_sound = stopped && driver.slots_are_sound();
  return result;
}

}  // namespace splitplane::gpu
