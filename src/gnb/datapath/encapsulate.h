// Third stage of the uplink (ul_encap): writes the outer headers of the bearer's UPF, with GTP-U and the UL PDU Session
// Container, in the place of the RAN headers.
//
//   goes on  a frame for N3
//   dropped  peer_unresolved, uplink_stopped, above_mtu, no_headroom, each counted at the bearer
#pragma once

#include "gnb/datapath/slow_path.h"
#include "gnb/datapath/uplink_path.h"

namespace splitplane::datapath {

template <unsigned kTagBytes, FeatureSet F, class Sink, class Probe>
inline void encapsulate(UplinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  GnbContext& gnb = path.gnb;
  const unsigned received = burst.size;
  unsigned kept = 0;
  for (unsigned i = 0; i < received; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    ran::BearerUplink& bearer = *path.bearer[i];
    const N3Peer& peer = gnb.peers[bearer.peer];
    const unsigned strip = kRlcOffset + bearer.header_bytes;
    const unsigned payload = m->data_len - strip;
    const bool fits = payload <= peer.max_payload;  // nothing fits a next hop that is not resolved
    std::uint8_t* frame = fits ? reframe(m, strip, peer.header_bytes, payload) : nullptr;
    if (frame != nullptr) [[likely]] {
      write_uplink<kTagBytes>(peer, bearer.uplink_teid, path.qfi[i], gnb.n3.tos[path.qfi[i]], payload, frame);
    } else if (const DropReason reason = encapsulate_slow(gnb, m, bearer, path.qfi[i], strip, payload);
               reason != DropReason::ok) {
      drops.add(m, reason);
      ++gnb.bearers.drops(bearer.id).uplink;
      continue;
    }
    path.bearer[kept] = path.bearer[i];
    burst.mbuf[kept++] = m;
  }
  burst.size = kept;
  path.probe.stage(Stage::ul_encap, received);
}

template <FeatureSet F, class Sink, class Probe>
inline void encapsulate(UplinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  if (path.gnb.n3.sends_tagged()) return encapsulate<kVlanTagBytes>(path, burst, drops);
  encapsulate<0>(path, burst, drops);
}

}  // namespace splitplane::datapath
