// The configuration of `splitplane run`, `ue`, `gen`, `sink` and `nic` as plain data. load.cpp reads it from
// YAML and refuses what it does not know; config/schema.json describes the same for editors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "config/card.h"
#include "config/card_link.h"
#include "config/schedule.h"
#include "config/traffic.h"
#include "config/ue.h"
#include "gnb/datapath/feature_set.h"
#include "n3/rx_checksum.h"
#include "power/settings.h"
#include "ran/bearer_config.h"
#include "tap/settings.h"

namespace splitplane::app {

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

// Supervision of the UPFs by GTP-U Echo (TS 29.281 7.2).
struct EchoConfig {
  unsigned interval_s = 60;  // between requests to one UPF; 0: none are sent
  unsigned timeout_s = 3;    // T3-RESPONSE: how long an answer may take
  unsigned retries = 2;      // how often an unanswered request is repeated before the path is down
};

// An N3 interface: a port, and the addresses of ours on it (at most one of each family).
struct N3Config {
  std::string port;
  std::optional<IpAddress> ipv4, ipv6;
  std::optional<IpAddress> gateway_ipv4, gateway_ipv6;  // next hop for peers; absent: the peer itself is on link
  std::optional<MacAddress> peer_mac;                   // absent: resolved by ARP / neighbour discovery
  EchoConfig echo;
  unsigned error_indications_per_s = 10;  // to one peer; as many Supported Extension Headers Notifications; 0: none
  unsigned released_teid_silence_s = 5;   // a TEID just released draws no Error Indication for so long
  std::uint16_t vlan = 0;                 // receives and sends in this VLAN only; 0: untagged only
  bool any_source = false;                // a bearer's G-PDUs may come from another address than its UPF's
};

// The air interface in header mode: frames with EtherType 0x88B5.
struct AirConfig {
  std::string port;
  MacAddress peer_mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
};

struct WorkerConfig {
  enum class Function { kGnb, kL2fwd, kDispatch, kCopies };
  std::string name;
  unsigned core = 0;
  Function function = Function::kGnb;
  datapath::FeatureSet features = datapath::FeatureSet::clone;
  std::string n3, air;      // gnb, dispatch: port names
  std::string rx, tx;       // l2fwd: port names; copies: rx, a port where a card's clones arrive, or empty
  std::uint16_t queue = 0;  // gnb: rx and tx queue index on its ports; tx queue only when fed by a dispatcher
  unsigned shard_first = 0, shard_last = 255;
  bool baas_inline = false;        // gnb: keeps copies itself, and sends them again (baas: inline)
  std::size_t max_copies = 16384;  // ... so many of all its bearers
  std::vector<std::string> to;     // dispatch: the gnb workers it feeds
  std::vector<std::string> from;   // copies: the gnb workers whose copies it consumes
  power::Settings policy;
  ScheduleConfig schedule;
  std::optional<unsigned> numa;  // where its ports' buffers and VFs should be; absent: the node of its core
  double slow_clock = 1;         // l2fwd: emulates a core of so much of the clock, for measurements
};

// `count` bearers that differ by one in uplink TEID and UE address; identities are given out by the gNB in shard order.
struct BearerGroupConfig {
  std::size_t count = 1;
  ran::BearerConfig first;
  std::optional<unsigned> shard;  // all of them in this shard; absent: the gNB spreads them
};

// The i-th bearer of a group: uplink TEID and UE addresses are `i` further on than the first's.
[[nodiscard]] ran::BearerConfig bearer_at(const BearerGroupConfig& group, std::size_t i);

// OpenMetrics over HTTP (observe/metrics_server.h).
struct MetricsConfig {
  IpAddress address;
  std::uint16_t port = 0;
  std::size_t bearers = 0;  // metrics of this many bearers, in the order of their identities
};

// "127.0.0.1:9464" or "[::1]:9464".
[[nodiscard]] std::string to_string(const MetricsConfig& metrics);

struct Config {
  std::string file;                        // where it came from, for messages
  std::string file_prefix = "splitplane";  // DPDK file prefix: one running instance each
  std::string control;  // path of the control socket; load_config fills in <runtime directory>/<file_prefix>.sock
  std::string journal;  // path of the journal of bearers, or empty: none; load_config fills in the default
  std::string log_level = "info";
  bool log_json = false;  // log_format: json
  std::optional<MetricsConfig> metrics;
  unsigned instance = 1;            // upper bits of our TEIDs, 0..63
  std::size_t max_bearers = 65536;  // 256 shards share them evenly; at most 256 * 2^18
  enum class Lookup { kTeid, kUeAddress };
  Lookup lookup = Lookup::kTeid;    // what of a downlink packet names its bearer
  std::size_t foreign_teids = 0;    // room for bearers with a dl_teid that somebody else chose
  std::string sysfs_root = "/sys";  // where the cores' frequencies are read and set
  MemoryConfig memory;
  std::vector<PortConfig> ports;
  std::vector<N3Config> n3;
  std::vector<AirConfig> air;
  std::vector<WorkerConfig> workers;
  std::vector<BearerGroupConfig> bearers;
  std::vector<tap::Settings> taps;
  std::vector<CardLinkConfig> cards;  // in front of ports here
  std::optional<UeConfig> ue;         // in a `splitplane ue` file, instead of n3, air, workers and bearers
  std::optional<GenConfig> gen;       // in a `splitplane gen` file, instead of the same
  std::optional<SinkConfig> sink;     // in a `splitplane sink` file, or beside gen
  std::optional<CardConfig> card;     // in a `splitplane card` file, instead of the same
  std::map<std::string, int> lines;   // key path -> line of the file, for messages

  [[nodiscard]] bool is_traffic() const { return gen.has_value() || sink.has_value(); }
};

}  // namespace splitplane::app
