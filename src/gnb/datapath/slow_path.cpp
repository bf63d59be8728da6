#include "gnb/datapath/slow_path.h"

#include <rte_cycles.h>

#include "gnb/datapath/context.h"
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

}  // namespace

void drop_of_bearer(GnbContext& context, rte_mbuf* m, ran::BearerDownlink& bearer, unsigned bytes, DropReason reason,
                    Losses& losses) {
  ++bearer.received;
  bearer.bytes += bytes;
  ++context.bearers.losses(bearer.id).downlink;
  losses.add(m, reason);
}

bool parse_slow(rte_mbuf* m, const N3Addresses& ours, Punts& punts, WorkerStats& stats, Losses& losses, GPdu& gpdu) {
  if (m->nb_segs != 1) {
    losses.add(m, DropReason::mbuf_segmented);
    return false;
  }
  const N3Parsed parsed = parse_n3(octets(m), m->data_len, ours, gpdu);
  if (parsed.verdict == N3Verdict::kPunt) {
    if (const DropReason refused = punts.give(parsed.punt, m, rte_rdtsc()); refused == DropReason::ok) {
      stats.punted.add(1);
    } else {
      losses.add(m, refused);
    }
  }
  if (parsed.verdict == N3Verdict::kDrop) {
    if (parsed.reason == drop_reason(wire::Reason::gtpu_extension_unknown_required)) {
      drop_and_tell(punts, m, parsed.reason, rte_rdtsc(), stats, losses);
    } else {
      losses.add(m, parsed.reason);
    }
  }
  return parsed.verdict == N3Verdict::kGPdu;
}

void check_options_slow(GnbContext& context, Burst& burst, GPdu* gpdus, ran::BearerDownlink** bearers, bool ordered,
                        Losses& losses) {
  const unsigned received = burst.size;
  const std::uint64_t now = rte_rdtsc();
  unsigned kept = 0;
  for (unsigned i = 0; i < received; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    ran::BearerDownlink& bearer = *bearers[i];
    const GPdu& gpdu = gpdus[i];
    if ((gpdu.slow & kNoPsc) != 0 && (bearer.options & ran::kRequirePsc) != 0) {
      drop_of_bearer(context, m, bearer, gpdu.bytes, DropReason::psc_missing, losses);
      continue;
    }
    if ((gpdu.slow & kTimeStamped) != 0 && !ordered) note_time_stamp(context, m, bearer, gpdu);
    if ((gpdu.slow & kSequenced) != 0 && (bearer.options & ran::kReorder) != 0 && !ordered) {
      using Verdict = N3Reorder::Verdict;
      const Verdict verdict = context.reorder.take(m, BearerId{bearer.id}, gpdu.sequence_number, now);
      if (verdict == Verdict::kOld) drop_of_bearer(context, m, bearer, gpdu.bytes, DropReason::n3_sn_old, losses);
      if (verdict != Verdict::kPass) continue;
    }
    bearers[kept] = bearers[i];
    gpdus[kept] = gpdus[i];
    burst.mbuf[kept++] = m;
  }
  burst.size = kept;
}

}  // namespace splitplane::datapath
