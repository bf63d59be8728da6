// What the stages of the downlink share: the worker's context, the ways out, and what a stage leaves for the next ones
// beside the burst. Packet i of the burst has its G-PDU in gpdu[i] and its bearer's line in bearer[i].
#pragma once

#include <array>

#include "engine/burst.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/feature_set.h"
#include "n3/parse.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
struct DownlinkPath {
  ran::BearerDownlink& line(unsigned i) {
    if constexpr (F >= FeatureSet::mat) return *bearer[i];
    return gnb.fixed_bearer;
  }
  // As net_ring: the air port hands on the mbuf itself, so a reference is no copy.
  [[nodiscard]] bool air_passes_mbufs() const {
    if constexpr (requires(Sink s) { s.passes_mbufs; }) return air.passes_mbufs;
    return false;
  }

  GnbContext& gnb;
  WorkerStats& stats;
  Sink air, back;  // `back` leads to N3: frames that a card has to number go back to the card there
  Probe probe = {};
  unsigned slow = 0;     // the OR of GPdu::slow of this burst; not 0: the burst needs check_options
  bool ordered = false;  // this burst comes from the reordering, and was counted when it arrived
  std::array<GPdu, kBurst + 1> gpdu;
  std::array<ran::BearerDownlink*, kBurst + 1> bearer;
};

}  // namespace splitplane::datapath
