// Last stage of the uplink (ul_tx): hands the burst to the N3 port.
//
//   sent     the frames that the port accepts
//   dropped  tx_full: the other frames, counted at their bearers
#pragma once

#include "gnb/datapath/uplink_path.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void drop_unsent(UplinkPath<F, Sink, Probe>& path, Burst& burst, unsigned sent) {
  path.stats.drop(DropReason::tx_full, burst.size - sent);
  if constexpr (F >= FeatureSet::decap) {
    for (unsigned i = sent; i < burst.size; ++i) ++path.gnb.bearers.drops(path.bearer[i]->id).uplink;
  }
  rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, burst.size - sent);
}

template <FeatureSet F, class Sink, class Probe>
inline void transmit_n3(UplinkPath<F, Sink, Probe>& path, Burst& burst) {
  const unsigned sent = path.n3.send(burst.mbuf.data(), burst.size);
  path.stats.transmitted_n3.add(sent);
  if (sent < burst.size) [[unlikely]]
    drop_unsent(path, burst, sent);
  path.probe.stage(Stage::ul_tx, burst.size);
}

}  // namespace splitplane::datapath
