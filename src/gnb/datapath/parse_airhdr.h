// First stage of the uplink (ul_parse): reads airhdr of each frame of the air.
//
//   goes on  a frame with an RLC PDU: path.id has its identity, and path.bearer the line of it, prefetched
//   dropped  mbuf_segmented, not_air_frame, airhdr_bad_version, airhdr_bad_kind, airhdr_bad_length
#pragma once

#include "gnb/datapath/uplink_path.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
inline void parse_airhdr(UplinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  const unsigned received = burst.size;
  unsigned kept = 0;
  for (unsigned i = 0; i < received; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    burst.prefetch_mbuf_ahead(i);
    burst.prefetch_octets_ahead(i);
    const std::uint8_t* frame = octets(m);
    if (m->nb_segs != 1 || m->data_len < kRlcOffset || wire::load_be16(frame + 12) != wire::ethernet::kTypeAirhdr)
        [[unlikely]] {
      drops.add(m, m->nb_segs != 1 ? DropReason::mbuf_segmented : DropReason::not_air_frame);
      continue;
    }
    // Version 2, kind 0: an RLC PDU follows.
    if (frame[14] != 0x20) [[unlikely]] {
      if (path.gnb.card_moves.is_fence({frame, m->data_len})) {  // behind the clones that the card sent before it
        path.gnb.card_moves.pass_copies_fence();
        path.stats.punted.add(1);
        rte_pktmbuf_free(m);
        continue;
      }
      drops.add(m, frame[14] >> 4 != 2 ? DropReason::airhdr_bad_version : DropReason::airhdr_bad_kind);
      continue;
    }
    if (const unsigned bytes = kRlcOffset + wire::load_be16(frame + 22); bytes != m->data_len) [[unlikely]] {
      if (bytes > m->data_len) {
        drops.add(m, DropReason::airhdr_bad_length);
        continue;
      }
      rte_pktmbuf_trim(m, static_cast<std::uint16_t>(m->data_len - bytes));  // the link's padding
    }
    path.id[kept] = wire::load_be32(frame + 18);
    path.bearer[kept] = path.gnb.bearers.uplink_line(path.id[kept]);
    rte_prefetch0(path.bearer[kept]);
    burst.mbuf[kept++] = m;
  }
  burst.size = kept;
}

}  // namespace splitplane::datapath
