// BAR 0 of a PCI device, mapped into this process: through sysfs' resource0, through UIO, or through VFIO, which also
// maps memory for the device. Bus mastering stays off until enable_bus_master(). This needs root, or rights that udev
// gave.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/expected.h"
#include "gpu/nic/bar.h"
#include "gpu/nic/pci_device.h"

namespace splitplane::gpu {

class MappedBar : public Bar {
 public:
  ~MappedBar() override;
  MappedBar(const MappedBar&) = delete;
  MappedBar& operator=(const MappedBar&) = delete;

  [[nodiscard]] std::uint32_t read32(std::uint32_t offset) override;
  void write32(std::uint32_t offset, std::uint32_t value) override;
  [[nodiscard]] Expected<void> enable_bus_master() override;
  [[nodiscard]] std::uint32_t* doorbell(std::uint32_t offset) override { return word(offset); }
  [[nodiscard]] const std::string& name() const override { return device_.address(); }
  // For a GPU that maps it too (cuMemHostRegister with IOMEMORY).
  [[nodiscard]] void* base() const { return base_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // VFIO: maps [host, host + bytes) for the device at the virtual address. For the others it is an error.
  [[nodiscard]] virtual Expected<void> map_memory(void* host, std::size_t bytes);

 protected:
  explicit MappedBar(PciDevice device) : device_(std::move(device)) {}
  // Maps `bytes` octets of a file from `offset` on and closes the file.
  Expected<void> map_file(int file, std::uint64_t offset, std::size_t bytes, const std::string& what);

 private:
  friend Expected<std::unique_ptr<MappedBar>> open_resource0(const PciDevice&);
  friend Expected<std::unique_ptr<MappedBar>> open_uio(const PciDevice&, const std::filesystem::path&);
  [[nodiscard]] std::uint32_t* word(std::uint32_t offset) const {
    return reinterpret_cast<std::uint32_t*>(static_cast<std::uint8_t*>(base_) + offset);
  }
  PciDevice device_;
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
  int kept_open_ = -1;  // UIO: while the device is in use
};

// resource0: no driver may be bound that uses the NIC itself.
[[nodiscard]] Expected<std::unique_ptr<MappedBar>> open_resource0(const PciDevice& device);
// uio_pci_generic, whose BAR is resource0, or igb_uio, which maps it. `dev` is the directory of uioN.
[[nodiscard]] Expected<std::unique_ptr<MappedBar>> open_uio(const PciDevice& device,
                                                            const std::filesystem::path& dev = "/dev");
// Chooses by the bound driver: vfio-pci, a UIO driver, or none.
[[nodiscard]] Expected<std::unique_ptr<MappedBar>> open_bar(const PciDevice& device);

}  // namespace splitplane::gpu
