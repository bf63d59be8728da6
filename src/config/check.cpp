#include "config/check.h"

#include <rte_config.h>

#include <algorithm>
#include <set>

#include "config/check_bearers.h"
#include "config/check_workers.h"
#include "config/device.h"
#include "config/lookup.h"
#include "config/taps.h"
#include "ran/bearer_table.h"
#include "ran/key_table.h"

namespace splitplane::app {
namespace {

constexpr unsigned kVirtioUserQueues = 8;    // VIRTIO_MAX_VIRTQUEUE_PAIRS of DPDK 22.11, in each direction
constexpr unsigned kFrameOverhead = 14 + 8;  // Ethernet header and two VLAN tags in front of the MTU
// What one mbuf takes besides its data: struct rte_mbuf, headroom, mempool object header.
constexpr std::size_t kMbufOverhead = 128 + 128 + 64;
// Ordinary memory comes in pages of 4 KiB, and DPDK lets no buffer cross a page.
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kOtherBytes = std::size_t{8} << 20;  // rings, drivers, what the allocator leaves unused

std::optional<Finding> check_device(const Config& config, const PortConfig& port, std::set<std::string>& names,
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

std::optional<Finding> check_n3(const Config& config, std::set<std::string>& taken) {
  std::set<std::string> addresses;
  for (std::size_t i = 0; i < config.n3.size(); ++i) {
    const N3Config& n3 = config.n3[i];
    const std::string key = fmt::format("n3[{}]", i);
    if (auto finding = check_port_name(config, key + ".port", n3.port)) return finding;
    if (!taken.insert(n3.port).second) {
      return Finding{key + ".port",
                     fmt::format("port {} is used twice; allowed: one entry of n3 or air a port", n3.port)};
    }
    if (!n3.ipv4 && !n3.ipv6) return Finding{key, "has no address; allowed: ipv4, ipv6 or both"};
    for (const auto& [name, own, gateway] :
         {std::tuple{"ipv4", n3.ipv4, n3.gateway_ipv4}, {"ipv6", n3.ipv6, n3.gateway_ipv6}}) {
      if (own && !addresses.insert(own->to_string()).second) {
        return Finding{fmt::format("{}.{}", key, name),
                       fmt::format("{} is the address of another n3 entry; allowed: one of its own", own->to_string())};
      }
      if (!gateway) continue;
      const std::string gateway_key = fmt::format("{}.gateway_{}", key, name);
      if (!own)
        return Finding{gateway_key, fmt::format("there is no {} address here; allowed: with {} only", name, name)};
      if (*gateway == *own) return Finding{gateway_key, "is our own address; allowed: the next hop's"};
    }
  }
  return std::nullopt;
}

std::optional<Finding> check_air(const Config& config, std::set<std::string>& taken) {
  for (std::size_t i = 0; i < config.air.size(); ++i) {
    const std::string& port = config.air[i].port;
    const std::string key = fmt::format("air[{}].port", i);
    if (auto finding = check_port_name(config, key, port)) return finding;
    if (!taken.insert(port).second) {
      return Finding{key, fmt::format("port {} is used twice; allowed: one entry of n3 or air a port", port)};
    }
  }
  return std::nullopt;
}

// Tables of keys that are not ours, in every worker that looks for bearers.
std::size_t key_table_bytes(const Config& config) {
  using Short = ran::KeyTable<ran::Ipv4Key>;
  using Long = ran::KeyTable<ran::Ipv6Key>;
  const auto holders = std::count_if(config.workers.begin(), config.workers.end(), [](const WorkerConfig& worker) {
    return worker.function == WorkerConfig::Function::kGnb || worker.function == WorkerConfig::Function::kDispatch;
  });
  std::size_t each = config.foreign_teids == 0 ? 0 : Short::bytes_needed(config.foreign_teids);
  if (config.lookup == Config::Lookup::kUeAddress) {
    each += Short::bytes_needed(config.max_bearers) + Long::bytes_needed(config.max_bearers);
  }
  return each * static_cast<std::size_t>(holders);
}

std::size_t bearer_bytes(const Config& config) {
  if (config.ue || config.is_traffic()) return 0;
  if (config.card) return card_bytes(*config.card);
  return config.max_bearers * ran::kBytesPerBearer + key_table_bytes(config);
}

std::optional<Finding> check_ports(const Config& config) {
  if (config.ports.size() > RTE_MAX_ETHPORTS) {
    return Finding{"ports", fmt::format("has {} ports, and this build of DPDK carries {}; allowed: at most {}",
                                        config.ports.size(), RTE_MAX_ETHPORTS, RTE_MAX_ETHPORTS)};
  }
  std::set<std::string> devices;
  std::set<std::string> interfaces;
  for (const auto& port : config.ports) {
    if (auto finding = check_device(config, port, devices, interfaces)) return finding;
  }
  std::set<std::string> taken;
  if (auto finding = check_n3(config, taken)) return finding;
  if (auto finding = check_air(config, taken)) return finding;
  return check_room(config, config.memory.hugepages != MemoryConfig::Hugepages::kNever);
}

}  // namespace

std::optional<Finding> check_room(const Config& config, bool hugepages) {
  const auto& memory = config.memory;
  std::size_t buffer_bytes = memory.mbuf_data_bytes + kMbufOverhead;
  std::size_t other_bytes = 0;
  if (!hugepages) {
    buffer_bytes = buffer_bytes > kPageBytes ? (buffer_bytes + kPageBytes - 1) / kPageBytes * kPageBytes
                                             : kPageBytes / (kPageBytes / buffer_bytes);
    other_bytes = kOtherBytes;
  }
  const std::size_t pool_count = config.card ? 1 : config.ports.size();  // a card's ports share one
  const std::size_t pools = pool_count * memory.mbufs * buffer_bytes;
  const std::size_t bearers = bearer_bytes(config);
  const std::size_t needed = pools + bearers + other_bytes;
  if (needed <= memory.megabytes << 20) return std::nullopt;
  return Finding{
      "memory.megabytes",
      fmt::format("is {}, but {}the buffers of {} take {} MB and the bearers {} MB; allowed: at least {}, or "
                  "fewer mbufs, max_bearers or foreign_teids",
                  memory.megabytes, hugepages ? "" : "without hugepages ",
                  config.card ? "the card" : fmt::format("{} port(s)", config.ports.size()), pools >> 20, bearers >> 20,
                  (needed >> 20) + 1)};
}

std::optional<Finding> check_references(const Config& config) {
  if (auto finding = check_ports(config)) return finding;
  if (config.ue) return check_ue(config);
  if (config.is_traffic()) return check_traffic(config);
  if (config.card) return check_card(config);
  if (auto finding = check_cards(config)) return finding;
  if (auto finding = check_workers(config)) return finding;
  if (auto finding = check_taps(config)) return finding;
  return check_bearers(config);
}

}  // namespace splitplane::app
