// Second stage of the uplink (ul_parse counts both): verifies the bearer of each RLC PDU, and reads its headers.
//
//   goes on  a data PDU, which RLC has not received before: path.qfi has its QoS flow
//   session  a PDU of a session with several bearers: see deliver_session_sdus in pipeline.h
//   taken    RLC control: to the ring of copies, or STATUS PDUs to the ARQ (with `baas`)
//   handed   a packet of another worker's bearer (punt_handoff.h)
//   dropped  bearer_unknown, airhdr_modes_wrong, worker_full, copies_full; what header mode does not know: rlc_segment,
//            pdcp_control, sdap_end_marker, pdu_too_short; by RLC AM: rlc_other_epoch, rlc_duplicate, rlc_no_memory
#pragma once

#include <rte_cycles.h>

#include "gnb/datapath/slow_path.h"
#include "gnb/datapath/uplink_path.h"

namespace splitplane::datapath {

// Records that a PDU arrived. DropReason::ok means that it is to be delivered; its bearer may be acknowledged or not.
[[nodiscard]] inline DropReason note_arrival(GnbContext& gnb, rte_mbuf* m, const ran::BearerUplink& bearer,
                                             std::uint64_t now) {
  ArqBearer* const arq = gnb.arq_bearers.find(bearer.id);
  if (arq == nullptr) return DropReason::ok;
  if (octets(m)[kEpochOffset] != arq->epoch) return DropReason::rlc_other_epoch;
  switch (gnb.arq->receive(*arq, {octets(m) + kRlcOffset, m->data_len - kRlcOffset}, now)) {
    case ran::rlc::Received::kDelivered:
      return DropReason::ok;
    case ran::rlc::Received::kNoMemory:
      return DropReason::rlc_no_memory;
    default:
      return DropReason::rlc_duplicate;
  }
}

template <FeatureSet F, class Sink, class Probe>
inline void read_pdus(UplinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  GnbContext& gnb = path.gnb;
  const unsigned received = burst.size;
  const std::uint64_t now = gnb.arq == nullptr ? 0 : rte_rdtsc();  // once a burst
  unsigned kept = 0;
  for (unsigned i = 0; i < received; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    ran::BearerUplink& bearer = *path.bearer[i];
    std::uint8_t* frame = octets(m);
    const bool known = ran::BearerTable::is(bearer, path.id[i]);
    if (!known || ((frame[15] ^ bearer.airhdr_modes) & 0xfe) != 0) [[unlikely]] {  // the last bit is reserved
      serve_unmatched_pdu(gnb, m, path.id[i], known, drops);
      continue;
    }
    const ran::UplinkPdu pdu = ran::read_uplink(bearer, frame + kRlcOffset, m->data_len - kRlcOffset);
    if (pdu.kind != ran::UplinkKind::kData) [[unlikely]] {
      serve_other_pdu(gnb, m, bearer, pdu.kind, drops);
      continue;
    }
    if (gnb.arq != nullptr) [[unlikely]] {
      if (const DropReason reason = note_arrival(gnb, m, bearer, now); reason != DropReason::ok) {
        drops.add(m, reason);
        ++gnb.bearers.drops(bearer.id).uplink;
        continue;
      }
    }
    path.qfi[kept] = pdu.qfi;
    path.bearer[kept] = &bearer;
    burst.mbuf[kept++] = m;
  }
  burst.size = kept;
  path.probe.found(path.bearer.data(), kept);
  path.probe.read(path.qfi.data(), kept);
}

}  // namespace splitplane::datapath
