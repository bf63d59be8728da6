// Fifth stage of the downlink (dl_clone): keeps a reference to each frame, for the consumer of copies or for
// retransmission. From here on the frames are immutable, because the air and the keeper both hold them.
//
//   goes on   every frame; its reference is on the ring of copies or in the bearer's window (with `baas`)
//   deferred  a frame of an acknowledged bearer that cannot be copied: the window sends it when the peer misses it
//   dropped   no frame; references that the ring or the pool has no room for are counted (copies_lost)
#pragma once

#include <rte_cycles.h>

#include "gnb/datapath/downlink_path.h"

namespace splitplane::datapath {

// Returns false if the packet was numbered but cannot be copied. The window keeps it and sends it when the peer reports
// it as missing.
template <FeatureSet F, class Sink, class Probe>
[[nodiscard]] inline bool keep_pdu(DownlinkPath<F, Sink, Probe>& path, ArqBearer& arq, rte_mbuf* m, std::uint64_t now) {
  path.stats.copies.add(1);
  rte_mbuf* kept = m;
  if (path.air_passes_mbufs()) [[unlikely]] {
    kept = rte_pktmbuf_copy(m, path.gnb.pool, 0, UINT32_MAX);
  } else {
    rte_mbuf_refcnt_update(m, 1);
  }
  path.gnb.arq->keep(arq, kept == nullptr ? m : kept, now);
  if (kept == nullptr) path.stats.rlc_deferred.add(1);
  return kept != nullptr;
}

template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void keep_for_retransmission(DownlinkPath<F, Sink, Probe>& path, Burst& burst) {
  GnbContext& gnb = path.gnb;
  std::array<ArqBearer*, kBurst> arq;
  for (unsigned i = 0; i < burst.size; ++i) arq[i] = gnb.arq_bearers.find(path.bearer[i]->id);
  gnb.arq->poll_last({arq.data(), burst.size}, {burst.mbuf.data(), burst.size},
                     [&path](std::size_t i) { path.bearer[i]->pdu_without_poll = 0; });
  const std::uint64_t now = rte_rdtsc();
  unsigned to_send = 0;
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* const m = burst.mbuf[i];
    if (arq[i] != nullptr && !keep_pdu(path, *arq[i], m, now)) continue;
    path.bearer[to_send] = path.bearer[i];
    burst.mbuf[to_send++] = m;
  }
  burst.size = to_send;
}

template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void hand_off_real_copies(DownlinkPath<F, Sink, Probe>& path, const Burst& burst) {
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* copy = rte_pktmbuf_copy(burst.mbuf[i], path.gnb.pool, 0, UINT32_MAX);
    if (copy != nullptr && rte_ring_sp_enqueue(path.gnb.copies, copy) == 0) {
      path.stats.copies.add(1);
    } else {
      rte_pktmbuf_free(copy);
      path.stats.copies_lost.add(1);
    }
  }
}

template <FeatureSet F, class Sink, class Probe>
inline void take_references(DownlinkPath<F, Sink, Probe>& path, Burst& burst) {
  if constexpr (F == FeatureSet::clone) {
    if (path.gnb.arq != nullptr) {
      keep_for_retransmission(path, burst);
    } else if (path.air_passes_mbufs()) [[unlikely]] {
      hand_off_real_copies(path, burst);
    } else {
      for (unsigned i = 0; i < burst.size; ++i) rte_mbuf_refcnt_update(burst.mbuf[i], 1);
      const unsigned taken = RingSink{path.gnb.copies}.send(burst.mbuf.data(), burst.size);
      path.stats.copies.add(taken);
      if (taken < burst.size) [[unlikely]] {
        for (unsigned i = taken; i < burst.size; ++i) rte_mbuf_refcnt_update(burst.mbuf[i], -1);
        path.stats.copies_lost.add(burst.size - taken);
      }
    }
  } else {
    for (unsigned i = 0; i < burst.size; ++i) rte_mbuf_refcnt_update(burst.mbuf[i], 1);
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);  // "clone dropped": the second reference goes at once
    path.stats.copies.add(burst.size);
  }
  path.probe.stage(Stage::dl_clone, burst.size);
}

}  // namespace splitplane::datapath
