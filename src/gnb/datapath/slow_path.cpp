#include "gnb/datapath/slow_path.h"

#include <rte_cycles.h>

#include "gnb/datapath/context.h"
#include "gnb/datapath/read_pdus.h"
#include "gnb/datapath/secured.h"
#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

// Records a time stamp. The next uplink packet of this bearer and flow answers it; until then the bearer's uplink takes
// the slow path.
void note_time_stamp(GnbContext& context, rte_mbuf* m, const ran::BearerDownlink& bearer, const GPdu& gpdu) {
  const auto packet = wire::n3::parse({octets(m), m->data_len});
  if (!packet) return;
  const auto content =
      wire::psc::parse({octets(m) + packet->gtpu_offset + packet->gtpu.psc_offset, packet->gtpu.psc_bytes});
  if (!content || !content->has_qos_monitoring) return;
  ran::BearerUplink& uplink = *context.bearers.uplink_line(bearer.id);
  if (uplink.id != bearer.id || uplink.peer == kStoppedPeer) return;
  context.monitor.note(BearerId{bearer.id}, Qfi{static_cast<std::uint8_t>(gpdu.sdap & 0x3f)},
                       {content->dl_send_time, ntp_time()});
  uplink.peer = kMonitoredPeer;
}

// The control thread answers the sender. It gets a copy, because a card has to hear of the frame itself (settle.h).
void tell_of_copy(Punts& punts, const rte_mbuf* m) {
  rte_ring* const ring = punts.ring(PuntClass::answer);
  if (ring == nullptr || rte_ring_count(ring) >= rte_ring_get_capacity(ring) / 2) return;
  rte_mbuf* const copy = rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);
  if (copy != nullptr && punts.give(PuntClass::answer, copy, rte_rdtsc()) != DropReason::ok) rte_pktmbuf_free(copy);
}

void count(WorkerStats& stats, ran::rlc::StatusResult result) {
  if (result == ran::rlc::StatusResult::kStale) stats.rlc_status_stale.add(1);
  if (result == ran::rlc::StatusResult::kMalformed) stats.rlc_status_malformed.add(1);
}

}  // namespace

void drop_of_bearer(GnbContext& context, rte_mbuf* m, ran::BearerDownlink& bearer, unsigned bytes, DropReason reason,
                    Drops& drops) {
  ++bearer.received;
  bearer.bytes += bytes;
  ++context.bearers.drops(bearer.id).downlink;
  drops.add(m, reason);
}

bool parse_slow(rte_mbuf* m, const N3Addresses& ours, Punts& punts, WorkerStats& stats, Drops& drops, GPdu& gpdu) {
  if (m->nb_segs != 1) {
    drops.add(m, DropReason::mbuf_segmented);
    return false;
  }
  const N3Parsed parsed = parse_n3(octets(m), m->data_len, ours, gpdu);
  if (parsed.verdict == N3Verdict::kPunt) {
    if (const DropReason refused = punts.give(parsed.punt, m, rte_rdtsc()); refused == DropReason::ok) {
      stats.punted.add(1);
    } else {
      drops.add(m, refused);
    }
  }
  if (parsed.verdict == N3Verdict::kDrop) {
    if (parsed.reason == drop_reason(wire::Reason::gtpu_extension_unknown_required)) tell_of_copy(punts, m);
    drops.add(m, parsed.reason);
  }
  return parsed.verdict == N3Verdict::kGPdu;
}

void wait_for_move(GnbContext& context, rte_mbuf* m, const GPdu& gpdu, Drops& drops) {
  FlowMoves::Move* const move = context.flow_moves.find(gpdu.teid, gpdu.sdap & 0x3f);
  if (move == nullptr) return drops.add(m, DropReason::teid_unknown);
  ran::BearerDownlink& old = *context.bearers.bearer_line(move->old.value);
  if (((old.upf ^ gpdu.source) & context.n3.source_mask) != 0) {
    context.flow_counters.count_downlink(gpdu.teid, move->qfi.value, gpdu.bytes);
    return drop_of_bearer(context, m, old, gpdu.bytes, DropReason::not_from_upf, drops);
  }
  context.flow_moves.hold(*move, m);
  note_flow_held(context);
}

void serve_moves(GnbContext& context, std::uint64_t now) {
  const auto is_over = [&](FlowMoves::Move& move) {
    if (now < move.rest.not_before) return false;
    if (!move.rest.is_acknowledged) return true;
    const ArqBearer* const arq = context.arq_bearers.find(move.old.value);
    if (arq == nullptr || arq->failed) return true;
    if (arq->epoch != move.rest.epoch) {
      // RLC began anew, maybe with other keys: what the UE did not acknowledge has new numbers. The UE gets it when it
      // has followed, so the wait begins anew, too.
      move.rest.epoch = arq->epoch;
      move.rest.until = arq->next();
      move.deadline = std::min(now + FlowMoves::kMostMs * (rte_get_tsc_hz() / 1000), move.last_deadline);
    }
    return !ran::rlc::before(arq->next_ack(), move.rest.until);
  };
  context.flow_moves.serve(now, is_over, [&](const FlowMoves::Move& move) {
    ran::set_flow(*context.bearers.downlink_line(move.session.value), move.qfi, move.number);
  });
}

void check_options_slow(GnbContext& context, Burst& burst, GPdu* gpdus, ran::BearerDownlink** bearers, bool ordered,
                        Drops& drops) {
  const unsigned received = burst.size;
  const std::uint64_t now = rte_rdtsc();
  unsigned kept = 0;
  for (unsigned i = 0; i < received; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    ran::BearerDownlink& bearer = *bearers[i];
    const GPdu& gpdu = gpdus[i];
    if ((gpdu.slow & kNoPsc) != 0 && (bearer.options & ran::kRequirePsc) != 0) {
      drop_of_bearer(context, m, bearer, gpdu.bytes, DropReason::psc_missing, drops);
      continue;
    }
    if ((gpdu.slow & kTimeStamped) != 0 && !ordered) note_time_stamp(context, m, bearer, gpdu);
    if ((gpdu.slow & kSequenced) != 0 && (bearer.options & ran::kReorder) != 0 && !ordered) {
      using Verdict = N3Reorder::Verdict;
      const Verdict verdict = context.reorder.take(m, BearerId{bearer.id}, gpdu.sequence_number, now);
      if (verdict == Verdict::kOld) drop_of_bearer(context, m, bearer, gpdu.bytes, DropReason::n3_sn_old, drops);
      if (verdict != Verdict::kPass) continue;
    }
    bearers[kept] = bearers[i];
    gpdus[kept] = gpdus[i];
    burst.mbuf[kept++] = m;
  }
  burst.size = kept;
}

namespace {

// A card sends clones of an acknowledged bearer's PDUs to its worker. True: it was one.
bool keep_clone(GnbContext& context, rte_mbuf* m, std::uint32_t id, Drops& drops) {
  ArqBearer* const arq = context.arq == nullptr ? nullptr : context.arq_bearers.find(id);
  if (arq == nullptr || !arq->of_card) return false;
  const std::uint8_t modes = octets(m)[wire::ethernet::kHeaderBytes + 1];
  if (((modes ^ arq->air >> 48) & 0xfe) != 0) return false;  // the last bit is reserved
  const unsigned header = wire::rlc::am_header_bytes(arq->sn_bits, wire::rlc::Segment::kComplete);
  if (m->data_len <= kRlcOffset + header) {
    drops.add(m, DropReason::pdu_too_short);
  } else if (octets(m)[kEpochOffset] != arq->epoch) {
    drops.add(m, DropReason::rlc_other_epoch);
  } else {
    switch (context.arq->keep_clone(*arq, m, rte_rdtsc())) {
      case Arq::Clone::kKept:
        context.stats.card_copies.add(1);
        break;
      case Arq::Clone::kKnown:
        drops.add(m, DropReason::rlc_duplicate);
        break;
      case Arq::Clone::kNoRoom:
        drops.add(m, DropReason::copies_full);
        break;
    }
  }
  return true;
}

}  // namespace

void serve_unmatched_pdu(GnbContext& context, rte_mbuf* m, std::uint32_t id, bool known, Drops& drops) {
  if (!known && context.punt_handoff.has_worker(id))
    return context.punt_handoff.hand_off(m, id, Direction::kUplink, context.stats, drops);
  if (known && keep_clone(context, m, id, drops)) return;
  drops.add(m, known ? DropReason::airhdr_modes_wrong : DropReason::bearer_unknown);
}

void serve_other_pdu(GnbContext& context, rte_mbuf* m, const ran::BearerUplink& bearer, ran::UplinkKind kind,
                     Drops& drops) {
  ArqBearer* const arq = context.arq == nullptr ? nullptr : context.arq_bearers.find(bearer.id);
  if (arq != nullptr && octets(m)[kEpochOffset] != arq->epoch) {
    if (SecuredBearer* const secured = ran::is_secured(bearer) ? context.secured_bearers.find(bearer.id) : nullptr;
        secured != nullptr) {  // the UE does not know that the keys have changed, or does not have them yet
      context.arq->show_epoch(*arq);
      context.pdcp->prolong_pause(*secured, rte_rdtsc());
    }
    return drops.add(m, DropReason::rlc_other_epoch);
  }
  if (kind == ran::UplinkKind::kSessionPdu) {
    return serve_session_pdu(context, m, *context.bearers.uplink_line(bearer.id), drops);
  }
  if (kind == ran::UplinkKind::kProtected) {
    return collect_secured_pdu(context, m, *context.bearers.uplink_line(bearer.id), drops);
  }
  // A PDU that PDCP or SDAP refuses is still an SDU for RLC, and may carry a poll.
  const bool is_sdu = kind != ran::UplinkKind::kControl && kind != ran::UplinkKind::kSegment;
  if (arq != nullptr && is_sdu) {
    (void)context.arq->receive(*arq, {octets(m) + kRlcOffset, m->data_len - kRlcOffset}, rte_rdtsc());
  }
  switch (kind) {
    case ran::UplinkKind::kControl:
      if (arq != nullptr) {
        context.stats.rlc_control.add(1);
        count(context.stats,
              context.arq->receive_status(*arq, {octets(m) + kRlcOffset, m->data_len - kRlcOffset}, rte_rdtsc()));
        rte_pktmbuf_free(m);
      } else if (context.copies != nullptr && rte_ring_sp_enqueue(context.copies, m) == 0) {
        context.stats.rlc_control.add(1);
      } else {
        drops.add(m, DropReason::copies_full);
      }
      return;
    case ran::UplinkKind::kSegment:
      drops.add(m, DropReason::rlc_segment);
      return;
    case ran::UplinkKind::kPdcpControl:
      drops.add(m, DropReason::pdcp_control);
      return;
    case ran::UplinkKind::kSdapEndMarker:
      drops.add(m, DropReason::sdap_end_marker);
      return;
    case ran::UplinkKind::kProtected:
    case ran::UplinkKind::kSessionPdu:
    case ran::UplinkKind::kData:
    case ran::UplinkKind::kTooShort:
      drops.add(m, DropReason::pdu_too_short);
      return;
  }
}

void serve_session_pdu(GnbContext& context, rte_mbuf* m, ran::BearerUplink& bearer, Drops& drops) {
  using ran::UplinkKind;
  const ran::UplinkPdu pdu = ran::read_uplink_of_session(bearer, octets(m) + kRlcOffset, m->data_len - kRlcOffset);
  if (pdu.kind != UplinkKind::kData && pdu.kind != UplinkKind::kSdapEndMarker) {
    return serve_other_pdu(context, m, bearer, pdu.kind, drops);
  }
  const std::uint64_t now = rte_rdtsc();
  if (const DropReason reason = note_arrival(context, m, bearer, now); reason != DropReason::ok) {
    drops.add(m, reason);
    if (pdu.kind == UplinkKind::kData) ++context.bearers.drops(bearer.id).uplink;
    return;
  }
  const ArqBearer* const arq = context.arq == nullptr ? nullptr : context.arq_bearers.find(bearer.id);
  if (pdu.kind == UplinkKind::kData) {
    context.session_uplinks.receive(bearer, pdu.qfi, m, now);
  } else {
    const std::uint8_t octet = octets(m)[kRlcOffset + bearer.header_bytes - 1U];
    context.session_uplinks.end(bearer.id, octet & 0x3f, arq);
    drops.add(m, DropReason::sdap_end_marker);
  }
  if (arq != nullptr) context.session_uplinks.look_at_ends(*arq);
  note_flow_held(context);
}

DropReason encapsulate_slow(GnbContext& context, rte_mbuf* m, ran::BearerUplink& bearer, std::uint8_t qfi,
                            unsigned strip, unsigned payload) {
  if (bearer.peer == kStoppedPeer) return DropReason::uplink_stopped;
  if (bearer.peer != kMonitoredPeer) {
    const N3Peer& home = context.peers[bearer.peer];
    if (!home.resolved) return DropReason::peer_unresolved;
    return payload > home.max_payload ? DropReason::above_mtu : DropReason::no_headroom;
  }
  const N3Peer& peer = context.peers[bearer.home_peer];
  if (!peer.resolved) return DropReason::peer_unresolved;
  if (payload > peer.max_payload) return DropReason::above_mtu;
  // A packet that leaves no room for the time stamps goes without them. They wait for a shorter packet.
  const bool room = payload + kMonitoredMoreBytes <= peer.max_payload &&
                    m->data_off + strip >= peer.header_bytes + kMonitoredMoreBytes;
  const auto stamp = room ? context.monitor.take(BearerId{bearer.id}, Qfi{qfi}) : std::nullopt;
  std::uint8_t* frame = reframe(m, strip, peer.header_bytes + (stamp ? kMonitoredMoreBytes : 0), payload);
  if (frame == nullptr) return DropReason::no_headroom;
  const std::uint8_t tos = context.n3.tos[qfi];
  if (stamp) {
    write_monitored_uplink(peer, Teid{bearer.uplink_teid}, Qfi{qfi}, tos, *stamp, ntp_time(), payload, frame);
    context.stats.qos_monitored.add(1);
  } else if (context.n3.sends_tagged()) {
    write_uplink<kVlanTagBytes>(peer, bearer.uplink_teid, qfi, tos, payload, frame);
  } else {
    write_uplink(peer, bearer.uplink_teid, qfi, tos, payload, frame);
  }
  if (!context.monitor.any(BearerId{bearer.id}, ntp_time())) bearer.peer = bearer.home_peer;
  return DropReason::ok;
}

}  // namespace splitplane::datapath
