// Tells the card of packets that came up to this worker and were dropped here: the card counts the packets of a bearer
// that are at the host, and lets later ones follow them.
#pragma once

#include "gnb/datapath/downlink_path.h"
#include "gnb/datapath/returned_frame.h"
#include "n3/frame_teid.h"

namespace splitplane::datapath {

// Makes a returned frame without an SDU of each dropped packet of a bearer that a card numbers.
template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void settle(DownlinkPath<F, Sink, Probe>& path, Drops& drops) {
  GnbContext& gnb = path.gnb;
  Burst settled;
  drops.take_back([&](rte_mbuf* m) {
    const std::uint32_t teid = m->nb_segs == 1 ? teid_of_frame(octets(m), m->data_len) : 0;
    if (teid == 0 || !ran::is_on_card(*gnb.bearers.downlink_line(teid), teid)) return false;
    std::uint8_t* const frame = octets(m);  // it is longer than what it becomes
    m->data_len = kReturnedHeaderBytes;
    m->pkt_len = kReturnedHeaderBytes;
    write_air_header(gnb.air_header, frame);
    write_returned(teid, 0, 0, frame + 14);
    settled.mbuf[settled.size++] = m;
    return true;
  });
  if (settled.size == 0) return;
  const unsigned sent = path.back.send(settled.mbuf.data(), settled.size);
  path.stats.settled.add(sent);
  rte_pktmbuf_free_bulk(settled.mbuf.data() + sent, settled.size - sent);
}

}  // namespace splitplane::datapath
