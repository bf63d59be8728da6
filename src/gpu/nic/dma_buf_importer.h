// Bus addresses of GPU memory from the kernel module dmabuf_import (uPCIe), which takes a dma-buf for a PCI device and
// returns its segments. The module is not part of Linux, and neither it nor a GPU was available. It is tested with a
// stand-in for the module, and otherwise unverified.
#pragma once

#include <functional>

#include "gpu/nic/memory.h"

namespace splitplane::gpu {

class DmaBufImporter final : public DeviceMemoryImporter {
 public:
  // A call of the module's device: ioctl(2) on it; 0, or -1 with errno.
  using Call = std::function<int(unsigned long request, void* argument)>;

  // Opens /dev/dmabuf_import for the NIC with this PCI address. The error is one sentence.
  static Expected<std::unique_ptr<DmaBufImporter>> open(const std::string& nic);
  // For tests: `call` instead of the device.
  DmaBufImporter(std::string nic, Call call) : nic_(std::move(nic)), call_(std::move(call)) {}
  // Releases everything that was imported.
  ~DmaBufImporter() override;
  DmaBufImporter(const DmaBufImporter&) = delete;
  DmaBufImporter& operator=(const DmaBufImporter&) = delete;

  // The caller keeps `dma_buf` and may close it at once, because the importer duplicates the descriptor. It is also an
  // error if the segments are not contiguous, or have fewer octets than `bytes`.
  [[nodiscard]] Expected<Imported> import(int dma_buf, std::uint64_t device_address, std::size_t bytes) override;
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  std::string nic_, name_ = "dmabuf_import";
  Call call_;
  int device_ = -1;
  std::vector<int> attached_;
};

}  // namespace splitplane::gpu
