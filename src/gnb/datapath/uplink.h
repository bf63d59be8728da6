// Uplink of header mode, stage by stage: air frame -> bearer -> RLC control to the copies, RLC data stripped -> GTP-U
// with the UL PDU Session Container -> N3.
#pragma once

#include "engine/endpoints.h"
#include "engine/l2fwd.h"
#include "engine/probe.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/feature_set.h"
#include "ran/header_mode.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
class GnbUplink {
 public:
  GnbUplink(GnbContext& context, Sink n3) : context_(context), stats_(context.stats), n3_(n3) {}

  void process(Burst& burst) {
    Losses losses(stats_);
    probe_.begin(stats_);
    if constexpr (F == FeatureSet::drop) {
      for (unsigned i = 0; i < burst.size; ++i) losses.add(burst.mbuf[i], DropReason::feature_drop);
      probe_.stage(Stage::ul_parse, burst.size);
    } else if constexpr (F == FeatureSet::l2fwd) {
      swap_macs(burst);
      probe_.stage(Stage::l2fwd, burst.size);
      transmit(burst);
    } else {
      const unsigned received = burst.size;
      find_bearers(burst, losses);
      read_pdus(burst, losses);
      probe_.stage(Stage::ul_parse, received);
      encapsulate(burst, losses);
      transmit(burst);
    }
  }

  // Sends frames of the control thread on N3: ARP and neighbor discovery, answers and questions.
  void send_injected() {
    if (context_.inject == nullptr || rte_ring_empty(context_.inject) != 0) [[likely]]
      return;
    Burst burst;
    burst.size =
        rte_ring_sc_dequeue_burst(context_.inject, reinterpret_cast<void**>(burst.mbuf.data()), kBurst, nullptr);
    const unsigned sent = n3_.send(burst.mbuf.data(), burst.size);
    stats_.injected.add(sent);
    stats_.inject_lost.add(burst.size - sent);
    rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, burst.size - sent);
  }

  [[nodiscard]] const Probe& probe() const { return probe_; }

 private:
  static constexpr unsigned kRlcOffset = 14 + ran::kAirhdrBytes;

  // Keeps the frames that carry an airhdr in the burst and prefetches their bearers' lines.
  void find_bearers(Burst& burst, Losses& losses) {
    const unsigned received = burst.size;
    unsigned kept = 0;
    for (unsigned i = 0; i < received; ++i) {
      rte_mbuf* m = burst.mbuf[i];
      burst.prefetch_mbuf_ahead(i);
      burst.prefetch_octets_ahead(i);
      const std::uint8_t* frame = octets(m);
      if (m->nb_segs != 1 || m->data_len < kRlcOffset || wire::load_be16(frame + 12) != wire::ethernet::kTypeAirhdr)
          [[unlikely]] {
        losses.add(m, m->nb_segs != 1 ? DropReason::mbuf_segmented : DropReason::not_air_frame);
        continue;
      }
      if (frame[14] != 0x10) [[unlikely]] {  // version 1, kind 0: an RLC PDU follows
        losses.add(m, frame[14] >> 4 != 1 ? DropReason::airhdr_bad_version : DropReason::airhdr_bad_kind);
        continue;
      }
      id_[kept] = wire::load_be32(frame + 18);
      bearer_[kept] = context_.bearers.uplink_line(id_[kept]);
      rte_prefetch0(bearer_[kept]);
      burst.mbuf[kept++] = m;
    }
    burst.size = kept;
  }

  // Keeps the data PDUs. RLC control goes to the copies; PDUs that header mode does not know are dropped.
  void read_pdus(Burst& burst, Losses& losses) {
    const unsigned received = burst.size;
    const std::uint64_t now = context_.arq == nullptr ? 0 : rte_rdtsc();  // once a burst
    unsigned kept = 0;
    for (unsigned i = 0; i < received; ++i) {
      rte_mbuf* m = burst.mbuf[i];
      ran::BearerUplink& bearer = *bearer_[i];
      std::uint8_t* frame = octets(m);
      const bool known = ran::BearerTable::is(bearer, id_[i]);
      if (!known || ((frame[15] ^ bearer.airhdr_modes) & 0xfe) != 0) [[unlikely]] {  // the last bit is reserved
        serve_unmatched_pdu(m, id_[i], known, losses);
        continue;
      }
      const ran::UplinkPdu pdu = ran::read_uplink(bearer, frame + kRlcOffset, m->data_len - kRlcOffset);
      if (pdu.kind != ran::UplinkKind::kData) [[unlikely]] {
        serve_other_pdu(m, bearer, pdu.kind, losses);
        continue;
      }
      if (context_.arq != nullptr) [[unlikely]] {
        if (const DropReason reason = note_arrival(m, bearer, now); reason != DropReason::ok) {
          losses.add(m, reason);
          ++context_.bearers.losses(bearer.id).uplink;
          continue;
        }
      }
      qfi_[kept] = pdu.qfi;
      bearer_[kept] = &bearer;
      burst.mbuf[kept++] = m;
    }
    burst.size = kept;
    probe_.found(bearer_.data(), kept);
    probe_.read(qfi_.data(), kept);
  }

  [[gnu::noinline]] void serve_unmatched_pdu(rte_mbuf* m, std::uint32_t id, bool known, Losses& losses) {
    if (!known && context_.punt_handoff.has_worker(id))
      return context_.punt_handoff.hand_off(m, id, Direction::kUplink, stats_, losses);
    losses.add(m, known ? DropReason::airhdr_modes_wrong : DropReason::bearer_unknown);
  }

  // Records that a PDU arrived. DropReason::ok means that it is to be delivered; its bearer may be acknowledged or not.
  [[nodiscard]] DropReason note_arrival(rte_mbuf* m, const ran::BearerUplink& bearer, std::uint64_t now) {
    ArqBearer* const arq = context_.arq_bearers.find(bearer.id);
    if (arq == nullptr) return DropReason::ok;
    if (octets(m)[kEpochOffset] != arq->epoch) return DropReason::rlc_other_epoch;
    switch (context_.arq->receive(*arq, {octets(m) + kRlcOffset, m->data_len - kRlcOffset}, now)) {
      case ran::rlc::Received::kDelivered:
        return DropReason::ok;
      case ran::rlc::Received::kNoMemory:
        return DropReason::rlc_no_memory;
      default:
        return DropReason::rlc_duplicate;
    }
  }

  void count(ran::rlc::StatusResult result) {
    if (result == ran::rlc::StatusResult::kStale) stats_.rlc_status_stale.add(1);
    if (result == ran::rlc::StatusResult::kMalformed) stats_.rlc_status_malformed.add(1);
  }

  [[gnu::noinline]] void serve_other_pdu(rte_mbuf* m, const ran::BearerUplink& bearer, ran::UplinkKind kind,
                                         Losses& losses) {
    ArqBearer* const arq = context_.arq == nullptr ? nullptr : context_.arq_bearers.find(bearer.id);
    if (arq != nullptr && octets(m)[kEpochOffset] != arq->epoch) return losses.add(m, DropReason::rlc_other_epoch);
    // A PDU that PDCP or SDAP refuses is still an SDU for RLC, and may carry a poll.
    const bool is_sdu = kind != ran::UplinkKind::kControl && kind != ran::UplinkKind::kSegment;
    if (arq != nullptr && is_sdu) {
      (void)context_.arq->receive(*arq, {octets(m) + kRlcOffset, m->data_len - kRlcOffset}, rte_rdtsc());
    }
    switch (kind) {
      case ran::UplinkKind::kControl:
        if (arq != nullptr) {
          stats_.rlc_control.add(1);
          count(context_.arq->receive_status(*arq, {octets(m) + kRlcOffset, m->data_len - kRlcOffset}, rte_rdtsc()));
          rte_pktmbuf_free(m);
        } else if (context_.copies != nullptr && rte_ring_sp_enqueue(context_.copies, m) == 0) {
          stats_.rlc_control.add(1);
        } else {
          losses.add(m, DropReason::copies_full);
        }
        return;
      case ran::UplinkKind::kSegment:
        losses.add(m, DropReason::rlc_segment);
        return;
      case ran::UplinkKind::kPdcpControl:
        losses.add(m, DropReason::pdcp_control);
        return;
      case ran::UplinkKind::kSdapEndMarker:
        losses.add(m, DropReason::sdap_end_marker);
        return;
      case ran::UplinkKind::kData:
      case ran::UplinkKind::kTooShort:
        losses.add(m, DropReason::pdu_too_short);
        return;
    }
  }

  void encapsulate(Burst& burst, Losses& losses) {
    if (context_.n3.sends_tagged()) return encapsulate_all<kVlanTagBytes>(burst, losses);
    encapsulate_all<0>(burst, losses);
  }
  template <unsigned kTagBytes>
  void encapsulate_all(Burst& burst, Losses& losses) {
    const unsigned received = burst.size;
    unsigned kept = 0;
    for (unsigned i = 0; i < received; ++i) {
      rte_mbuf* m = burst.mbuf[i];
      ran::BearerUplink& bearer = *bearer_[i];
      const N3Peer& peer = context_.peers[bearer.peer];
      const unsigned strip = kRlcOffset + bearer.header_bytes;
      const unsigned payload = m->data_len - strip;
      const bool fits = payload <= peer.max_payload;  // nothing fits a next hop that is not resolved
      std::uint8_t* frame = fits ? reframe(m, strip, peer.header_bytes, payload) : nullptr;
      if (frame != nullptr) [[likely]] {
        write_uplink<kTagBytes>(peer, bearer.uplink_teid, qfi_[i], payload, frame);
      } else if (const DropReason reason = encapsulate_slow(m, bearer, qfi_[i], strip, payload);
                 reason != DropReason::ok) {
        losses.add(m, reason);
        ++context_.bearers.losses(bearer.id).uplink;
        continue;
      }
      bearer_[kept] = bearer_[i];
      burst.mbuf[kept++] = m;
    }
    burst.size = kept;
    probe_.stage(Stage::ul_encap, received);
  }

  // Encapsulates packets of the slow path: it says why a packet cannot be sent, or sends it with the time stamps that
  // the UPF asked for.
  [[gnu::noinline]] DropReason encapsulate_slow(rte_mbuf* m, ran::BearerUplink& bearer, std::uint8_t qfi,
                                                unsigned strip, unsigned payload) {
    if (bearer.peer == kStoppedPeer) return DropReason::uplink_stopped;
    if (bearer.peer != kMonitoredPeer) {
      const N3Peer& home = context_.peers[bearer.peer];
      if (!home.resolved) return DropReason::peer_unresolved;
      return payload > home.max_payload ? DropReason::above_mtu : DropReason::no_headroom;
    }
    const N3Peer& peer = context_.peers[bearer.home_peer];
    if (!peer.resolved) return DropReason::peer_unresolved;
    if (payload > peer.max_payload) return DropReason::above_mtu;
    // A packet that leaves no room for the time stamps goes without them. They wait for a shorter packet.
    const bool room = payload + kMonitoredMoreBytes <= peer.max_payload &&
                      m->data_off + strip >= peer.header_bytes + kMonitoredMoreBytes;
    const auto stamp = room ? context_.monitor.take(BearerId{bearer.id}, Qfi{qfi}) : std::nullopt;
    std::uint8_t* frame = reframe(m, strip, peer.header_bytes + (stamp ? kMonitoredMoreBytes : 0), payload);
    if (frame == nullptr) return DropReason::no_headroom;
    if (stamp) {
      write_monitored_uplink(peer, Teid{bearer.uplink_teid}, Qfi{qfi}, *stamp, ntp_time(), payload, frame);
      stats_.qos_monitored.add(1);
    } else if (context_.n3.sends_tagged()) {
      write_uplink<kVlanTagBytes>(peer, bearer.uplink_teid, qfi, payload, frame);
    } else {
      write_uplink(peer, bearer.uplink_teid, qfi, payload, frame);
    }
    if (!context_.monitor.any(BearerId{bearer.id}, ntp_time())) bearer.peer = bearer.home_peer;
    return DropReason::ok;
  }

  void transmit(Burst& burst) {
    const unsigned sent = n3_.send(burst.mbuf.data(), burst.size);
    stats_.transmitted_n3.add(sent);
    if (sent < burst.size) [[unlikely]]
      drop_unsent(burst, sent);
    probe_.stage(Stage::ul_tx, burst.size);
  }

  [[gnu::noinline]] void drop_unsent(Burst& burst, unsigned sent) {
    stats_.drop(DropReason::tx_full, burst.size - sent);
    if constexpr (F >= FeatureSet::decap) {
      for (unsigned i = sent; i < burst.size; ++i) ++context_.bearers.losses(bearer_[i]->id).uplink;
    }
    rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, burst.size - sent);
  }

  GnbContext& context_;
  WorkerStats& stats_;
  Sink n3_;
  Probe probe_;
  std::array<std::uint32_t, kBurst> id_;
  std::array<ran::BearerUplink*, kBurst> bearer_;
  std::array<std::uint8_t, kBurst> qfi_;
};

}  // namespace splitplane::datapath
