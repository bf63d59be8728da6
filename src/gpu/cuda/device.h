// The start of every CUDA program here: if there is no GPU it says why and exits with 77 ("skipped" to ctest). Also a
// check around each call of the runtime.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

namespace splitplane::gpu {

inline constexpr int kExitNoGpu = 77;

// Empty if device 0 can be used, otherwise the reason.
[[nodiscard]] inline std::string why_no_gpu() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return devices > 0 ? "" : "the driver lists no device";
}

inline void must(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// Memory of the device, or of the host mapped into it, that is freed with its owner.
struct DeviceDelete {
  void operator()(void* p) const { cudaFree(p); }
};
struct HostDelete {
  void operator()(void* p) const { cudaFreeHost(p); }
};
template <class T>
using DevicePointer = std::unique_ptr<T[], DeviceDelete>;
template <class T>
using HostPointer = std::unique_ptr<T[], HostDelete>;

template <class T>
[[nodiscard]] DevicePointer<T> device_array(std::size_t n) {
  void* p = nullptr;
  must(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
  must(cudaMemset(p, 0, n * sizeof(T)), "cudaMemset");
  return DevicePointer<T>(static_cast<T*>(p));
}
template <class T>
[[nodiscard]] HostPointer<T> mapped_array(std::size_t n) {
  void* p = nullptr;
  must(cudaHostAlloc(&p, n * sizeof(T), cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  __builtin_memset(p, 0, n * sizeof(T));
  return HostPointer<T>(static_cast<T*>(p));
}

}  // namespace splitplane::gpu
