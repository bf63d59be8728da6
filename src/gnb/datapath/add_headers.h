// Fourth stage of the downlink (dl_headers): writes Ethernet, airhdr, RLC, PDCP and SDAP headers in the place of the
// outer headers, and gives the SDU its numbers. Feature set `decap` writes the Ethernet header only.
//
//   goes on  a frame for the air; no later stage changes it
//   dropped  count_lease_ended, count_exhausted, rlc_window_full, above_mtu, no_headroom
//   secured  a packet of a secured bearer: see secured.h
#pragma once

#include <utility>

#include "gnb/datapath/count_limit.h"
#include "gnb/datapath/downlink_path.h"
#include "gnb/datapath/secured.h"
#include "ran/header_mode.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
inline void add_headers(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  GnbContext& gnb = path.gnb;
  const unsigned received = burst.size;
  const AirHeader air_header = gnb.air_header;  // a copy: stores into frames cannot change it
  const unsigned longest = gnb.air_frame_bytes;
  const bool has_room = gnb.arq == nullptr || gnb.arq->has_room();
  unsigned kept = 0;
  bool fetched = false;
  for (unsigned i = 0; i < received; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    if constexpr (F < FeatureSet::mat) burst.prefetch_octets_ahead(i);
    const GPdu& gpdu = path.gpdu[i];
    ran::BearerDownlink& bearer = path.line(i);
    const unsigned overhead = 14 + (F == FeatureSet::decap ? 0 : ran::downlink_overhead(bearer));
    if constexpr (F >= FeatureSet::headers) {
      ++bearer.received;
      bearer.bytes += gpdu.bytes;
    }
    if constexpr (F >= FeatureSet::headers) {
      std::optional<DropReason> stop;
      if (ran::is_at_limit(bearer)) [[unlikely]] {
        if (F >= FeatureSet::mat && (bearer.options & ran::kSecured) != 0) {
          if (!std::exchange(fetched, true)) fetch_secured(gnb, {path.bearer.data() + i, received - i});
          stop = collect_secured(gnb, m, gpdu, bearer, has_room);
          if (*stop == DropReason::ok) continue;
        } else {
          stop = look_at_limit(gnb, bearer, m, gpdu);
        }
      }
      if constexpr (F == FeatureSet::clone) {
        if (!has_room && (bearer.options & ran::kAcknowledged) != 0) [[unlikely]]
          stop = DropReason::rlc_window_full;
      }
      if (stop) [[unlikely]] {
        drops.add(m, *stop);
        if constexpr (F >= FeatureSet::mat) ++gnb.bearers.drops(bearer.id).downlink;
        continue;
      }
    }
    const bool fits = overhead + gpdu.bytes <= longest;
    std::uint8_t* frame = fits ? reframe(m, gpdu.offset, overhead, gpdu.bytes) : nullptr;
    if (frame == nullptr) [[unlikely]] {
      drops.add(m, fits ? DropReason::no_headroom : DropReason::above_mtu);
      if constexpr (F >= FeatureSet::mat) ++gnb.bearers.drops(bearer.id).downlink;
      continue;
    }
    if constexpr (F >= FeatureSet::headers) {
      ran::write_downlink(bearer, gpdu.has_qfi ? gpdu.sdap : bearer.qfi, frame + overhead, gpdu.bytes);
    }
    write_air_header(air_header, frame);
    if constexpr (F == FeatureSet::decap) {
      wire::store_be16(frame + 12, frame[14] >> 4 == 6 ? wire::ethernet::kTypeIpv6 : wire::ethernet::kTypeIpv4);
    }
    path.bearer[kept] = &bearer;
    burst.mbuf[kept++] = m;
  }
  burst.size = kept;
  if constexpr (F >= FeatureSet::mat) {
    if (gnb.pdcp != nullptr && gnb.pdcp->outgoing.size != 0) [[unlikely]]
      protect_secured(gnb, burst, path.bearer.data(), drops);
  }
  path.probe.stage(Stage::dl_headers, received);
}

}  // namespace splitplane::datapath
