// A DPDK port as an object: any ethdev, virtual or PCI. It is configured and started, and stopped and removed at the
// end.
#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "base/ip_address.h"
#include "engine/checksum_mode.h"

namespace splitplane::datapath {

struct PortSettings {
  std::string name;    // from the configuration, for messages
  std::string device;  // devargs of a virtual device ("net_af_packet0,iface=n3") or a PCI address
  std::uint16_t rx_queues = 1, tx_queues = 1;
  std::uint16_t rx_descriptors = 1024, tx_descriptors = 1024;
  std::uint16_t mtu = 1500;
  bool promiscuous = true;
  // With several receive queues: packets go to queues by both IP addresses, whichever way they go (symmetric RSS).
  // So two ports give both directions of a connection the same queue number.
  bool spread_by_address = false;
  std::optional<ChecksumMode> checksums;  // absent: the NIC verifies them if it can, otherwise they are not verified
};

// What the driver counted since start: field, unit, help (see SPLITPLANE_WORKER_COUNTERS).
// clang-format off
#define SPLITPLANE_PORT_COUNTERS(X)                                                          \
  X(received, "packets", "received, by the driver's count")                                  \
  X(transmitted, "packets", "transmitted, by the driver's count")                            \
  X(received_bytes, "bytes", "octets received, by the driver's count")                       \
  X(transmitted_bytes, "bytes", "octets transmitted, by the driver's count")                 \
  X(rx_missed, "packets", "lost by the device because the receive queue was full")           \
  X(rx_errors, "packets", "received with errors")                                            \
  X(tx_errors, "packets", "not transmitted")                                                 \
  X(rx_no_mbuf, "packets", "not received for want of a buffer")
// clang-format on
#define SPLITPLANE_NUMBER_FIELD(field, unit, help) std::uint64_t field = 0;

struct PortCounters {
  SPLITPLANE_PORT_COUNTERS(SPLITPLANE_NUMBER_FIELD)
};

class GatedPort;

class Port {
 public:
  // Creates the device (virtual ones are hot-plugged), sets up its queues from `pool` and starts it. The error is one
  // sentence that names the port.
  static Expected<std::unique_ptr<Port>> open(const PortSettings& settings, rte_mempool* pool);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  [[nodiscard]] std::uint16_t id() const { return id_; }
  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] MacAddress mac() const;
  [[nodiscard]] std::uint16_t mtu() const { return settings_.mtu; }
  // The counters never fall, although memif forgets its counts while the other end is away.
  [[nodiscard]] PortCounters counters() const;
  // True if the driver gives its receiver the mbuf itself and not only its octets (net_ring). A shared mbuf must not be
  // sent there.
  [[nodiscard]] bool passes_mbufs() const;
  // What verifies the checksums of packets that this port receives.
  [[nodiscard]] ChecksumMode checksums() const { return checksums_; }

 private:
  Port(PortSettings settings, std::uint16_t id, std::string vdev);
  Expected<void> gate();
  [[nodiscard]] bool is_memif() const { return settings_.device.starts_with("net_memif"); }
  [[nodiscard]] bool is_vhost() const;
  PortSettings settings_;
  std::uint16_t id_;
  ChecksumMode checksums_ = ChecksumMode::off;
  std::string vdev_;  // name under which it was hot-plugged; empty for PCI
  bool virtio_ = false;
  std::unique_ptr<GatedPort> gated_;  // memif, vhost: their drivers remove memory while a worker polls
  mutable std::mutex counting_;
  mutable PortCounters counted_;
};

// Splits devargs at the first comma: {"net_af_packet0", "iface=n3"}.
[[nodiscard]] std::pair<std::string, std::string> split_devargs(std::string_view device);
// "0000:3b:00.0" or "3b:00.0".
[[nodiscard]] bool is_pci_address(std::string_view device);

}  // namespace splitplane::datapath
