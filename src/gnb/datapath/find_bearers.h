// Second stage of the downlink (dl_bearer): verifies that each G-PDU is of a bearer of this worker, and comes from that
// bearer's UPF. It takes the burst apart only if one of them is not.
//
//   goes on  a packet of a bearer that this worker numbers: path.bearer has its line. In a session with several bearers
//            the QoS flow names the bearer.
//   else     serve_unmatched.h: back to the card, off to another worker, or dropped
#pragma once

#include "gnb/datapath/serve_unmatched.h"

namespace splitplane::datapath {

// Whether the packet's bearer or its sender is another one than its line says: 0 if all is well.
[[nodiscard]] inline std::uint32_t differs(const ran::BearerDownlink& line, const GPdu& gpdu,
                                           std::uint32_t source_mask) {
  return (line.id ^ gpdu.teid) | static_cast<std::uint32_t>(gpdu.teid == 0) | ((line.upf ^ gpdu.source) & source_mask);
}

// For a burst in which a packet's TEID names no bearer of this worker: finds bearers by a TEID that another node
// assigned, and by the QoS flow of a session with several bearers. Other packets go to serve_unmatched.
template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void find_otherwise(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  GnbContext& gnb = path.gnb;
  find_by_teid(gnb.keys, gnb.bearers, path.gpdu.data(), path.bearer.data(), burst.size);
  find_by_flow(gnb.bearers, gnb.flow_counters, path.gpdu.data(), path.bearer.data(), burst.size);
  std::uint32_t wrong = 0;
  for (unsigned i = 0; i < burst.size; ++i) wrong |= differs(*path.bearer[i], path.gpdu[i], gnb.n3.source_mask);
  if (wrong != 0) serve_unmatched(path, burst, drops);
}

template <FeatureSet F, class Sink, class Probe>
inline void find_bearers(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  GnbContext& gnb = path.gnb;
  const unsigned received = burst.size;
  if (gnb.keys.by_ue_address) [[unlikely]]
    find_by_ue_address(gnb.keys, gnb.bearers, burst.mbuf.data(), path.gpdu.data(), path.bearer.data(), received);
  const std::uint32_t source_mask = gnb.n3.source_mask;
  std::uint32_t wrong = 0;
  for (unsigned i = 0; i < received; ++i) {
    burst.prefetch_octets_ahead(i);
    wrong |= differs(*path.bearer[i], path.gpdu[i], source_mask);
  }
  if (wrong != 0) [[unlikely]]
    find_otherwise(path, burst, drops);
  path.probe.found(path.bearer.data(), burst.size);
  path.probe.stage(Stage::dl_bearer, path.ordered ? 0 : received);
}

// Feature set `headers` writes the headers of one bearer for all packets, in the place of this stage. Before that
// bearer exists, it drops all packets (teid_unknown).
template <FeatureSet F, class Sink, class Probe>
inline void require_fixed_bearer(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  if (path.gnb.fixed_bearer.id != 0) [[likely]]
    return;
  for (unsigned i = 0; i < burst.size; ++i) drops.add(burst.mbuf[i], DropReason::teid_unknown);
  burst.size = 0;
}

}  // namespace splitplane::datapath
