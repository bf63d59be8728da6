// The driver on a device: two persistent kernels, one block of one warp for each ring in each. They are the same engines
// as on CPU threads (ring_engine.h); what is the device's own is the clock, the rest between looks, and a time limit after
// which a kernel stops all engines by itself, so that a host that died leaves no kernel behind. It is looked at between
// two steps: a function that never returns does hang the GPU, until its process is ended.
#pragma once

#include <cuda_runtime.h>

#include "gpu/aes128.h"
#include "gpu/cuda/device.h"
#include "gpu/ring_engine.h"

namespace splitplane::gpu {

[[nodiscard]] __device__ inline std::uint64_t globaltimer_ns() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Reads the device's clock, and sets the stop flag of all engines once the limit has passed.
class DeviceClock {
 public:
  __device__ DeviceClock(std::uint32_t* stop, std::uint64_t limit_ns)
      : stop_(stop), limit_ns_(limit_ns), begin_(globaltimer_ns()) {}
  __device__ std::uint64_t operator()() const {
    const std::uint64_t now = globaltimer_ns();
    if (now - begin_ >= limit_ns_) store_relaxed(stop_, 1U);
    return now;
  }

 private:
  std::uint32_t* stop_;
  std::uint64_t limit_ns_, begin_;
};

struct DeviceRest {
  __device__ void operator()() const { __nanosleep(32); }
};

// A function that ciphers takes its table from shared memory, which all lanes of the block fill.
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
__global__ void receiver_kernel(const Ring* rings, const Function* functions, std::uint32_t* stop,
                                std::uint64_t limit_ns) {
  __shared__ AesTable table;
  Function function = functions[blockIdx.x];
  use_shared_table(function, table);
  RxEngine<WarpLane, Function> engine(rings[blockIdx.x], function);
  run_receiver(WarpLane::mine(), engine, DeviceClock(stop, limit_ns), DeviceRest{});
}

static __global__ void sender_kernel(const Ring* rings, std::uint32_t* stop, std::uint64_t limit_ns,
                                     std::uint64_t drain_within_ns) {
  TxEngine<WarpLane> engine(rings[blockIdx.x]);
  run_sender(WarpLane::mine(), engine, drain_within_ns, DeviceClock(stop, limit_ns), DeviceRest{});
}

}  // namespace splitplane::gpu
