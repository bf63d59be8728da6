#include "gnb/datapath/secured.h"

#include <limits>

#include "gnb/datapath/count_limit.h"
#include "gnb/datapath/slow_path.h"
#include "ran/header_mode.h"

namespace splitplane::datapath {
namespace {

void drop_uplink(GnbContext& gnb, rte_mbuf* m, std::uint32_t id, DropReason reason, Drops& drops) {
  ++gnb.bearers.drops(id).uplink;
  drops.add(m, reason);
}

DropReason refused_as(ran::pdcp::RxOutcome outcome) {
  using ran::pdcp::RxOutcome;
  switch (outcome) {
    case RxOutcome::malformed:
      return DropReason::pdu_too_short;
    case RxOutcome::hfn_negative:
    case RxOutcome::count_out_of_range:
      return DropReason::pdcp_count_wrong;
    case RxOutcome::integrity_failed:
      return DropReason::pdcp_integrity_failed;
    case RxOutcome::too_old:
      return DropReason::pdcp_old;
    case RxOutcome::duplicate:
      return DropReason::pdcp_duplicate;
    case RxOutcome::no_memory:
      return DropReason::pdcp_no_memory;
    case RxOutcome::crypto_failed:
      return DropReason::pdcp_crypto_failed;
    case RxOutcome::suspended:
    case RxOutcome::keys_changed:
      return DropReason::pdcp_keys_changed;
    case RxOutcome::control:
    case RxOutcome::unknown_control:
    case RxOutcome::bad_status_report:
      return DropReason::pdcp_control;
    case RxOutcome::accepted:
      break;
  }
  return DropReason::ok;
}

// RX_Next_Highest of an AM bearer without retransmission, as ran::read_uplink moves it.
void note_rlc_sn(ran::BearerUplink& line, const std::uint8_t* rlc) {
  if (line.rlc_sn_bits == 0) return;
  const std::uint32_t word = line.rlc_sn_bits == 12 ? wire::load_be16(rlc) : wire::load_be24(rlc);
  const auto ahead =
      static_cast<std::uint32_t>(ran::detail::low_bits(word - line.rlc_rx_next_highest, line.rlc_sn_bits));
  if (ahead < 1U << (line.rlc_sn_bits - 1)) line.rlc_rx_next_highest += ahead + 1;
}

// The reason for which RLC drops a PDU of complete length; ok: PDCP gets it.
DropReason through_rlc(GnbContext& gnb, rte_mbuf* m, ran::BearerUplink& line, unsigned rlc_bytes) {
  const std::uint8_t* const rlc = octets(m) + kRlcOffset;
  if (m->data_len <= kRlcOffset + rlc_bytes) return DropReason::pdu_too_short;
  const bool is_am = line.rlc_dc != 0;
  if (((is_am ? rlc[0] >> 4 : rlc[0] >> 6) & 3) != 0) return DropReason::rlc_segment;  // SI is not 00
  note_rlc_sn(line, rlc);
  ArqBearer* const arq = gnb.arq == nullptr ? nullptr : gnb.arq_bearers.find(line.id);
  if (arq == nullptr) return DropReason::ok;
  switch (gnb.arq->receive(*arq, {rlc, m->data_len - kRlcOffset}, rte_rdtsc())) {
    case ran::rlc::Received::kDelivered:
      return DropReason::ok;
    case ran::rlc::Received::kNoMemory:
      return DropReason::rlc_no_memory;
    default:
      return DropReason::rlc_duplicate;
  }
}

}  // namespace

DropReason not_sent_as(ran::pdcp::TxOutcome outcome, const PdcpTransmitter& from) {
  using ran::pdcp::TxOutcome;
  switch (outcome) {
    case TxOutcome::sdu_empty:
      return DropReason::pdu_too_short;
    case TxOutcome::sdu_too_large:
      return DropReason::pdcp_sdu_too_large;
    case TxOutcome::count_exhausted:
      return from.tx_next() == ran::kCountEnd ? DropReason::count_exhausted : DropReason::count_lease_ended;
    case TxOutcome::window_full:
    case TxOutcome::no_credit:
      return DropReason::rlc_window_full;
    case TxOutcome::crypto_failed:
      return DropReason::pdcp_crypto_failed;
    default:
      return DropReason::pdcp_no_memory;
  }
}

void fetch_secured(GnbContext& gnb, std::span<ran::BearerDownlink* const> lines) {
  for (const ran::BearerDownlink* const line : lines) {
    if ((line->options & ran::kSecured) == 0) continue;
    gnb.secured_bearers.prefetch(line->id);
    if (const ran::CountLease* const lease = gnb.bearers.lease(line->id); lease != nullptr) rte_prefetch0(lease);
  }
  for (const ran::BearerDownlink* const line : lines) {
    if ((line->options & ran::kSecured) == 0) continue;
    if (const SecuredBearer* const bearer = gnb.secured_bearers.find(line->id); bearer != nullptr) bearer->prefetch();
  }
}

void fetch_for_rlc(GnbContext& gnb, std::span<ran::BearerDownlink* const> lines) {
  for (const ran::BearerDownlink* const line : lines) {
    gnb.secured_bearers.prefetch(line->id);
    gnb.cell->prefetch(line->id);
    if (const ran::CountLease* const lease = gnb.bearers.lease(line->id); lease != nullptr) rte_prefetch0(lease);
  }
  for (const ran::BearerDownlink* const line : lines) {
    if (const SecuredBearer* const bearer = gnb.secured_bearers.find(line->id); bearer != nullptr) bearer->prefetch();
    if (const LogicalChannel* const channel = gnb.cell->find(line->id); channel != nullptr) channel->prefetch();
  }
}

void take_lease(GnbContext& gnb, std::uint32_t id, SecuredBearer& bearer) {
  ran::CountLease* const lease = gnb.bearers.lease(id);
  if (lease == nullptr) return;
  PdcpTransmitter& tx = bearer.entity.tx();
  if (tx.tx_next() >= lease->mark && tx.tx_next() < lease->end) ask_for_lease(gnb, id, tx.tx_next(), *lease);
  tx.set_count_stop(Count{lease->end});
}

DropReason collect_sdu(GnbContext& gnb, rte_mbuf* m, const GPdu& gpdu, const ran::BearerDownlink& line,
                       SecuredBearer& bearer) {
  const unsigned sdap_bytes = line.sdap_mask != 0 ? 1 : 0;
  std::uint8_t* const sdu = reframe(m, gpdu.offset, sdap_bytes, gpdu.bytes);
  if (sdu == nullptr) return DropReason::no_headroom;
  if (sdap_bytes != 0) {
    const unsigned sdap = gpdu.has_qfi ? gpdu.sdap : line.qfi;
    *sdu = static_cast<std::uint8_t>(line.header | (sdap & line.sdap_mask));
  }
  gnb.pdcp->outgoing.add(bearer, m);
  return DropReason::ok;
}

DropReason collect_secured(GnbContext& gnb, rte_mbuf* m, const GPdu& gpdu, ran::BearerDownlink& line, bool has_room) {
  SecuredBearer* const bearer = gnb.pdcp == nullptr ? nullptr : gnb.secured_bearers.find(line.id);
  if (bearer == nullptr) return DropReason::pdcp_no_keys;
  PdcpTransmitter& tx = bearer->entity.tx();
  take_lease(gnb, line.id, *bearer);
  ArqBearer* arq = nullptr;
  if ((line.options & ran::kAcknowledged) != 0) {
    arq = gnb.arq_bearers.find(line.id);
    if (arq == nullptr || arq->failed || !has_room) return DropReason::rlc_window_full;
    // SDUs of this burst that are collected already count when they get their COUNTs.
    const auto room = static_cast<std::int32_t>(arq->limit() - line.rlc_tx_next);
    tx.set_credit(
        {.sdus = static_cast<std::uint32_t>(std::max(room, 0)), .octets = std::numeric_limits<std::uint64_t>::max()});
  }
  const unsigned longest = 14 + ran::downlink_overhead(line) + tx.cover().mac_bytes + gpdu.bytes;
  if (longest > gnb.air_frame_bytes) return DropReason::above_mtu;
  // Before the SDU is ciphered. PDCP may still drop an SDU for which there is no room.
  if ((line.options & ran::kMarked) != 0) offer_to_marker(gnb, line, arq, {octets(m) + gpdu.offset, gpdu.bytes});
  return collect_sdu(gnb, m, gpdu, line, *bearer);
}

void protect_secured(GnbContext& gnb, Burst& burst, ran::BearerDownlink** lines, Drops& drops) {
  SecuredOutgoing& outgoing = gnb.pdcp->outgoing;
  gnb.pdcp->protect(outgoing);
  for (unsigned i = 0; i < outgoing.size; ++i) {
    auto& item = outgoing.item[i];
    ran::BearerDownlink& line = *gnb.bearers.bearer_line(outgoing.bearer[i]->id.value);
    line.pdcp_tx_next = item.from->tx_next();
    line.count_limit = line.pdcp_tx_next;
    const DropReason reason =
        item.outcome == ran::pdcp::TxOutcome::sent ? DropReason::ok : not_sent_as(item.outcome, *item.from);
    rte_mbuf* const m = item.buffer.detach();
    const unsigned lower = kAirRlcOffset + line.header_bytes - line.rlc_shift / 8U;
    if (reason == DropReason::ok && m->data_off >= lower) [[likely]] {
      ran::write_downlink_rlc(line, octets(m), m->data_len);
      write_air_header(gnb.air_header, reframe(m, 0, lower, m->data_len));
      lines[burst.size] = &line;
      burst.mbuf[burst.size++] = m;
      continue;
    }
    ++gnb.bearers.drops(line.id).downlink;
    if (m != nullptr) {
      drops.add(m, reason == DropReason::ok ? DropReason::no_headroom : reason);
    } else {
      gnb.stats.drop(reason);  // the buffer is given back already
    }
  }
  outgoing.size = 0;
}

void collect_secured_pdu(GnbContext& gnb, rte_mbuf* m, ran::BearerUplink& line, Drops& drops) {
  ++line.received;
  SecuredBearer* const bearer = gnb.pdcp == nullptr ? nullptr : gnb.secured_bearers.find(line.id);
  if (bearer == nullptr) return drop_uplink(gnb, m, line.id, DropReason::pdcp_no_keys, drops);
  if (octets(m)[kEpochOffset] != bearer->epoch) return drop_uplink(gnb, m, line.id, DropReason::rlc_other_epoch, drops);
  const unsigned rlc_bytes = line.header_bytes - line.rlc_shift / 8U;
  if (const DropReason reason = through_rlc(gnb, m, line, rlc_bytes); reason != DropReason::ok) {
    return drop_uplink(gnb, m, line.id, reason, drops);
  }
  const unsigned lower = kRlcOffset + rlc_bytes;
  (void)reframe(m, lower, 0, m->data_len - lower);
  gnb.pdcp->incoming.add(*bearer, m);
}

void drop_refused(GnbContext& gnb, Drops& drops) {
  SecuredIncoming& incoming = gnb.pdcp->incoming;
  for (unsigned i = 0; i < incoming.size; ++i) {
    auto& item = incoming.item[i];
    const std::uint32_t id = item.to->id().value;
    gnb.bearers.uplink_line(id)->pdcp_rx_next = item.to->rx_next();
    if (item.outcome == ran::pdcp::RxOutcome::accepted) continue;
    drop_uplink(gnb, item.pdu.detach(), id, refused_as(item.outcome), drops);
  }
  incoming.size = 0;
}

rte_mbuf* take_delivered(GnbContext& gnb, ran::BearerUplink& line, MbufBuffer sdu, std::uint8_t& qfi) {
  const bool has_sdap = line.sdap_mask != 0;
  const std::uint8_t sdap = has_sdap ? *sdu.data() : std::uint8_t{0};
  const bool is_data = !has_sdap || (sdap & 0x80) != 0;
  rte_mbuf* const m = sdu.detach();
  const unsigned front = kRlcOffset + line.header_bytes - (has_sdap ? 1U : 0U);
  DropReason reason = DropReason::ok;
  if (!is_data) {
    reason = DropReason::sdap_end_marker;
    if (ran::is_of_session(line)) gnb.session_uplinks.end(line.id, sdap & line.sdap_mask, nullptr);
  } else if (has_sdap && m->data_len == 1) {
    reason = DropReason::pdu_too_short;
  } else if (reframe(m, 0, front, m->data_len) == nullptr) {
    reason = DropReason::no_headroom;
  }
  if (reason != DropReason::ok) {
    Drops drops(gnb.stats);
    drop_uplink(gnb, m, line.id, reason, drops);
    return nullptr;
  }
  line.bytes += m->data_len - kRlcOffset - line.header_bytes;
  qfi = static_cast<std::uint8_t>((sdap & line.sdap_mask) | line.qfi);
  return m;
}

}  // namespace splitplane::datapath
