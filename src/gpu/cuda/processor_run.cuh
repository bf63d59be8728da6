// A run of the mode gpu_e3: engines and processor_nic_kernel on the device, the wire on a CPU thread.
#pragma once

#include "bypass/nic_steering.h"
#include "gpu/cuda/processor_nic.cuh"
#include "gpu/cuda/run_on_device.cuh"

namespace splitplane::gpu {

[[nodiscard]] inline Expected<bypass::Result> run_with_processors(const bypass::Scenario& s,
                                                                  const bypass::Observer& observer) {
  auto steering = bypass::steering_of(s, bypass::BenchWire::filters(s));
  if (!steering) return tl::unexpected(steering.error());
  const RingsOnDevice memory(s, RingsOnDevice::Tails::kOnDevice);
  Persistent driver(s, memory.rings(), memory.view(), limit_of(s));
  if (auto room = driver.check_room(ProcessorNic::blocks(s.rings)); !room) return tl::unexpected(room.error());
  bypass::BenchWire wire(s);
  ProcessorNic nic(memory.rings(), *std::move(steering), wire, limit_of(s));
  return run_beside(s, wire, driver, nic, observer);
}

}  // namespace splitplane::gpu
