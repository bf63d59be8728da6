// The configuration of `splitplane run` as plain data. read.h reads it from a file, check.h says whether its parts fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.h"
#include "gnb/datapath/feature_set.h"
#include "placement/decision/pins.h"
#include "placement/decision/settings.h"
#include "power/governor/backend.h"
#include "power/settings.h"
#include "ran/bearer_group.h"
#include "ran/session_config.h"
#include "runtime/config/config.h"
#include "runtime/config/schedule.h"
#include "tap/settings.h"

namespace splitplane::app {

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
  std::vector<std::string> dscp;          // "5=46": uplink packets of QoS flow 5 have DSCP 46; the others 0
  bool any_source = false;                // a bearer's G-PDUs may come from another address than its UPF's
};

// The air interface in header mode: frames with EtherType 0x88B5.
struct AirConfig {
  std::string port;
  MacAddress peer_mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
};

// The PHY of a worker in full mode, which it talks to by nFAPI over UDP, and the cell that the PHY is configured with.
struct PhyConfig {
  IpAddress address = IpAddress::v4({127, 0, 0, 1});  // of the PHY
  std::uint16_t p5_port = 7701, p7_port = 7702;
  IpAddress local = IpAddress::v4({127, 0, 0, 1});  // ours
  std::uint16_t local_p5_port = 7711, local_p7_port = 7712;
  std::uint16_t phy_id = 0;
  std::uint16_t max_datagram = 1472;  // octets of UDP
  std::uint8_t numerology = 1;
  std::uint16_t prbs = 106;               // in each direction
  std::uint8_t dl_mcs = 20, ul_mcs = 16;  // of all UEs: their channels are not known
  std::uint8_t lead_slots = 4;            // a slot is planned so far ahead of the one that the PHY is in
  std::uint8_t feedback_slots = 4;        // from a PDSCH to its HARQ-ACK, and from a DCI to its PUSCH
  std::uint8_t request_slots = 20;        // from one chance of a UE to ask for a grant to the next
  std::uint8_t max_retransmissions = 4;   // of a transport block
  std::uint16_t max_ues = 1024;           // with data or grants, in each direction
  std::uint8_t max_grants = 8;            // of a slot and direction

  friend bool operator==(const PhyConfig&, const PhyConfig&) = default;
};

struct WorkerConfig {
  enum class Function { kGnb, kL2fwd, kDispatch, kCopies };
  // Where the windows of acknowledged bearers are: nowhere, in the worker, or in the buffering service.
  enum class Baas { kNone, kInline, kProcess };
  std::string name;
  unsigned core = 0;
  Function function = Function::kGnb;
  datapath::FeatureSet features = datapath::FeatureSet::clone;
  std::string n3, air;      // gnb, dispatch: port names
  std::string rx, tx;       // l2fwd: port names; copies: rx, a port where a card's clones arrive, or empty
  std::uint16_t queue = 0;  // gnb: rx and tx queue index on its ports; tx queue only when fed by a dispatcher
  unsigned shard_first = 0, shard_last = 255;
  Baas baas = Baas::kNone;            // gnb
  std::size_t max_copies = 0;         // of all its bearers, at most; 0: see copies_limit.h
  std::uint64_t max_copy_octets = 0;  // of the SDUs that it keeps for retransmission; 0: no limit
  std::vector<std::string> to;        // dispatch: the gnb workers it feeds
  std::vector<std::string> from;      // copies: the gnb workers whose copies it consumes
  power::Settings policy;
  ScheduleConfig schedule;
  std::optional<unsigned> numa;  // where its ports' buffers and VFs should be; absent: the node of its core
  std::optional<PhyConfig> phy;  // gnb with features full; absent: nothing reaches a UE
  double slow_clock = 1;         // l2fwd: emulates a core of so much of the clock, for measurements
};

// The section `baas`: the buffering service, `splitplane baas` with the same file.
struct BaasConfig {
  std::vector<unsigned> cores;  // a loop each; the bearers of each worker are spread over them
  power::Settings policy;
  ScheduleConfig schedule;
  std::optional<MetricsConfig> metrics;  // of the service itself
};

// The section `power`: what measures the machine's power, what models it, and how frequencies are set.
struct PowerConfig {
  std::string sensor = "none";  // a word of power/sensor/choose.h
  std::string profile;          // path of a power profile; empty: nothing is modelled
  governor::Kind governor = governor::Kind::cpufreq;
  std::optional<unsigned> uncore_mhz;    // absent: the hardware chooses
  std::optional<unsigned> supply_watts;  // rated, of the power supply; absent: no estimate at the wall
  double unmetered_watts = 0;            // of what the sensor does not see, for that estimate
};

// An entry of the section `cards` of a `splitplane run` file: a card in front of some of its ports.
struct CardLinkConfig {
  std::string name;
  std::string control;           // control socket of its `splitplane card`
  std::vector<std::string> vfs;  // port names here, in the order of the card's
  std::string n3, air, copies;   // of `vfs`; copies may be empty
  std::optional<unsigned> numa;  // absent: not known
};

struct GnbConfig : ProgramConfig {
  std::string journal;              // path of the journal of bearers, or empty: none; read_gnb() fills in the default
  std::string key_file;             // keys of secured bearers; empty: none
  unsigned instance = 1;            // upper bits of our TEIDs, 0..63
  std::size_t max_bearers = 65536;  // 256 shards share them evenly; at most 256 * 2^18
  enum class Lookup { kTeid, kUeAddress };
  Lookup lookup = Lookup::kTeid;  // what of a downlink packet names its bearer
  std::size_t foreign_teids = 0;  // room for bearers with a dl_teid that somebody else chose
  std::vector<N3Config> n3;
  std::vector<AirConfig> air;
  std::vector<WorkerConfig> workers;
  std::vector<ran::BearerGroup> bearers;
  std::vector<ran::WantedSession> sessions;  // with several bearers each
  std::vector<tap::Settings> taps;
  std::vector<CardLinkConfig> cards;     // in front of ports here
  placement::Settings placement;         // which bearers live on them
  std::vector<placement::PinList> pins;  // beside what `placement` decides
  std::optional<BaasConfig> baas;
  std::optional<PowerConfig> power;  // absent: no sensor, no model
};

// "splitplane-baas": the name of the buffering service of this instance, in its lock and its control socket.
[[nodiscard]] inline std::string baas_instance(const GnbConfig& config) {
  return config.file_prefix + "-baas";
}
[[nodiscard]] inline bool uses_service(const WorkerConfig& worker) {
  return worker.function == WorkerConfig::Function::kGnb && worker.baas == WorkerConfig::Baas::kProcess;
}

}  // namespace splitplane::app
