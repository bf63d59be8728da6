// The driver on a device: two persistent kernels, each with one block of one warp for each ring. A third kernel of one
// warp, the housekeeper, connects them to the host. The engines are the same as on CPU threads (ring_engine.h). Only
// the clock, the pause between looks, and the housekeeper belong to the device. The housekeeper also ends all engines
// after a time limit, so a host that died leaves no kernel behind. The flag is read between two steps: a function that
// never returns hangs the GPU until its process ends.
#pragma once

#include <cuda_runtime.h>

#include "crypto/device/aes128.h"
#include "gpu/cuda/device.h"
#include "gpu/rings/housekeeper.h"
#include "gpu/rings/ring_engine.h"

namespace splitplane::gpu {

[[nodiscard]] __device__ inline std::uint64_t globaltimer_ns() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

struct DeviceClock {
  __device__ std::uint64_t operator()() const { return globaltimer_ns(); }
};

struct DeviceRest {
  __device__ void operator()() const { __nanosleep(32); }
};

// A function that ciphers gets its table in shared memory, which all lanes of the block fill.
template <class Function>
__device__ void use_shared_table(Function& function, AesTable& shared) {
  if constexpr (requires { function.table; }) {
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) shared.column[i] = function.table->column[i];
    __syncwarp();
    function.table = &shared;
  }
}

static __global__ void prepare_kernel(const Ring* rings) {
  prepare_ring(WarpLane::mine(), rings[blockIdx.x]);
}

template <class Function>
__global__ void receiver_kernel(const Ring* rings, const Function* functions) {
  __shared__ AesTable table;
  Function function = functions[blockIdx.x];
  use_shared_table(function, table);
  RxEngine<WarpLane, Function> engine(rings[blockIdx.x], function);
  run_receiver(WarpLane::mine(), engine, DeviceClock{}, DeviceRest{});
}

static __global__ void sender_kernel(const Ring* rings, std::uint64_t drain_within_ns) {
  TxEngine<WarpLane> engine(rings[blockIdx.x]);
  run_sender(WarpLane::mine(), engine, drain_within_ns, DeviceClock{}, DeviceRest{});
}

// Runs as one block of one warp.
static __global__ void housekeeper_kernel(SharedView engines, SharedView host, HousekeeperSettings settings) {
  const WarpLane lane = WarpLane::mine();
  Housekeeper keeper(engines, host, settings);
  while (keeper.step(lane, lane.shfl(globaltimer_ns(), 0))) __nanosleep(1000);
}

}  // namespace splitplane::gpu
