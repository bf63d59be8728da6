// A PCI device as sysfs shows it: its driver, its configuration space, its place among bridges. All paths are below one
// root, so a copy of a machine's /sys works too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::gpu {

class PciDevice {
 public:
  // `address` is as "0000:3b:00.0". The error is one sentence.
  static Expected<PciDevice> find(const std::string& address, const std::filesystem::path& sysfs = "/sys");

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint16_t vendor() const { return vendor_; }
  [[nodiscard]] std::uint16_t device() const { return device_; }
  [[nodiscard]] const std::string& driver() const { return driver_; }  // empty: none
  [[nodiscard]] std::optional<unsigned> iommu_group() const { return iommu_group_; }
  // From the bridge at the root complex down to the one above the device.
  [[nodiscard]] std::vector<PciDevice> bridges() const;

  // The configuration space; a register that the user may not read is absent.
  [[nodiscard]] std::optional<std::uint16_t> config16(std::size_t offset) const;
  [[nodiscard]] std::optional<std::uint32_t> config32(std::size_t offset) const;
  // Where a capability begins: in the list at 0x34, and in the list of extended ones from 0x100 on.
  [[nodiscard]] std::optional<std::size_t> capability(std::uint8_t id) const;
  [[nodiscard]] std::optional<std::size_t> extended_capability(std::uint16_t id) const;

  // Enables the registers: bit 1 of the command register.
  [[nodiscard]] Expected<void> enable_memory() const;
  // Sets bit 2 too: the device may send requests to memory.
  [[nodiscard]] Expected<void> enable_bus_master() const;
  // Bus mastering off, for a device that does not stop: it sends no more requests to memory (PCI Express 7.5.1.1.3).
  [[nodiscard]] Expected<void> disable_bus_master() const;
  // Size of BAR n, 0 to 5, from the file `resource`: one line for each, a 64-bit one has its second empty.
  [[nodiscard]] Expected<std::uint64_t> bar_bytes(unsigned n) const;
  [[nodiscard]] Expected<std::uint64_t> bar0_bytes() const { return bar_bytes(0); }
  // The number of the BAR after BAR n: n + 2 if that has 64 bits, by Linux's flags for it.
  [[nodiscard]] unsigned bar_behind(unsigned n) const;

 private:
  // A line of the file `resource`; all 0 if there is none.
  struct Resource {
    std::uint64_t first = 0, last = 0, flags = 0;
  };
  [[nodiscard]] Resource resource(unsigned n) const;
  static PciDevice read(const std::filesystem::path& path);
  // It is also an error if the device is gone, or does not read back the written value.
  [[nodiscard]] Expected<void> set_command(unsigned bits, bool on) const;

  std::string address_, driver_;
  std::filesystem::path path_;
  std::uint16_t vendor_ = 0, device_ = 0;
  std::optional<unsigned> iommu_group_;
  std::vector<std::uint8_t> config_;
};

inline constexpr std::uint8_t kPciExpressCapability = 0x10;
inline constexpr std::uint16_t kAcsCapability = 0x000D;  // access control services

}  // namespace splitplane::gpu
