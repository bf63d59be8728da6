// The slow path of find_bearers: G-PDUs whose bearer this worker does not number, or whose sender is wrong.
//
//   stays     a packet of this worker's bearers
//   returned  a packet that the card passed up, but whose bearer the card numbers; it may wait (returns/card_returns.h)
//   waits     a packet of a QoS flow that is on its way to another bearer (sessions/flow_moves.h)
//   handed    a packet of another worker's bearer (punt_handoff.h)
//   dropped   teid_unknown (with an Error Indication), teid_released, ue_unknown, not_from_upf, worker_full;
//             above_mtu and no_headroom on the way back to the card
#pragma once

#include <rte_cycles.h>

#include "gnb/datapath/downlink_path.h"
#include "gnb/datapath/slow_path.h"
#include "ran/header_mode.h"
#include "returns/returned_frame.h"

namespace splitplane::datapath {

// Makes a returned frame of packet i: the SDU and its SDAP octet. Returns false if the packet was dropped.
template <FeatureSet F, class Sink, class Probe>
[[nodiscard]] inline bool make_returned(DownlinkPath<F, Sink, Probe>& path, unsigned i, rte_mbuf* m, Drops& drops) {
  GnbContext& gnb = path.gnb;
  ran::BearerDownlink& line = *path.bearer[i];
  const GPdu& gpdu = path.gpdu[i];
  ++line.received;
  line.bytes += gpdu.bytes;
  const bool fits = 14 + ran::downlink_overhead(line) + gpdu.bytes <= gnb.air_frame_bytes;
  std::uint8_t* frame = fits ? reframe(m, gpdu.offset, kReturnedHeaderBytes, gpdu.bytes) : nullptr;
  if (frame == nullptr) {
    drops.add(m, fits ? DropReason::no_headroom : DropReason::above_mtu);
    ++gnb.bearers.drops(gpdu.teid).downlink;
    return false;
  }
  write_air_header(gnb.air_header, frame);
  write_returned(gpdu.teid, gpdu.has_qfi ? gpdu.sdap : line.qfi, gpdu.bytes, frame + 14);
  return true;
}

template <FeatureSet F, class Sink, class Probe>
[[gnu::noinline]] inline void serve_unmatched(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  GnbContext& gnb = path.gnb;
  const unsigned received = burst.size;
  unsigned kept = 0;
  Burst card;
  for (unsigned i = 0; i < received; ++i) {
    rte_mbuf* const m = burst.mbuf[i];
    const GPdu& gpdu = path.gpdu[i];
    ran::BearerDownlink& line = *path.bearer[i];
    if (!ran::BearerTable::is(line, gpdu.teid)) {
      if (ran::is_session(line, gpdu.teid)) {
        wait_for_move(gnb, m, gpdu, drops);
      } else if (ran::is_on_card(line, gpdu.teid)) {
        if (make_returned(path, i, m, drops) &&
            (ran::take_card_credit(line) || gnb.card_returns.admit(line, gpdu.teid, m, rte_rdtsc())))
          card.mbuf[card.size++] = m;
      } else if (gpdu.teid != 0 && gnb.punt_handoff.has_worker(gpdu.teid)) {
        gnb.punt_handoff.hand_off(m, gpdu.teid, Direction::kDownlink, path.stats, drops);
      } else if (gnb.keys.by_ue_address) {
        drops.add(m, DropReason::ue_unknown);
      } else if (ran::is_released(line, gpdu.teid)) {
        drops.add(m, DropReason::teid_released);
      } else {
        drop_and_tell(gnb.punt, m, DropReason::teid_unknown, rte_rdtsc(), path.stats, drops);
      }
      continue;
    }
    if (((line.upf ^ gpdu.source) & gnb.n3.source_mask) != 0) {
      drop_of_bearer(gnb, m, line, gpdu.bytes, DropReason::not_from_upf, drops);
      continue;
    }
    path.bearer[kept] = path.bearer[i];
    path.gpdu[kept] = path.gpdu[i];
    burst.mbuf[kept++] = m;
  }
  burst.size = kept;
  if (card.size != 0) gnb.card_returns.send(path.back, card.mbuf.data(), card.size, rte_rdtsc());
}

}  // namespace splitplane::datapath
