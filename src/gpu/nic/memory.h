// Where the ring driver's memory comes from: host hugepages, host memory that is mapped into the GPU, or the GPU's own.
// A provider gives pieces with the addresses of host, engine and NIC, and keeps them until it goes itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/expected.h"
#include "gpu/rings/memory_piece.h"

namespace splitplane::gpu {

class MemoryProvider {
 public:
  virtual ~MemoryProvider() = default;

  // At least `bytes` octets of 0, on a page of their own. Error: one sentence.
  [[nodiscard]] virtual Expected<MemoryPiece> allocate(std::size_t bytes) = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
  // What is not as it was wished, one sentence each: no hugepages, not tried on hardware.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // The NIC may still write to the pieces: host memory stays mapped when the provider goes, until the process ends.
  void keep() { kept_ = true; }
  [[nodiscard]] bool is_kept() const { return kept_; }

 protected:
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

 private:
  std::vector<std::string> notes_;
  bool kept_ = false;
};

// What a NIC calls host memory.
enum class BusAddresses : std::uint8_t {
  kVirtual,   // as this process does: the NIC model, or an IOMMU that maps it so (VFIO)
  kPhysical,  // as the memory controller does, for UIO and resource0 without an IOMMU: contiguous, and on hugepages
};

struct HostMemorySettings {
  BusAddresses addresses = BusAddresses::kVirtual;
  bool hugepages = true;  // kVirtual: falls back to ordinary pages, with a note
  // For VFIO: maps [host, host + bytes) for the device at the bus address that is the virtual one.
  std::function<Expected<void>(void* host, std::size_t bytes)> map;
  // The page frame of a virtual address; /proc/self/pagemap, unless a test has its own.
  std::function<Expected<std::uint64_t>(const void* page)> frame_of;
};

class HostMemory final : public MemoryProvider {
 public:
  explicit HostMemory(HostMemorySettings settings = {});
  ~HostMemory() override;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  [[nodiscard]] Expected<MemoryPiece> allocate(std::size_t bytes) override;
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  struct Mapping {
    void* at;
    std::size_t bytes;
  };
  [[nodiscard]] Expected<Mapping> map_pages(std::size_t bytes);
  // The physical address of the whole mapping; 0 where its hugepages do not follow each other.
  [[nodiscard]] Expected<std::uint64_t> contiguous(const Mapping& mapping) const;
  [[nodiscard]] Expected<MemoryPiece> allocate_physical(std::size_t bytes);

  HostMemorySettings settings_;
  std::string name_;
  std::vector<Mapping> mappings_;
};

// --- the GPU's own memory. The importers need a driver and hardware that no test of this project has had: unverified.

// Makes a piece of GPU memory reachable for the NIC: a dma-buf that the GPU's driver exports (Turing and later, open
// kernel modules), or the older NV-P2P interface. Both are kernel modules' work; whoever has one implements this.
class DeviceMemoryImporter {
 public:
  virtual ~DeviceMemoryImporter() = default;
  struct Imported {
    std::uint64_t bus = 0;  // contiguous for the NIC
  };
  // `dma_buf`: file descriptor of cuMemGetHandleForAddressRange, which the caller may close behind the call; or -1
  // where the importer takes the address itself.
  [[nodiscard]] virtual Expected<Imported> import(int dma_buf, std::uint64_t device_address, std::size_t bytes) = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;
};

// CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING: for whom writes that came over PCIe are in order.
enum class WriteOrdering : std::uint32_t { kNone = 0, kOwner = 100, kAllDevices = 200 };
enum class OrderingVerdict : std::uint8_t { kUse, kFlush, kRefuse };

// Whether engines may poll descriptors that a NIC writes into GPU memory. With kNone a descriptor may be seen before
// its payload: only a flush by the host (cuFlushGPUDirectRDMAWrites) between them helps, which engines that run by
// themselves cannot wait for.
[[nodiscard]] constexpr OrderingVerdict judge_ordering(std::uint32_t attribute, bool host_can_flush,
                                                       bool host_hands_over_batches) {
  if (attribute >= static_cast<std::uint32_t>(WriteOrdering::kOwner)) return OrderingVerdict::kUse;
  return host_can_flush && host_hands_over_batches ? OrderingVerdict::kFlush : OrderingVerdict::kRefuse;
}

}  // namespace splitplane::gpu
