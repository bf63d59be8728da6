#include "gpu/nic/start_up_check.h"

#include <algorithm>
#include <fstream>

#include "gpu/nic/registers_82599.h"

namespace splitplane::gpu {

namespace {

// PCI Express Base Specification: Device Control is 8 octets into its capability, ACS Control 6 into its own.
constexpr std::size_t kDeviceControl = 8;
constexpr std::uint16_t kRelaxedOrdering = 1U << 4;
constexpr std::size_t kAcsControl = 6;
constexpr std::uint16_t kAcsRedirect = 1U << 2 | 1U << 3;  // P2P request redirect, P2P completion redirect
constexpr std::uint16_t kCommandBusMaster = 1U << 2;
constexpr std::uint16_t kIntel = 0x8086;

// 82599 and X520 functions whose registers are those of registers_82599.h (PCI IDs).
constexpr std::uint16_t kDevices[] = {0x10F7, 0x10F8, 0x10F9, 0x10FB, 0x10FC, 0x1507, 0x1514,
                                      0x1517, 0x151C, 0x1529, 0x152A, 0x154A, 0x154D, 0x1557};
// Of those, the ones with an SFP+ slot: 82599ES and EN, X520 adapters, mezzanine cards with slots.
constexpr std::uint16_t kSfpDevices[] = {0x10FB, 0x1507, 0x1529, 0x154A, 0x154D, 0x1557};

template <class... Args>
StartUpNote say(Gravity gravity, fmt::format_string<Args...> format, Args&&... args) {
  return {gravity, fmt::format(format, std::forward<Args>(args)...)};
}

// "DMA", "DMA-FQ", "identity"; empty before Linux 5.11, or if it cannot be read.
std::string group_type(unsigned group, const std::filesystem::path& sysfs) {
  std::ifstream file(sysfs / "kernel/iommu_groups" / std::to_string(group) / "type");
  std::string type;
  file >> type;
  return type;
}

void check_iommu(const PciDevice& nic, BusAddresses addresses, const std::filesystem::path& sysfs,
                 std::vector<StartUpNote>& notes) {
  if (!nic.iommu_group()) {
    notes.push_back(say(Gravity::kNote, "{}: no IOMMU: the NIC reaches all of memory, and nothing checks its addresses",
                        nic.address()));
    return;
  }
  const std::string type = group_type(*nic.iommu_group(), sysfs);
  if (addresses == BusAddresses::kPhysical && nic.driver() != "vfio-pci" && type != "identity") {
    notes.push_back(say(Gravity::kRefusal,
                        "{}: IOMMU group {} ({}) translates addresses, and physical ones are given; allowed: vfio-pci, "
                        "or a kernel with iommu=pt or without an IOMMU",
                        nic.address(), *nic.iommu_group(), type.empty() ? "type unknown" : type));
  }
}

}  // namespace

bool is_82599(const PciDevice& nic) {
  return nic.vendor() == kIntel && std::ranges::find(kDevices, nic.device()) != std::end(kDevices);
}

bool has_sfp_slot(const PciDevice& nic) {
  return nic.vendor() == kIntel && std::ranges::find(kSfpDevices, nic.device()) != std::end(kSfpDevices);
}

std::vector<StartUpNote> check_nic(const PciDevice& nic, BusAddresses addresses, const std::filesystem::path& sysfs) {
  std::vector<StartUpNote> notes;
  if (!is_82599(nic)) {
    notes.push_back(say(Gravity::kRefusal, "{}: {:04x}:{:04x} is no Intel 82599 or X520", nic.address(), nic.vendor(),
                        nic.device()));
    return notes;
  }
  if (!nic.driver().empty() && nic.driver() != "vfio-pci" && !nic.driver().starts_with("uio") &&
      nic.driver() != "igb_uio") {
    notes.push_back(
        say(Gravity::kRefusal,
            "{0}: driver {1} has the device; allowed: none, uio_pci_generic, igb_uio or vfio-pci; to unbind "
            "it: echo {0} > /sys/bus/pci/drivers/{1}/unbind",
            nic.address(), nic.driver()));
  }
  if (const auto command = nic.config16(4); command && (*command & kCommandBusMaster) == 0) {
    notes.push_back(say(Gravity::kNote, "{}: bus mastering is off until the card was reset", nic.address()));
  }
  const auto express = nic.capability(kPciExpressCapability);
  const auto control = express ? nic.config16(*express + kDeviceControl) : std::nullopt;
  if (!control) {
    notes.push_back(say(Gravity::kWarning, "{}: its configuration space cannot be read: write ordering is not checked",
                        nic.address()));
  } else if ((*control & kRelaxedOrdering) != 0) {
    notes.push_back(say(Gravity::kWarning,
                        "{}: relaxed ordering is enabled in Device Control: only the NIC's DCA_RXCTRL, which is "
                        "cleared, keeps payload before descriptor",
                        nic.address()));
  }
  check_iommu(nic, addresses, sysfs, notes);
  return notes;
}

std::vector<StartUpNote> check_path(const PciDevice& nic, const PciDevice& gpu, const std::filesystem::path& sysfs) {
  std::vector<StartUpNote> notes;
  if (nic.iommu_group() && group_type(*nic.iommu_group(), sysfs) != "identity") {
    notes.push_back(say(Gravity::kWarning,
                        "{}: IOMMU group {}: requests between NIC and GPU go through the root complex to be translated",
                        nic.address(), *nic.iommu_group()));
  }
  const auto from_nic = nic.bridges();
  const auto from_gpu = gpu.bridges();
  std::size_t common = 0;
  while (common < from_nic.size() && common < from_gpu.size() && from_nic[common].path() == from_gpu[common].path()) {
    ++common;
  }
  if (common == 0) {
    notes.push_back(say(Gravity::kWarning,
                        "{} and {} have no bridge in common: their requests cross the root complex, which may be slow "
                        "or refuse them",
                        nic.address(), gpu.address()));
    return notes;  // requests that the ports below redirect go there anyway
  }
  notes.push_back(say(Gravity::kNote, "{} and {} are both behind {}", nic.address(), gpu.address(),
                      from_nic[common - 1].address()));
  // Redirection matters where the two paths part: at the downstream ports of the common switch.
  for (const auto* way : {&from_nic, &from_gpu}) {
    for (std::size_t i = common; i < way->size(); ++i) {
      const PciDevice& port = (*way)[i];
      const auto acs = port.extended_capability(kAcsCapability);
      const auto control = acs ? port.config16(*acs + kAcsControl) : std::nullopt;
      if (control && (*control & kAcsRedirect) != 0) {
        notes.push_back(say(Gravity::kWarning,
                            "{}: ACS redirects peer-to-peer requests to the root complex (ACS Control {:#06x}); setpci "
                            "or pci=disable_acs_redir= switches that off",
                            port.address(), *control));
      }
    }
  }
  return notes;
}

std::vector<StartUpNote> check_bar(Bar& bar) {
  if (bar.read32(reg::kStatus) == ~0U && bar.read32(reg::kCtrl) == ~0U) {
    return {say(Gravity::kRefusal,
                "{}: its registers read as ones: the device is gone, asleep, or memory access is off", bar.name())};
  }
  return {};
}

BusAddresses addresses_of(const PciDevice& nic) {
  return nic.driver() == "vfio-pci" ? BusAddresses::kVirtual : BusAddresses::kPhysical;
}

HostMemorySettings memory_for(const PciDevice& nic, MappedBar& bar) {
  HostMemorySettings settings{.addresses = addresses_of(nic)};
  if (settings.addresses == BusAddresses::kVirtual) {
    settings.map = [&bar](void* host, std::size_t bytes) { return bar.map_memory(host, bytes); };
  }
  return settings;
}

std::vector<StartUpNote> check_card(const PciDevice& nic, std::size_t bytes) {
  auto bar = open_bar(nic);
  if (!bar) return {say(Gravity::kRefusal, "{}", bar.error().message)};
  std::vector<StartUpNote> notes = check_bar(**bar);
  if (refuses(notes)) return notes;
  notes.push_back(
      say(Gravity::kNote, "{}: BAR 0 answers, STATUS {:#010x}", nic.address(), (*bar)->read32(reg::kStatus)));
  HostMemory memory(memory_for(nic, **bar));
  const auto piece = memory.allocate(bytes);
  if (!piece) {
    notes.push_back(say(Gravity::kRefusal, "{}: {}", nic.address(), piece.error().message));
    return notes;
  }
  notes.push_back(say(Gravity::kNote, "{}: {} octets of {} at bus address {:#x}", nic.address(), piece->bytes,
                      memory.name(), piece->bus));
  for (const std::string& note : memory.notes()) notes.push_back(say(Gravity::kNote, "{}: {}", nic.address(), note));
  return notes;
}

}  // namespace splitplane::gpu
