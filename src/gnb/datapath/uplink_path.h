// What the stages of the uplink share: the worker's context, the way out, and what a stage leaves for the next ones
// beside the burst. Packet i of the burst has its identity in id[i], its bearer's line in bearer[i], its QFI in qfi[i].
#pragma once

#include <array>

#include "engine/burst.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/feature_set.h"
#include "ran/header_mode.h"

namespace splitplane::datapath {

// Where the RLC PDU begins in an air frame.
inline constexpr unsigned kRlcOffset = 14 + ran::kAirhdrBytes;

template <FeatureSet F, class Sink, class Probe>
struct UplinkPath {
  GnbContext& gnb;
  WorkerStats& stats;
  Sink n3;
  Probe probe = {};
  std::array<std::uint32_t, kBurst> id;
  std::array<ran::BearerUplink*, kBurst> bearer;
  std::array<std::uint8_t, kBurst> qfi;
};

}  // namespace splitplane::datapath
