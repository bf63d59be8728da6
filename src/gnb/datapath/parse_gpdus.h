// First stage of the downlink (dl_parse): finds TEID, QoS flow and T-PDU in each frame of N3.
//
//   goes on  a G-PDU: path.gpdu has its keys, and path.bearer the line that its TEID names, prefetched
//   punted   ARP, neighbor discovery and GTP-U messages of the control thread; a card's fence, which ends the burst:
//            what came behind it waits until the fence is passed (GnbDownlink::process)
//   dropped  mbuf_segmented, vlan_wrong, not_for_us, icmp, icmp_unreachable, gtpu_message, gtpu_no_payload, punt_full,
//            punt_limited, and the parsers' reasons (wire/reason.h)
#pragma once

#include "gnb/datapath/downlink_path.h"
#include "gnb/datapath/slow_path.h"

namespace splitplane::datapath {

template <bool kTagged, FeatureSet F, class Sink, class Probe>
inline void parse_gpdus(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  GnbContext& gnb = path.gnb;
  unsigned received = burst.size;
  const std::uint32_t our_ipv4 = gnb.n3.ipv4;
  const std::uint16_t vlan = gnb.n3.vlan;
  unsigned kept = 0;
  for (unsigned i = 0; i < received; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    burst.prefetch_mbuf_ahead(i);
    GPdu& gpdu = path.gpdu[kept];
    if (m->nb_segs == 1 && parse_n3_fast<kTagged>(octets(m), m->data_len, our_ipv4, vlan, gpdu)) [[likely]] {
    } else if (m->nb_segs == 1 && gnb.card_moves.is_fence({octets(m), m->data_len})) {
      gnb.card_moves.split_at(m, burst.mbuf.data() + i + 1, received - i - 1);
      path.stats.punted.add(1);
      received = i + 1;
      break;
    } else if (!parse_slow(m, gnb.n3, gnb.punt, path.stats, drops, gpdu)) {
      continue;
    }
    path.slow |= gpdu.slow;
    if constexpr (F >= FeatureSet::mat) {
      path.bearer[kept] = gnb.bearers.downlink_line(gpdu.teid);
      rte_prefetch0(path.bearer[kept]);
    }
    burst.mbuf[kept++] = m;
  }
  burst.size = kept;
  path.probe.parsed(path.gpdu.data(), kept);
  path.probe.stage(Stage::dl_parse, path.ordered ? 0 : received);
}

template <FeatureSet F, class Sink, class Probe>
inline void parse_gpdus(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  path.slow = 0;
  path.gnb.n3.sends_tagged() ? parse_gpdus<true>(path, burst, drops) : parse_gpdus<false>(path, burst, drops);
}

}  // namespace splitplane::datapath
