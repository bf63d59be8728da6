#include "gpu/nic/pci_device.h"

#include <charconv>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>

namespace splitplane::gpu {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kResourceHas64Bits = 0x00100000;  // IORESOURCE_MEM_64 of linux/ioport.h
constexpr unsigned kGone = 0xFFFF;                        // the value that reads of an absent device return

const std::regex& address_form() {
  static const std::regex form("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  return form;
}

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint16_t hex_file(const fs::path& path) {
  const std::string text = file_text(path);  // "0x8086"
  std::uint16_t value = 0;
  if (text.size() > 2) std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return value;
}

// The name of a link's target; empty if there is none.
std::string link_name(const fs::path& path) {
  std::error_code none;
  const fs::path target = fs::read_symlink(path, none);
  return none ? std::string() : target.filename().string();
}

}  // namespace

Expected<PciDevice> PciDevice::find(const std::string& address, const fs::path& sysfs) {
  if (!std::regex_match(address, address_form())) {
    return fail("PCI address {}; allowed: like 0000:3b:00.0", address);
  }
  std::error_code missing;
  const fs::path path = fs::canonical(sysfs / "bus/pci/devices" / address, missing);
  if (missing) return fail("PCI device {}: there is none ({})", address, (sysfs / "bus/pci/devices").string());
  return read(path);
}

PciDevice PciDevice::read(const fs::path& path) {
  PciDevice device;
  device.path_ = path;
  device.address_ = path.filename().string();
  device.vendor_ = hex_file(path / "vendor");
  device.device_ = hex_file(path / "device");
  device.driver_ = link_name(path / "driver");
  if (const std::string group = link_name(path / "iommu_group"); !group.empty()) {
    unsigned number = 0;
    std::from_chars(group.data(), group.data() + group.size(), number);
    device.iommu_group_ = number;
  }
  const std::string config = file_text(path / "config");
  device.config_.assign(config.begin(), config.end());
  return device;
}

std::vector<PciDevice> PciDevice::bridges() const {
  std::vector<PciDevice> all;
  for (fs::path at = path_.parent_path(); std::regex_match(at.filename().string(), address_form());
       at = at.parent_path()) {
    all.insert(all.begin(), read(at));
  }
  return all;
}

std::optional<std::uint16_t> PciDevice::config16(std::size_t offset) const {
  if (offset + 2 > config_.size()) return std::nullopt;
  return static_cast<std::uint16_t>(config_[offset] | config_[offset + 1] << 8);
}

std::optional<std::uint32_t> PciDevice::config32(std::size_t offset) const {
  const auto low = config16(offset);
  const auto high = config16(offset + 2);
  if (!low || !high) return std::nullopt;
  return static_cast<std::uint32_t>(*low) | static_cast<std::uint32_t>(*high) << 16;
}

std::optional<std::size_t> PciDevice::capability(std::uint8_t id) const {
  const auto first = config16(0x34);
  if (!first) return std::nullopt;
  std::size_t at = *first & 0xFC;
  for (int hops = 0; at >= 0x40 && hops < 48; ++hops) {
    const auto header = config16(at);
    if (!header) return std::nullopt;
    if ((*header & 0xFF) == id) return at;
    at = *header >> 8 & 0xFC;
  }
  return std::nullopt;
}

std::optional<std::size_t> PciDevice::extended_capability(std::uint16_t id) const {
  std::size_t at = 0x100;
  for (int hops = 0; at >= 0x100 && hops < 256; ++hops) {
    const auto header = config32(at);
    if (!header || *header == 0 || *header == ~0U) return std::nullopt;
    if ((*header & 0xFFFF) == id) return at;
    at = *header >> 20 & 0xFFC;
  }
  return std::nullopt;
}

Expected<void> PciDevice::set_command(unsigned bits, bool on) const {
  const auto command = [this]() -> std::optional<unsigned> {
    std::ifstream file(path_ / "config", std::ios::binary);
    unsigned char word[2] = {};
    if (!file.seekg(4) || !file.read(reinterpret_cast<char*>(word), 2)) return std::nullopt;
    return word[0] | static_cast<unsigned>(word[1]) << 8;
  };
  const auto before = command();
  if (!before) return fail("{}: config: cannot be read", address_);
  if (*before == kGone) return fail("{}: config: reads as ones: the device is gone, or asleep", address_);
  const unsigned wanted = on ? *before | bits : *before & ~bits;
  const char word[2] = {static_cast<char>(wanted), static_cast<char>(wanted >> 8)};
  std::fstream file(path_ / "config", std::ios::in | std::ios::out | std::ios::binary);
  if (!file.seekp(4) || !file.write(word, 2) || !file.flush()) {
    return fail("{}: config: bits {:#x} of the command register cannot be switched {}: {}", address_, bits,
                on ? "on" : "off", std::strerror(errno));
  }
  if (const auto after = command(); !after || *after == kGone || (*after & bits) != (on ? bits : 0)) {
    return fail("{}: config: the command register reads {:#06x} after bits {:#x} were switched {}", address_,
                after.value_or(kGone), bits, on ? "on" : "off");
  }
  return {};
}

Expected<void> PciDevice::enable_memory() const {
  return set_command(0x02, true);
}
Expected<void> PciDevice::enable_bus_master() const {
  return set_command(0x06, true);
}
Expected<void> PciDevice::disable_bus_master() const {
  return set_command(0x04, false);
}

PciDevice::Resource PciDevice::resource(unsigned n) const {
  std::istringstream lines(file_text(path_ / "resource"));
  std::string text;
  for (unsigned i = 0; i <= n; ++i) {
    if (!std::getline(lines, text)) text.clear();
  }
  std::istringstream line(text);
  Resource found;
  line >> std::hex >> found.first >> found.last >> found.flags;
  return found;
}

Expected<std::uint64_t> PciDevice::bar_bytes(unsigned n) const {
  const Resource bar = resource(n);
  if (bar.last <= bar.first) return fail("{}: resource: BAR {} has no memory", address_, n);
  return bar.last - bar.first + 1;
}

unsigned PciDevice::bar_behind(unsigned n) const {
  return n + ((resource(n).flags & kResourceHas64Bits) != 0 ? 2 : 1);
}

}  // namespace splitplane::gpu
