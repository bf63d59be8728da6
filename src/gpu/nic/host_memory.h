// Host memory for rings and slots: hugepages, and the NIC's addresses of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "gpu/nic/memory.h"

namespace splitplane::gpu {

// The NIC's addresses of host memory.
enum class BusAddresses : std::uint8_t {
  kVirtual,   // as in this process: the NIC model, or an IOMMU that maps it so (VFIO)
  kPhysical,  // as the memory controller's, for UIO and resource0 without an IOMMU: contiguous, and on hugepages
};

struct HostMemorySettings {
  BusAddresses addresses = BusAddresses::kVirtual;
  bool hugepages = true;  // kVirtual: falls back to ordinary pages, with a note
  // For VFIO: maps [host, host + bytes) for the device at the bus address that is the virtual one.
  std::function<Expected<void>(void* host, std::size_t bytes)> map;
  // The page frame of a virtual address. It reads /proc/self/pagemap, unless a test replaces it.
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
  // The physical address of the whole mapping; 0 if its hugepages are not contiguous.
  [[nodiscard]] Expected<std::uint64_t> contiguous(const Mapping& mapping) const;
  [[nodiscard]] Expected<MemoryPiece> allocate_physical(std::size_t bytes);

  HostMemorySettings settings_;
  std::string name_;
  std::vector<Mapping> mappings_;
};

}  // namespace splitplane::gpu
