// Last stage of the downlink (dl_tx): hands the burst to the air port.
//
//   sent      the frames that the port accepts
//   deferred  a frame that the bearer's window has: it is sent again when the peer reports it as missing
//   dropped   tx_full: the other frames, counted at their bearers
#pragma once

#include "gnb/datapath/downlink_path.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void drop_unsent(DownlinkPath<F, Sink, Probe>& path, Burst& burst, unsigned sent) {
  for (unsigned i = sent; i < burst.size; ++i) {
    if constexpr (F == FeatureSet::clone) {
      if (path.gnb.arq != nullptr && path.gnb.arq_bearers.find(path.bearer[i]->id) != nullptr) {
        path.stats.rlc_deferred.add(1);
        continue;
      }
    }
    path.stats.drop(DropReason::tx_full);
    if constexpr (F >= FeatureSet::mat) ++path.gnb.bearers.drops(path.bearer[i]->id).downlink;
  }
  rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, burst.size - sent);
}

template <FeatureSet F, class Sink, class Probe>
inline void transmit_air(DownlinkPath<F, Sink, Probe>& path, Burst& burst) {
  const unsigned sent = path.air.send(burst.mbuf.data(), burst.size);
  path.stats.transmitted_air.add(sent);
  if (sent < burst.size) [[unlikely]]
    drop_unsent(path, burst, sent);
  path.probe.stage(Stage::dl_tx, burst.size);
}

}  // namespace splitplane::datapath
