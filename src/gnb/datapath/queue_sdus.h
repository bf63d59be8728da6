// The last stages of the downlink in full mode (dl_pdcp, dl_rlc), in the place of add_headers and what follows it. PDCP
// numbers and ciphers the SDUs of the burst together, and RLC queues them until a grant pulls them.
//
//   queued   a PDCP PDU that the RLC entity of its bearer has
//   dropped  before it has a COUNT: pdcp_no_keys, rlc_failed, rlc_window_full, count_lease_ended, count_exhausted,
//            no_headroom, pdu_too_short, pdcp_sdu_too_large, pdcp_no_memory; after that: pdcp_crypto_failed,
//            rlc_no_memory
#pragma once

#include "gnb/datapath/downlink_path.h"
#include "gnb/datapath/secured.h"

namespace splitplane::datapath {

// Collects an SDU for PDCP. Returns why it must be dropped; DropReason::ok if it is collected.
[[nodiscard]] inline DropReason collect_for_rlc(GnbContext& gnb, rte_mbuf* m, const GPdu& gpdu,
                                                const ran::BearerDownlink& line, bool has_room) {
  SecuredBearer* const bearer = gnb.pdcp == nullptr ? nullptr : gnb.secured_bearers.find(line.id);
  LogicalChannel* const channel = gnb.cell == nullptr ? nullptr : gnb.cell->find(line.id);
  if (bearer == nullptr || channel == nullptr) [[unlikely]]
    return DropReason::pdcp_no_keys;
  if (channel->has_failed()) [[unlikely]]
    return DropReason::rlc_failed;
  if (!has_room) [[unlikely]]
    return DropReason::rlc_window_full;
  take_lease(gnb, line.id, *bearer);
  // SDUs of this burst that are collected already count when they get their COUNTs.
  bearer->entity.tx().set_credit({.sdus = channel->room(), .octets = std::numeric_limits<std::uint64_t>::max()});
  return collect_sdu(gnb, m, gpdu, line, *bearer);
}

// Protects what is collected, and hands it to RLC.
template <FeatureSet F, class Sink, class Probe>
inline void queue_collected(DownlinkPath<F, Sink, Probe>& path, Drops& drops) {
  GnbContext& gnb = path.gnb;
  SecuredOutgoing& outgoing = gnb.pdcp->outgoing;
  gnb.pdcp->protect(outgoing);
  path.probe.stage(Stage::dl_pdcp, outgoing.size);
  for (unsigned i = 0; i < outgoing.size; ++i) {
    auto& item = outgoing.item[i];
    const std::uint32_t id = outgoing.bearer[i]->id.value;
    ran::BearerDownlink& line = *gnb.bearers.bearer_line(id);
    line.count_limit = line.pdcp_tx_next = item.from->tx_next();
    DropReason reason = DropReason::rlc_no_memory;
    if (item.outcome == ran::pdcp::TxOutcome::sent) [[likely]] {
      if (gnb.cell->send(*gnb.cell->find(id), item.buffer)) [[likely]]
        continue;
    } else {
      reason = not_sent_as(item.outcome, *item.from);
    }
    ++gnb.bearers.drops(id).downlink;
    if (item.buffer) {
      drops.add(item.buffer.detach(), reason);
    } else {
      gnb.stats.drop(reason);  // the buffer is given back already
    }
  }
  path.probe.stage(Stage::dl_rlc, outgoing.size);
  outgoing.size = 0;
}

template <FeatureSet F, class Sink, class Probe>
inline void queue_sdus(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  GnbContext& gnb = path.gnb;
  const bool has_room = gnb.cell != nullptr && gnb.cell->has_room();
  if (gnb.cell != nullptr) fetch_for_rlc(gnb, {path.bearer.data(), burst.size});
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* const m = burst.mbuf[i];
    ran::BearerDownlink& line = *path.bearer[i];
    ++line.received;
    line.bytes += path.gpdu[i].bytes;
    const DropReason reason = collect_for_rlc(gnb, m, path.gpdu[i], line, has_room);
    if (reason == DropReason::ok) [[likely]]
      continue;
    drops.add(m, reason);
    ++gnb.bearers.drops(line.id).downlink;
  }
  burst.size = 0;
  if (gnb.pdcp != nullptr && gnb.pdcp->outgoing.size != 0) queue_collected(path, drops);
}

}  // namespace splitplane::datapath
