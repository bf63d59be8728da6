// What to check on a machine before the GPU drives its NIC. Does the BAR answer, are writes in order, does an IOMMU or
// a switch's access control stand between NIC and GPU? It reads sysfs, so it can be tested without a NIC.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gpu/nic/host_memory.h"
#include "gpu/nic/mapped_bar.h"
#include "gpu/nic/pci_device.h"

namespace splitplane::gpu {

enum class Gravity : std::uint8_t { kNote, kWarning, kRefusal };

struct StartUpNote {
  Gravity gravity = Gravity::kNote;
  std::string sentence;
  friend bool operator==(const StartUpNote&, const StartUpNote&) = default;
};

// True if the device has the registers of registers_82599.h.
[[nodiscard]] bool is_82599(const PciDevice& nic);
// The device itself: identity, driver, bus mastering, relaxed ordering, and what the IOMMU means for `addresses`.
[[nodiscard]] std::vector<StartUpNote> check_nic(const PciDevice& nic, BusAddresses addresses,
                                                 const std::filesystem::path& sysfs = "/sys");
// The path between NIC and GPU: an IOMMU that translates, switches, and ports that send peer-to-peer requests up to the
// root complex.
[[nodiscard]] std::vector<StartUpNote> check_path(const PciDevice& nic, const PciDevice& gpu,
                                                  const std::filesystem::path& sysfs = "/sys");
// True if its port is an SFP+ slot, by its PCI ID.
[[nodiscard]] bool has_sfp_slot(const PciDevice& nic);
// Checks that registers answer. A device that is gone, asleep or without memory access answers with ones.
[[nodiscard]] std::vector<StartUpNote> check_bar(Bar& bar);

// How the NIC addresses memory, by the bound driver, and memory for it. `bar` must outlive its use.
[[nodiscard]] BusAddresses addresses_of(const PciDevice& nic);
[[nodiscard]] HostMemorySettings memory_for(const PciDevice& nic, MappedBar& bar);

// Opens the NIC as a driver would: BAR 0 through the bound driver, registers, and `bytes` of memory at addresses that
// the NIC can use. It switches memory access on, but not bus mastering.
[[nodiscard]] std::vector<StartUpNote> check_card(const PciDevice& nic, std::size_t bytes);

[[nodiscard]] inline bool refuses(const std::vector<StartUpNote>& notes) {
  for (const StartUpNote& note : notes) {
    if (note.gravity == Gravity::kRefusal) return true;
  }
  return false;
}

}  // namespace splitplane::gpu
