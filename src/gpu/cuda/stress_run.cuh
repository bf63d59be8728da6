// A run of the mode gpu_e4: engines and stress_nic_kernel on the device, watched by the host.
#pragma once

#include <thread>

#include "gpu/cuda/run_on_device.cuh"
#include "gpu/cuda/stress_nic.cuh"

namespace splitplane::gpu {

struct StressSums {
  std::uint64_t arrived = 0, left = 0, octets = 0, wrong = 0;
};

[[nodiscard]] inline StressSums add_up(const StressCounters* counters, std::uint32_t rings) {
  StressSums s;
  for (std::uint32_t i = 0; i < rings; ++i) {
    s.arrived += load_relaxed(&counters[i].arrived);
    s.left += load_relaxed(&counters[i].left);
    s.octets += load_relaxed(&counters[i].octets);
    s.wrong += load_relaxed(&counters[i].wrong);
  }
  return s;
}

[[nodiscard]] inline Expected<bypass::Result> run_stress(const bypass::Scenario& scenario) {
  const RingsOnDevice memory(scenario, RingsOnDevice::Tails::kOnDevice);
  const std::vector<Ring>& rings = memory.rings();
  const std::uint64_t limit_ns = limit_of(scenario);
  Persistent engines(scenario, rings, memory.view(), limit_ns);
  if (auto room = engines.check_room(scenario.rings); !room) return tl::unexpected(room.error());

  auto device_rings = device_array<Ring>(rings.size());
  must(cudaMemcpy(device_rings.get(), rings.data(), rings.size() * sizeof(Ring), cudaMemcpyHostToDevice), "rings");
  auto flags = mapped_array<StressFlags>(1);
  auto counters = mapped_array<StressCounters>(scenario.rings);
  const StressSettings settings{.frame_octets = scenario.frame_bytes - 4,
                                .window = std::max(1U, scenario.window / scenario.rings),
                                .limit_ns = limit_ns};
  engines.start();
  Stream stream;
  stress_nic_kernel<<<scenario.rings, 32, 0, stream>>>(device_rings.get(), flags.get(), settings, counters.get());
  must(cudaGetLastError(), "stress_nic_kernel");

  const auto sleep = [](double s) { std::this_thread::sleep_for(std::chrono::duration<double>(s)); };
  sleep(scenario.warm_up_seconds);
  const std::uint64_t from = steady_ns(), doorbells_from = engines.doorbells(), packets_from = engines.packets();
  const double cpu_from = engines.cpu_seconds();
  const StressSums first = add_up(counters.get(), scenario.rings);
  sleep(scenario.seconds);
  const StressSums last = add_up(counters.get(), scenario.rings);
  bypass::Result result{.scenario = scenario};
  result.seconds = static_cast<double>(steady_ns() - from) * 1e-9;
  result.measured = last.left - first.left;
  result.measured_octets = last.octets - first.octets + 4 * result.measured;
  result.doorbells = engines.doorbells() - doorbells_from;
  result.driver_packets = engines.packets() - packets_from;
  result.host_cpu_seconds = engines.cpu_seconds() - cpu_from;
  store_release(&flags[0].pause, 1U);
  sleep(0.05);
  const auto stopped = engines.stop();
  if (!stopped) bypass::note(result.findings, stopped.error().message);
  store_release(&flags[0].stop, 1U);
  must(cudaStreamSynchronize(stream), "stress_nic_kernel");
  const StressSums all = add_up(counters.get(), scenario.rings);
  result.sent = all.arrived;
  result.received = all.left;
  result.lost = all.arrived - all.left;
  result.missing = static_cast<std::int64_t>(result.lost);  // this NIC loses no frame: it waits for descriptors
  result.corrupt = all.wrong;
  result.dropped = engines.dropped();
  result.slots_sound = stopped && engines.slots_are_sound();
  return result;
}

}  // namespace splitplane::gpu
