// Checks whether this GPU's memory can be given to a NIC, as far as CUDA goes: exported as a dma-buf of whole pages. It
// is part of host_bypass's own check. It has not run on a GPU so far.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

#include "gpu/cuda/card_memory.h"

namespace splitplane::gpu {

// Imports no dma-buf, and reports the one that it got.
class LookingImporter final : public DeviceMemoryImporter {
 public:
  [[nodiscard]] Expected<Imported> import(int dma_buf, std::uint64_t device_address, std::size_t bytes) override {
    good = dma_buf >= 0 && ::lseek(dma_buf, 0, SEEK_END) == static_cast<off_t>(bytes) &&
           device_address % kGpuPage == 0 && bytes % kGpuPage == 0;
    return Imported{device_address};
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  bool good = false;

 private:
  std::string name_ = "nobody";
};

// Returns 0 if the memory can be exported, or if the driver exports none.
[[nodiscard]] inline int check_export() {
  if (driver_attribute(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) == 0) {
    std::printf("dma-buf: this driver exports none\n");
    return 0;
  }
  LookingImporter importer;
  CardMemory memory(importer);
  const auto piece = memory.allocate(100'000);
  const bool good = piece && importer.good && piece->bus % kGpuPage == 0;
  std::printf("dma-buf: %s\n", good    ? "100000 octets exported in 2 pages"
                               : piece ? "not of whole pages"
                                       : piece.error().message.c_str());
  return good ? 0 : 1;
}

}  // namespace splitplane::gpu
