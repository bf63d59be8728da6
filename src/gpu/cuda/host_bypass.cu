// Runs scenarios on the GPU for `splitplane gpu bench`. With --serve it reads one line of JSON and writes one. Without
// it, it makes a short check of each mode and of the export of memory. Exit code: 0, 1 (something is wrong), or 77 (no
// GPU, with the reason). It has not run on a GPU so far.
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>

#include "bypass/bed.h"
#include "bypass/live_lines.h"
#include "bypass/nic_steering.h"
#include "bypass/plain_thread.h"
#include "bypass/result_json.h"
#include "bypass/run.h"
#include "gpu/cuda/card_memory.h"
#include "gpu/cuda/copy_engine_nic.h"
#include "gpu/cuda/export_check.h"
#include "gpu/cuda/processor_run.cuh"
#include "gpu/cuda/staging_worker.cuh"
#include "gpu/cuda/stress_run.cuh"

namespace splitplane::gpu {
namespace {

using bypass::Bed;
using bypass::BenchWire;
using bypass::Json;
using bypass::Mode;
using bypass::NicMemory;
using bypass::Result;
using bypass::Scenario;

// E2, and the rings of staging: the NIC model on a CPU thread, with all its memory in host memory.
Expected<Result> run_on_model(const Scenario& s, const bypass::Observer& observer) {
  PinnedMemory pinned;
  DeviceMemory device;
  BenchWire wire(s);
  NicMemory memory;
  std::unique_ptr<Bed> bed_owner;  // has the registers, which are unmapped from the device before it is destroyed
  MappedRegisters registers(false);
  const bool staging = s.mode == Mode::gpu_staging;
  const RingMemoryNeeds need = needs(s.ring, s.rings);
  auto dma = pinned.allocate(need.dma), shared = pinned.allocate(need.shared);
  auto local = staging ? pinned.allocate(need.local) : device.allocate(need.local);
  for (const auto* piece : {&dma, &local, &shared}) {
    if (!*piece) return tl::unexpected(piece->error());
  }
  memory = {*dma, *local, *shared};
  if (staging) {  // its engines are CPU code
    memory.dma.engine = memory.dma.host;
    memory.local.engine = memory.local.host;
    memory.shared.engine = memory.shared.host;
  }
  auto made = Bed::make(s, memory, wire, BenchWire::filters(s),
                        [&](std::uint32_t* p) { return staging ? p : registers(p); });
  if (!made) return tl::unexpected(made.error());
  bed_owner = *std::move(made);
  Bed& bed = *bed_owner;
  if (!staging) {
    Persistent driver(s, bed.rings(), bed.view(), limit_of(s));
    if (auto room = driver.check_room(0); !room) return tl::unexpected(room.error());
    return bypass::run_with(s, wire, bed, driver, observer);
  }
  const GpuFunctions functions(s);
  Expected<Result> result = fail("no function");
  functions.with([&](auto* first) {
    using Worker = StagedOnGpu<std::remove_pointer_t<decltype(first)>>;
    bypass::PlainThread<Worker> driver(bed.rings(), s.staging_batch, bypass::kStagedWithinNs, [&](std::size_t ring) {
      return Worker(first + ring, s.staging_batch, s.ring.slot_bytes);
    });
    result = bypass::run_with(s, wire, bed, driver, observer);
  });
  return result;
}

// E1: rings and slots in the device's memory, and the NIC made of copies.
Expected<Result> run_with_copy_engine(const Scenario& s, const bypass::Observer& observer) {
  auto steering = bypass::steering_of(s, BenchWire::filters(s));
  if (!steering) return tl::unexpected(steering.error());
  const RingsOnDevice memory(s, RingsOnDevice::Tails::kOnHost);
  Persistent driver(s, memory.rings(), memory.view(), limit_of(s));
  if (auto room = driver.check_room(0); !room) return tl::unexpected(room.error());
  BenchWire wire(s);
  CopyEngineNic nic(memory.rings(), memory.host_tails(), *std::move(steering), wire);
  return run_beside(s, wire, driver, nic, observer);
}

Expected<Result> run(const Scenario& s, const bypass::Observer& observer = {}) {
  if (auto good = bypass::check(s); !good) return tl::unexpected(good.error());
  try {
    switch (s.mode) {
      case Mode::gpu_e1:
        return run_with_copy_engine(s, observer);
      case Mode::gpu_e3:
        return run_with_processors(s, observer);
      case Mode::gpu_e4:
        return run_stress(s);
      case Mode::gpu_e2:
      case Mode::gpu_staging:
        return run_on_model(s, observer);
      case Mode::bypass:
      case Mode::plain:
      case Mode::staging:
        break;
    }
  } catch (const std::runtime_error& error) {
    return fail("{}", error.what());
  }
  return fail("mode {} is not for a GPU", name_of(s.mode));
}

Json device() {
  cudaDeviceProp properties{};
  int driver = 0, ordering = 0, time_limit = 0;
  must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  must(cudaDeviceGetAttribute(&ordering, cudaDevAttrGPUDirectRDMAWritesOrdering, 0), "write ordering");
  must(cudaDeviceGetAttribute(&time_limit, cudaDevAttrKernelExecTimeout, 0), "kernel time limit");
  // In lower case, as in sysfs.
  char pci[32] = {};
  must(cudaDeviceGetPCIBusId(pci, sizeof pci, 0), "cudaDeviceGetPCIBusId");
  for (char& c : pci) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return {{"gpu", properties.name},
          {"pci", std::string(pci)},
          {"sm", properties.major * 10 + properties.minor},
          {"processors", properties.multiProcessorCount},
          {"driver_cuda", driver},
          {"rdma_writes_ordering", ordering},
          {"dma_buf", driver_attribute(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) != 0},
          {"kernel_time_limit", time_limit != 0}};
}

int serve() {
  std::cout << device().dump() << std::endl;
  for (std::string line; bypass::LiveLines::next_question(std::cin, line);) {
    const Json json = Json::parse(line, nullptr, false);
    const auto scenario = bypass::scenario_from(json);
    bypass::Observer observer;
    if (json.is_object() && json.value("live", false)) {
      observer = bypass::LiveLines(std::cin, STDIN_FILENO, std::cout);
    }
    const auto result = scenario ? run(*scenario, observer) : Expected<Result>(tl::unexpected(scenario.error()));
    // An error of a kernel stays with the process, so a caller that needs more runs starts another process.
    const bool ends = !result && cudaDeviceSynchronize() != cudaSuccess;
    const Json answer = result ? to_json(*result) : Json{{"error", result.error().message}, {"ends", ends}};
    std::cout << answer.dump() << std::endl;
    if (ends) return 1;
  }
  return 0;
}

int check_all() {
  std::cout << device().dump() << std::endl;
  int wrong = check_export();
  std::cout << bypass::table_head();
  for (const Mode mode : {Mode::gpu_e1, Mode::gpu_e2, Mode::gpu_e3, Mode::gpu_e4, Mode::gpu_staging}) {
    Scenario s{.mode = mode, .rings = 2, .frame_bytes = 256, .seconds = 0.5};
    const auto result = run(s);
    if (!result) {
      std::cout << name_of(mode) << ": " << result.error().message << '\n';
      ++wrong;
      continue;
    }
    std::cout << bypass::table_row(to_json(*result));
    wrong += !result->is_sound() || result->received == 0;
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace splitplane::gpu

int main(int argc, char** argv) {
  using namespace splitplane::gpu;
  // A kernel is loaded at its first launch, and loading waits for running kernels. Ours run until they are told to
  // stop.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const bool serving = argc == 2 && std::string(argv[1]) == "--serve";
  // A user's interrupt also reaches the parent, which ends a run in order. Without a parent this process ends by it.
  if (serving) std::signal(SIGINT, SIG_IGN);
  if (const auto why = why_no_gpu(); !why.empty()) {
    if (serving) std::cout << splitplane::bypass::Json{{"no_gpu", why}}.dump() << std::endl;
    if (!serving) std::cerr << "no GPU: " << why << '\n';
    return kExitNoGpu;
  }
  try {
    return serving ? serve() : check_all();
  } catch (const std::exception& error) {
    std::cerr << "host_bypass: " << error.what() << '\n';
    return 1;
  }
}
