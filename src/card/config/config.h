// The configuration of `splitplane card` as plain data. read.h reads it from a file, check.h says whether its parts
// fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "card/execution.h"
#include "gnb/datapath/feature_set.h"
#include "power/settings.h"
#include "runtime/config/config.h"
#include "runtime/config/schedule.h"

namespace splitplane::app {

inline constexpr unsigned kMarkCount = 64;  // of the outer Identification's low 6 bits (paper P4, offload manager)

// Where a wire of program p4wire ends.
struct WireTarget {
  enum class Kind { kN3, kAir, kVf, kSpread };  // kSpread: round robin over all VFs
  Kind kind = Kind::kSpread;
  unsigned vf = 0;  // kVf
};

// A P4 program on one core or several, between physical ports and VFs: the section `card`, and what every file says.
struct CardConfig : ProgramConfig {
  enum class Program { kGnb, kL2fwd, kP4wire };
  enum class Lookup { kTeid, kUeAddress };
  std::string name = "card0";
  Program program = Program::kGnb;
  datapath::FeatureSet features = datapath::FeatureSet::clone;  // gnb
  Lookup lookup = Lookup::kTeid;                                // gnb
  nic::VfSpread spread = nic::VfSpread::kBearer;                // gnb: over the VFs of punt_n3 and of punt_air
  std::optional<unsigned> marks;  // gnb: marks below this are the card's, the others the host's; absent: no marks
  std::string specs;              // directory of the .spec files; empty: the one that came with the program
  nic::Execution execution = nic::Execution::kCompiled;
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

// Whether the card needs the program's variant MARKER: for marks, or to deal out over VFs.
[[nodiscard]] bool has_marker(const CardConfig& card);

// "gnb-clone-ue": which of the .spec files the card loads.
[[nodiscard]] std::string spec_name(const CardConfig& card);

// How many VFs the card has: the queue pairs of its VF ports.
[[nodiscard]] unsigned vf_count(const CardConfig& card);

}  // namespace splitplane::app
