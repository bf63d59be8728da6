// The section `card` of a `splitplane card` file: its keys as plain data (part of config.h's Config), reader and
// checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/schedule.h"
#include "gnb/datapath/feature_set.h"
#include "power/settings.h"

namespace splitplane::app {

class YamlValue;
struct Config;
struct Finding;
struct PortConfig;

inline constexpr unsigned kMaxNumaNode = 1023;
inline constexpr unsigned kMaxVfs = 64;     // of one card: the P4 programs number them so
inline constexpr unsigned kMarkCount = 64;  // of the outer Identification's low 6 bits (paper P4, offload manager)

// Where a wire of program p4wire ends.
struct WireTarget {
  enum class Kind { kN3, kAir, kVf, kSpread };  // kSpread: round robin over all VFs
  Kind kind = Kind::kSpread;
  unsigned vf = 0;  // kVf
};

// A P4 program on one core or several, between physical ports and VFs.
struct CardConfig {
  enum class Program { kGnb, kL2fwd, kP4wire };
  enum class Lookup { kTeid, kUeAddress };
  std::string name = "card0";
  Program program = Program::kGnb;
  datapath::FeatureSet features = datapath::FeatureSet::clone;  // gnb
  Lookup lookup = Lookup::kTeid;                                // gnb
  std::optional<unsigned> marks;   // gnb: marks below this are the card's, the others the host's; absent: no marks
  std::string specs;               // directory of the .spec files; empty: the one that came with the program
  std::vector<unsigned> cores{0};  // a loop each; several share the bearers among them
  std::optional<unsigned> numa;    // absent: the node of its physical ports, else of its first core
  power::Settings policy;
  ScheduleConfig schedule;
  std::string n3, air;            // port names; may be empty unless the program is gnb
  std::vector<std::string> vfs;   // port names; queue q of the i-th is the VF behind all queues of those before
  std::string punt_n3, punt_air;  // of `vfs`: the first queue takes what that side punts and no bearer names a VF for
  bool verify_udp_checksum = false;  // gnb: packets with an outer UDP checksum go to the host, which can look at it
  std::size_t max_bearers = 65536;   // gnb
  std::optional<WireTarget> wire_n3, wire_air;  // p4wire
  std::vector<WireTarget> wire_vfs;             // p4wire: one for all, or one each
};

// "gnb-clone-ue": which of the .spec files the card loads.
[[nodiscard]] std::string spec_name(const CardConfig& card);

// Reads the section. `ports` are the file's; a wire to all VFs needs their queues. Throws Refusal.
[[nodiscard]] CardConfig read_card(const YamlValue& value, const std::vector<PortConfig>& ports);
// Checks that the card's ports, VFs and wires are there, and that no port is left over.
[[nodiscard]] std::optional<Finding> check_card(const Config& config);
// How many VFs the card has: the queue pairs of its VF ports.
[[nodiscard]] unsigned vf_count(const Config& config);
// The share of DPDK's memory that tables and registers of its program need.
[[nodiscard]] std::size_t card_bytes(const CardConfig& card);

}  // namespace splitplane::app
