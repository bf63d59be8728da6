// Where the ring driver's memory comes from: host hugepages, host memory that is mapped into the GPU, or the GPU's own
// memory. A provider returns pieces with the addresses of host, engine and NIC, and keeps them until it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"
#include "gpu/rings/memory_piece.h"

namespace splitplane::gpu {

class MemoryProvider {
 public:
  virtual ~MemoryProvider() = default;

  // At least `bytes` zero octets on a separate page. The error is one sentence.
  [[nodiscard]] virtual Expected<MemoryPiece> allocate(std::size_t bytes) = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  // What differs from the request, in one sentence each: no hugepages, not tried on hardware.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // The NIC may still write to the pieces, so host memory stays mapped after the provider, until the process ends.
  void keep() { kept_ = true; }
  [[nodiscard]] bool is_kept() const { return kept_; }

 protected:
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

 private:
  std::vector<std::string> notes_;
  bool kept_ = false;
};

// --- The GPU's own memory. The importers need a driver and hardware that no test of this project has had, so they are
// unverified.

// Lets the NIC access a piece of GPU memory. The GPU's driver exports a dma-buf (Turing and later, open kernel
// modules), or the older NV-P2P interface is used. Both need kernel modules; an implementation of this interface uses
// one of them.
class DeviceMemoryImporter {
 public:
  virtual ~DeviceMemoryImporter() = default;
  struct Imported {
    std::uint64_t bus = 0;  // contiguous for the NIC
  };
  // `dma_buf` is the file descriptor of cuMemGetHandleForAddressRange, which the caller may close after the call. It is
  // -1 if the importer uses the address itself.
  [[nodiscard]] virtual Expected<Imported> import(int dma_buf, std::uint64_t device_address, std::size_t bytes) = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
};

// CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING: which readers see writes from PCIe in order.
enum class WriteOrdering : std::uint32_t { kNone = 0, kOwner = 100, kAllDevices = 200 };
enum class OrderingVerdict : std::uint8_t { kUse, kFlush, kRefuse };

// Decides whether engines may poll descriptors that a NIC writes into GPU memory. With kNone a descriptor may be seen
// before its payload. Only a flush by the host (cuFlushGPUDirectRDMAWrites) between them helps, and engines that run
// without the host cannot wait for it.
[[nodiscard]] constexpr OrderingVerdict judge_ordering(std::uint32_t attribute, bool host_can_flush,
                                                       bool host_hands_over_batches) {
  if (attribute >= static_cast<std::uint32_t>(WriteOrdering::kOwner)) return OrderingVerdict::kUse;
  return host_can_flush && host_hands_over_batches ? OrderingVerdict::kFlush : OrderingVerdict::kRefuse;
}

}  // namespace splitplane::gpu
