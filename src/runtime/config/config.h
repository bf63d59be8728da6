// What the file of every program says, as plain data: its name, its log, DPDK's memory, its ports. A program's
// configuration is made from it: GnbConfig in gnb/config, CardConfig, UeConfig and TrafficConfig likewise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "config/finding.h"
#include "n3/rx_checksum.h"

namespace splitplane::app {

inline constexpr std::size_t kMaxPrefix = 32;
inline constexpr unsigned kMaxCore = 1023;
inline constexpr unsigned kMaxNumaNode = 1023;

struct MemoryConfig {
  enum class Hugepages { kAuto, kRequire, kNever };  // auto: use them when reserved, else --no-huge with a warning
  Hugepages hugepages = Hugepages::kAuto;
  std::size_t megabytes = 640;      // holds two ports without hugepages
  unsigned mbufs = 65535;           // in each port's pool
  unsigned mbuf_data_bytes = 2048;  // data room behind the headroom
};

struct PortConfig {
  std::string name;    // how the rest of the file refers to it
  std::string device;  // DPDK device: "net_af_packet,iface=n3" or a PCI address "0000:3b:00.0"
  std::uint16_t rx_queues = 1, tx_queues = 1;
  std::uint16_t rx_descriptors = 1024, tx_descriptors = 1024;
  std::uint16_t mtu = 1500;
  bool promiscuous = true;
  std::optional<datapath::ChecksumMode> checksum;  // of received packets; absent: by the card if it can, else not
};

// OpenMetrics over HTTP (observe/metrics_server.h).
struct MetricsConfig {
  IpAddress address;
  std::uint16_t port = 0;
  std::size_t bearers = 0;  // metrics of this many bearers, in the order of their identities
};

// "127.0.0.1:9464" or "[::1]:9464".
[[nodiscard]] std::string to_string(const MetricsConfig& metrics);
// True if two endpoints cannot listen at the same time: they have one port, and one address or 0.0.0.0 or [::].
[[nodiscard]] bool collide(const MetricsConfig& a, const MetricsConfig& b);

struct ProgramConfig : Source {
  std::string file_prefix = "splitplane";  // DPDK file prefix: one running instance each
  std::string control;  // path of the control socket; a reader fills in <runtime directory>/<file_prefix>.sock
  std::string log_level = "info";
  bool log_json = false;  // log_format: json
  std::optional<MetricsConfig> metrics;
  std::string sysfs_root = "/sys";  // where the cores' frequencies are read and set
  MemoryConfig memory;
  std::vector<PortConfig> ports;
};

}  // namespace splitplane::app
