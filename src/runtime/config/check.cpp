#include "runtime/config/check.h"

#include <fmt/format.h>
#include <rte_config.h>

#include <set>

#include "runtime/config/device.h"

namespace splitplane::app {
namespace {

constexpr unsigned kVirtioUserQueues = 8;    // VIRTIO_MAX_VIRTQUEUE_PAIRS of DPDK 22.11, in each direction
constexpr unsigned kFrameOverhead = 14 + 8;  // Ethernet header and two VLAN tags in front of the MTU
// What one mbuf takes besides its data: struct rte_mbuf, headroom, mempool object header.
constexpr std::size_t kMbufOverhead = 128 + 128 + 64;
// Ordinary memory comes in pages of 4 KiB, and DPDK lets no buffer cross a page.
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kOtherBytes = std::size_t{8} << 20;  // rings, drivers, what the allocator leaves unused

std::optional<Finding> check_device(const ProgramConfig& config, const PortConfig& port, std::set<std::string>& names,
                                    std::set<std::string>& interfaces) {
  const std::string key = "ports." + port.name;
  const auto device = parse_device(port.device);
  if (!device) return Finding{key + ".device", device.error().message};
  if (!names.insert(device->name).second) {
    return Finding{key + ".device",
                   fmt::format("'{}' is the name of another port's device; allowed: a name of its own, such as "
                               "net_null0 and net_null1",
                               device->name)};
  }
  if (const auto iface = device->arg("iface");
      iface && device->driver == Driver::kAfPacket && !interfaces.insert(*iface).second) {
    return Finding{key + ".device",
                   fmt::format("interface {} belongs to another port, and each would receive every packet; "
                               "allowed: one port an interface, with qpairs=N for N queues",
                               *iface)};
  }
  if (device->driver == Driver::kVirtioUser && device->queues().value_or(1) > kVirtioUserQueues) {
    return Finding{key + ".device",
                   fmt::format("has {} queues, and DPDK's virtio_user has at most {}; allowed: that, and further ports "
                               "for further queues",
                               *device->queues(), kVirtioUserQueues)};
  }
  if (const auto queues = device->queues()) {
    const bool spreads = device->driver == Driver::kAfPacket || device->driver == Driver::kAfXdp;
    if (port.rx_queues > *queues || (spreads && port.rx_queues != *queues)) {
      return Finding{key + ".rx_queues",
                     fmt::format("is {}, but the device has {} by its arguments, and spreads packets over all; "
                                 "allowed: {}",
                                 port.rx_queues, *queues, *queues)};
    }
    if (port.tx_queues > *queues) {
      return Finding{key + ".tx_queues", fmt::format("is {}, but the device has {} by its arguments; allowed: 1 to {}",
                                                     port.tx_queues, *queues, *queues)};
    }
  }
  if (port.mtu + kFrameOverhead > config.memory.mbuf_data_bytes) {
    return Finding{
        key + ".mtu",
        fmt::format("is {}, and a frame of that does not fit memory.mbuf_data_bytes = {}; allowed: at "
                    "most {}",
                    port.mtu, config.memory.mbuf_data_bytes, config.memory.mbuf_data_bytes - kFrameOverhead)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_devices(const ProgramConfig& config) {
  if (config.ports.size() > RTE_MAX_ETHPORTS) {
    return Finding{"ports", fmt::format("has {} ports, and this build of DPDK carries {}; allowed: at most {}",
                                        config.ports.size(), RTE_MAX_ETHPORTS, RTE_MAX_ETHPORTS)};
  }
  std::set<std::string> devices;
  std::set<std::string> interfaces;
  for (const auto& port : config.ports) {
    if (auto finding = check_device(config, port, devices, interfaces)) return finding;
  }
  return std::nullopt;
}

MemoryNeeds memory_of_ports(const ProgramConfig& config) {
  return {.pools = config.ports.size(), .owner = fmt::format("{} port(s)", config.ports.size())};
}

std::optional<Finding> check_room(const ProgramConfig& config, const MemoryNeeds& needs, bool hugepages) {
  const auto& memory = config.memory;
  std::size_t buffer_bytes = memory.mbuf_data_bytes + kMbufOverhead;
  std::size_t other_bytes = 0;
  if (!hugepages) {
    buffer_bytes = buffer_bytes > kPageBytes ? (buffer_bytes + kPageBytes - 1) / kPageBytes * kPageBytes
                                             : kPageBytes / (kPageBytes / buffer_bytes);
    other_bytes = kOtherBytes;
  }
  const std::size_t pools = needs.pools * memory.mbufs * buffer_bytes;
  const std::size_t needed = pools + needs.bearer_bytes + other_bytes;
  if (needed <= memory.megabytes << 20) return std::nullopt;
  return Finding{
      "memory.megabytes",
      fmt::format("is {}, but {}the buffers of {} take {} MB and the bearers {} MB; allowed: at least {}, or "
                  "fewer mbufs, max_bearers or foreign_teids",
                  memory.megabytes, hugepages ? "" : "without hugepages ", needs.owner, pools >> 20,
                  needs.bearer_bytes >> 20, (needed >> 20) + 1)};
}

std::optional<Finding> check_room(const ProgramConfig& config, const MemoryNeeds& needs) {
  return check_room(config, needs, config.memory.hugepages != MemoryConfig::Hugepages::kNever);
}

}  // namespace splitplane::app
