// What to know of a machine before the GPU drives its NIC: does the BAR answer, are writes in order, does an IOMMU or a
// switch's access control stand between NIC and GPU. From sysfs, so that it can be judged without a card.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gpu/nic/mapped_bar.h"
#include "gpu/nic/memory.h"
#include "gpu/nic/pci_device.h"

namespace splitplane::gpu {

enum class Gravity : std::uint8_t { kNote, kWarning, kRefusal };

struct StartUpNote {
  Gravity gravity = Gravity::kNote;
  std::string sentence;
  friend bool operator==(const StartUpNote&, const StartUpNote&) = default;
};

// Whether its registers are those of registers_82599.h.
[[nodiscard]] bool is_82599(const PciDevice& nic);
// The device itself: identity, driver, bus mastering, relaxed ordering, the IOMMU and what it means for `addresses`.
[[nodiscard]] std::vector<StartUpNote> check_nic(const PciDevice& nic, BusAddresses addresses,
                                                 const std::filesystem::path& sysfs = "/sys");
// The way between NIC and GPU: an IOMMU that translates, switches, and ports that send peer-to-peer requests up to the
// root complex.
[[nodiscard]] std::vector<StartUpNote> check_path(const PciDevice& nic, const PciDevice& gpu,
                                                  const std::filesystem::path& sysfs = "/sys");
// Whether it is one whose port is an SFP+ slot, by its PCI ID.
[[nodiscard]] bool has_sfp_slot(const PciDevice& nic);
// Whether registers answer at all. A device that is gone, asleep or without memory access answers with ones.
[[nodiscard]] std::vector<StartUpNote> check_bar(Bar& bar);

// What the card calls memory, by the driver that is bound, and memory for it; `bar` must stay as long as it is asked
// for.
[[nodiscard]] BusAddresses addresses_of(const PciDevice& nic);
[[nodiscard]] HostMemorySettings memory_for(const PciDevice& nic, MappedBar& bar);

// Opens the card as whoever drives it would: BAR 0 through the driver that is bound, registers, and `bytes` of memory
// at addresses that the card understands. Switches memory access on, and no bus mastering.
[[nodiscard]] std::vector<StartUpNote> check_card(const PciDevice& nic, std::size_t bytes);

[[nodiscard]] inline bool refuses(const std::vector<StartUpNote>& notes) {
  for (const StartUpNote& note : notes) {
    if (note.gravity == Gravity::kRefusal) return true;
  }
  return false;
}

}  // namespace splitplane::gpu
