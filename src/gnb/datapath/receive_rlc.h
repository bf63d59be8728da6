// First stage of the uplink in full mode (ul_rlc), in the place of parse_airhdr and read_pdus: RLC PDUs of logical
// channels, as MAC hands them over. SDUs that RLC completes are collected for PDCP (receive_secured).
//
//   goes on  an SDU that RLC completed
//   taken    a segment that waits for others, and a STATUS PDU
//   dropped  PDUs: rlc_failed, rlc_duplicate, rlc_malformed, rlc_no_memory; SDUs: rlc_no_buffer, pdcp_no_keys
#pragma once

#include <span>

#include "gnb/datapath/uplink_path.h"

namespace splitplane::datapath {

struct RlcPdu {
  LogicalChannel* channel = nullptr;
  rte_mbuf* pdu = nullptr;
};

// At most kBurst PDUs: each completes one SDU at most.
template <FeatureSet F, class Sink, class Probe>
inline void receive_rlc(UplinkPath<F, Sink, Probe>& path, std::span<const RlcPdu> pdus, Drops& drops) {
  GnbContext& gnb = path.gnb;
  const std::uint64_t now = rte_rdtsc();
  for (const RlcPdu& one : pdus) {
    gnb.cell->receive(*one.channel, MbufBuffer(one.pdu), now, [&](const LogicalChannel& channel, MbufBuffer sdu) {
      ++gnb.bearers.uplink_line(channel.id().value)->received;
      SecuredBearer* const bearer = gnb.pdcp == nullptr ? nullptr : gnb.secured_bearers.find(channel.id().value);
      if (bearer != nullptr) [[likely]]
        return gnb.pdcp->incoming.add(*bearer, sdu.detach());
      ++gnb.bearers.drops(channel.id().value).uplink;
      drops.add(sdu.detach(), DropReason::pdcp_no_keys);
    });
  }
  path.probe.stage(Stage::ul_rlc, static_cast<unsigned>(pdus.size()));
}

}  // namespace splitplane::datapath
