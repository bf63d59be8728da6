// Host memory that the GPU can access, and memory of the GPU that the host cannot: the providers of a run on a device.
// It has not run on a GPU so far.
#pragma once

#include <map>

#include "gpu/cuda/device.h"
#include "gpu/nic/memory.h"

namespace splitplane::gpu {

// Rings and slots in host memory, mapped into the GPU (gpu.md: the ablation "rings in host memory"). The bus address is
// the host's virtual one, which the NIC model uses.
class PinnedMemory final : public MemoryProvider {
 public:
  [[nodiscard]] Expected<MemoryPiece> allocate(std::size_t bytes) override {
    void* host = nullptr;
    void* device = nullptr;
    if (const auto e = cudaHostAlloc(&host, bytes, cudaHostAllocMapped); e != cudaSuccess) {
      return fail("pinned memory: {} octets: {}", bytes, cudaGetErrorString(e));
    }
    owned_.emplace_back(static_cast<std::uint8_t*>(host));
    if (const auto e = cudaHostGetDevicePointer(&device, host, 0); e != cudaSuccess) {
      return fail("pinned memory is not mapped into the GPU: {}", cudaGetErrorString(e));
    }
    __builtin_memset(host, 0, bytes);
    return MemoryPiece{.host = owned_.back().get(),
                       .engine = static_cast<std::uint8_t*>(device),
                       .bus = reinterpret_cast<std::uintptr_t>(host),
                       .bytes = bytes};
  }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  std::string name_ = "host memory mapped into the GPU";
  std::vector<HostPointer<std::uint8_t>> owned_;
};

// The GPU's own memory, for data that only engines use, and for rings whose NIC is the copy engine or a kernel. A real
// NIC would access it through an importer (gpu/nic/memory.h).
class DeviceMemory final : public MemoryProvider {
 public:
  [[nodiscard]] Expected<MemoryPiece> allocate(std::size_t bytes) override {
    void* device = nullptr;
    if (const auto e = cudaMalloc(&device, bytes); e != cudaSuccess) {
      return fail("GPU memory: {} octets: {}", bytes, cudaGetErrorString(e));
    }
    owned_.emplace_back(static_cast<std::uint8_t*>(device));
    if (const auto e = cudaMemset(device, 0, bytes); e != cudaSuccess) {
      return fail("GPU memory: {}", cudaGetErrorString(e));
    }
    return MemoryPiece{.host = nullptr,
                       .engine = owned_.back().get(),
                       .bus = reinterpret_cast<std::uintptr_t>(device),
                       .bytes = bytes};
  }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  std::string name_ = "GPU memory";
  std::vector<DevicePointer<std::uint8_t>> owned_;
};

// Tail registers that the host has mapped, for the device: the device's address of each, mapped page by page. `io`:
// they are behind PCIe (a BAR), so stores are neither cached nor merged. The NIC model's registers are ordinary memory.
class MappedRegisters {
 public:
  explicit MappedRegisters(bool io) : flags_(cudaHostRegisterMapped | (io ? cudaHostRegisterIoMemory : 0U)) {}
  ~MappedRegisters() {
    for (const auto& [host, device] : pages_) cudaHostUnregister(reinterpret_cast<void*>(host));
  }
  MappedRegisters(const MappedRegisters&) = delete;
  MappedRegisters& operator=(const MappedRegisters&) = delete;

  [[nodiscard]] std::uint32_t* operator()(std::uint32_t* word) {
    const auto at = reinterpret_cast<std::uintptr_t>(word), page = at & ~(kPage - 1);
    auto found = pages_.find(page);
    if (found == pages_.end()) {
      void* device = nullptr;
      must(cudaHostRegister(reinterpret_cast<void*>(page), kPage, flags_), "cudaHostRegister of the NIC's registers");
      must(cudaHostGetDevicePointer(&device, reinterpret_cast<void*>(page), 0), "the NIC's registers for the GPU");
      found = pages_.emplace(page, static_cast<std::uint8_t*>(device)).first;
    }
    return reinterpret_cast<std::uint32_t*>(found->second + (at - page));
  }

 private:
  static constexpr std::uintptr_t kPage = 4096;
  unsigned flags_;
  std::map<std::uintptr_t, std::uint8_t*> pages_;
};

}  // namespace splitplane::gpu
