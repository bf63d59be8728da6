#include "runtime/config/device.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace splitplane::app {
namespace {

struct DriverRow {
  std::string_view name;
  Driver driver;
  std::string_view required_arg;  // "": none
};
constexpr std::array<DriverRow, 10> kDrivers{{{"net_null", Driver::kNull, ""},
                                              {"net_ring", Driver::kRing, ""},
                                              {"net_pcap", Driver::kPcap, ""},
                                              {"net_memif", Driver::kMemif, ""},
                                              {"net_tap", Driver::kTap, ""},
                                              {"net_af_packet", Driver::kAfPacket, "iface"},
                                              {"net_af_xdp", Driver::kAfXdp, "iface"},
                                              {"net_vhost", Driver::kVhost, "iface"},
                                              {"eth_vhost", Driver::kVhost, "iface"},
                                              {"net_virtio_user", Driver::kVirtioUser, "path"}}};
constexpr std::array<std::string_view, 10> kDriverNames{"net_null",  "net_ring",       "net_pcap",   "net_memif",
                                                        "net_tap",   "net_af_packet",  "net_af_xdp", "net_vhost",
                                                        "eth_vhost", "net_virtio_user"};
constexpr std::array<std::string_view, 6> kPcapSources{"rx_pcap",     "tx_pcap",  "rx_iface",
                                                       "rx_iface_in", "tx_iface", "iface"};
// Leaves room for DPDK's own prefixes in RTE_ETH_NAME_MAX_LEN and RTE_MEMZONE_NAMESIZE.
constexpr std::size_t kMaxVdevName = 31;

bool hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c); });
}

// "0000:3b:00.0" or "3b:00.0": returned with its domain, in lower case.
std::optional<std::string> pci_address(std::string_view text) {
  std::string full(text);
  if (text.size() == 7) full = "0000:" + full;
  const std::string_view f = full;
  if (f.size() != 12 || !hex(f.substr(0, 4), 4) || f[4] != ':' || !hex(f.substr(5, 2), 2) || f[7] != ':' ||
      !hex(f.substr(8, 2), 2) || f[10] != '.' || f[11] < '0' || f[11] > '7') {
    return std::nullopt;
  }
  std::transform(full.begin(), full.end(), full.begin(), [](unsigned char c) { return std::tolower(c); });
  return full;
}

// Splits at commas outside square brackets.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (text[i] != ',' || depth > 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

tl::unexpected<Error> unknown_driver(std::string_view name) {
  const auto near = closest(name.substr(0, name.find_last_not_of("0123456789") + 1), kDriverNames);
  return fail(
      "'{}' is no device known here{}; allowed: a PCI address such as 0000:3b:00.0, or {} with an index, such as "
      "net_af_packet0,iface=eth1",
      printable(name), near ? fmt::format(", did you mean '{}'?", *near) : "", comma_list(kDriverNames));
}

std::optional<Error> missing_arg(const Device& device, std::string_view required) {
  if (device.driver == Driver::kPcap) {
    for (const auto key : kPcapSources) {
      if (device.count(key) != 0) return std::nullopt;
    }
    return Error{
        fmt::format("'{}' has no source or sink; allowed: at least one of {}", device.name, comma_list(kPcapSources))};
  }
  if (required.empty() || device.count(required) == 1) return std::nullopt;
  for (const auto& [key, value] : device.args) {
    const std::array<std::string_view, 1> wanted{required};
    if (device.count(required) == 0 && closest(key, wanted)) {
      return Error{fmt::format("'{}' has no argument {}=, but '{}'; allowed: {}=... once", device.name, required,
                               printable(key), required)};
    }
  }
  return Error{
      fmt::format("'{}' needs the argument {}= once; allowed: such as {}0,{}={}", device.name, required,
                  device.name.substr(0, device.name.find_last_not_of("0123456789") + 1), required,
                  required == "path" || device.driver == Driver::kVhost ? "/run/splitplane/vf0.sock" : "eth1")};
}

}  // namespace

std::optional<std::string> Device::arg(std::string_view key) const {
  for (const auto& [name_of_arg, value] : args) {
    if (name_of_arg == key) return value;
  }
  return std::nullopt;
}

std::size_t Device::count(std::string_view key) const {
  return static_cast<std::size_t>(
      std::count_if(args.begin(), args.end(), [&](const auto& a) { return a.first == key; }));
}

std::optional<unsigned> Device::queues() const {
  std::string_view key;
  if (driver == Driver::kAfPacket) key = "qpairs";
  if (driver == Driver::kAfXdp) key = "queue_count";
  if (driver == Driver::kVhost || driver == Driver::kVirtioUser) key = "queues";
  if (key.empty()) return std::nullopt;
  unsigned n = 1;
  if (const auto text = arg(key)) std::from_chars(text->data(), text->data() + text->size(), n);
  return n;
}

Expected<Device> parse_device(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      return fail("'{}' holds a space or control character; allowed: DPDK's form, name,key=value,key=value",
                  printable(text));
    }
  }
  const auto parts = split(text);
  Device device;
  std::string_view required;
  if (auto pci = pci_address(parts[0])) {
    device.driver = Driver::kPci;
    device.name = *std::move(pci);
  } else {
    // DPDK takes the driver whose name begins the device's; only an index may follow.
    const std::string_view stem = parts[0].substr(0, parts[0].find_last_not_of("0123456789") + 1);
    const auto row = std::find_if(kDrivers.begin(), kDrivers.end(), [&](const DriverRow& r) { return r.name == stem; });
    if (row == kDrivers.end() || parts[0].size() > kMaxVdevName) return unknown_driver(parts[0]);
    device.driver = row->driver;
    device.name = parts[0];
    required = row->required_arg;
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == parts[i].size()) {
      return fail("'{}' is no argument; allowed: DPDK's form, name,key=value,key=value", printable(parts[i]));
    }
    device.args.emplace_back(parts[i].substr(0, equals), parts[i].substr(equals + 1));
  }
  if (auto error = missing_arg(device, required)) return tl::unexpected(*std::move(error));
  const bool kernel_interface =
      device.driver == Driver::kAfPacket || device.driver == Driver::kAfXdp || device.driver == Driver::kTap;
  if (const auto iface = device.arg("iface"); iface && kernel_interface && iface->size() > 15) {
    return fail("interface name '{}' is too long; allowed: at most 15 octets", printable(*iface));
  }
  return device;
}

}  // namespace splitplane::app
