// Rings and slots in the GPU's memory for a real NIC. The memory is allocated in the GPU's pages of 64 KiB, exported as
// a dma-buf, and gets a bus address from an importer. SYNC_MEMOPS is set, as GPUDirect RDMA requires: copies to this
// memory by the host then end before they return, so none overtakes the NIC. The driver's functions are looked up and
// not linked, so the programs start on machines without the driver. It has not run on a GPU so far.
#pragma once

#include <cuda.h>
#include <unistd.h>

#include "gpu/cuda/device.h"
#include "gpu/nic/card_for_gpu.h"
#include "gpu/nic/memory.h"

namespace splitplane::gpu {

// A function of the CUDA driver by its name; nullptr if this driver does not have it.
template <class Function>
[[nodiscard]] Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const auto e = cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
  return e == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(found) : nullptr;
}

// An attribute that the runtime has no name for; 0 if the driver cannot say.
[[nodiscard]] inline int driver_attribute(CUdevice_attribute attribute) {
  int value = 0;
  const auto get = driver_function<decltype(&cuDeviceGetAttribute)>("cuDeviceGetAttribute");
  return get != nullptr && get(&value, attribute, 0) == CUDA_SUCCESS ? value : 0;
}

class CardMemory final : public MemoryProvider {
 public:
  // `importer` must outlive this object.
  explicit CardMemory(DeviceMemoryImporter& importer)
      : importer_(importer), name_("GPU memory, imported by " + importer.name()) {}

  [[nodiscard]] Expected<MemoryPiece> allocate(std::size_t bytes) override {
    const std::size_t whole = in_gpu_pages(bytes);
    void* raw = nullptr;
    if (const auto e = cudaMalloc(&raw, whole + kGpuPage); e != cudaSuccess) {
      return fail("GPU memory: {} octets: {}", whole + kGpuPage, cudaGetErrorString(e));
    }
    owned_.emplace_back(static_cast<std::uint8_t*>(raw));
    const std::uint64_t at = in_gpu_pages(reinterpret_cast<std::uintptr_t>(raw));
    if (const auto e = cudaMemset(reinterpret_cast<void*>(at), 0, whole); e != cudaSuccess) {
      return fail("GPU memory: {}", cudaGetErrorString(e));
    }
    const auto set = driver_function<decltype(&cuPointerSetAttribute)>("cuPointerSetAttribute");
    unsigned on = 1;
    if (set == nullptr || set(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at) != CUDA_SUCCESS) {
      return fail("GPU memory at {:#x}: CU_POINTER_ATTRIBUTE_SYNC_MEMOPS cannot be set", at);
    }
    const auto export_range =
        driver_function<decltype(&cuMemGetHandleForAddressRange)>("cuMemGetHandleForAddressRange");
    int dma_buf = -1;
    if (export_range == nullptr ||
        export_range(&dma_buf, at, whole, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0) != CUDA_SUCCESS) {
      return fail("GPU memory at {:#x}: the driver exports no dma-buf of it", at);
    }
    const auto imported = importer_.import(dma_buf, at, whole);
    ::close(dma_buf);  // the importer has a separate descriptor
    if (!imported) return tl::unexpected(imported.error());
    return MemoryPiece{
        .host = nullptr, .engine = reinterpret_cast<std::uint8_t*>(at), .bus = imported->bus, .bytes = bytes};
  }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  DeviceMemoryImporter& importer_;
  std::string name_;
  std::vector<DevicePointer<std::uint8_t>> owned_;
};

}  // namespace splitplane::gpu
