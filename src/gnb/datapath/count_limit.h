// Why a bearer's downlink stops numbering, and how far it may go. The limit is the nearer of two: the mark of the COUNT
// lease, and what the peer of an acknowledged bearer must acknowledge first. The packet path compares one number
// (ran::is_at_limit). These functions compute that number, on the thread of the bearer's worker.
#pragma once

#include <rte_cycles.h>

#include <algorithm>
#include <optional>

#include "engine/drop_reason.h"
#include "gnb/datapath/context.h"
#include "n3/parse.h"

namespace splitplane::datapath {

[[nodiscard]] inline std::uint32_t count_limit_of(const ran::BearerDownlink& line, const ran::CountLease* lease,
                                                  const ArqBearer* arq) {
  // A grant may come after the bearer passed its mark. Then there is no room, and the next packet asks for a longer
  // lease.
  const std::uint32_t stop = lease == nullptr ? ran::kCountEnd : lease->mark;
  std::uint32_t room = std::max(stop, line.pdcp_tx_next) - line.pdcp_tx_next;
  if (arq != nullptr) {
    // RLC's numbers move on with PDCP's, so the limit of RLC is also a COUNT.
    const auto window = static_cast<std::int32_t>(arq->limit() - line.rlc_tx_next);
    room = std::min(room, static_cast<std::uint32_t>(std::max(window, 0)));
  }
  return line.pdcp_tx_next + room;
}

inline void set_count_limit(ran::BearerDownlink& line, const ran::CountLease* lease, const ArqBearer* arq) {
  // The line stands at its limit: secured.h or look_at_limit looks at lease and window.
  const bool stands = (line.options & (ran::kSecured | ran::kMarked)) != 0;
  line.count_limit = stands ? line.pdcp_tx_next : count_limit_of(line, lease, arq);
}

// Call it after the bearer's window or its lease changed.
inline void set_count_limit(GnbContext& gnb, ran::BearerDownlink& line) {
  set_count_limit(line, gnb.bearers.lease(line.id), gnb.arq == nullptr ? nullptr : gnb.arq_bearers.find(line.id));
}

// For a bearer whose COUNTs reached the mark of their lease, and not its end: asks for a longer lease.
inline void ask_for_lease(GnbContext& gnb, std::uint32_t id, std::uint32_t tx_next, ran::CountLease& lease) {
  constexpr std::uint32_t kAskAgain = 64;  // COUNTs until the next request if the ring was full
  const bool asked = gnb.lease_requests && gnb.lease_requests->ask({BearerId{id}, tx_next});
  lease.mark = asked ? lease.end : tx_next + std::min(kAskAgain, lease.end - tx_next);
}

// For a bearer with the key `ecn`: sets CE in an SDU that found a long queue. RLC's next number is the SDU's, or that
// of another SDU of the same burst.
inline void offer_to_marker(GnbContext& gnb, const ran::BearerDownlink& line, ArqBearer* arq, wire::MutableOctets sdu) {
  if (arq == nullptr || arq->marker == nullptr) return;
  gnb.stats.ecn_marked.add(arq->marker->offer(sdu, line.rlc_tx_next, rte_rdtsc()) ? 1 : 0);
}

// For a bearer at its limit: asks for a longer lease if the mark is reached. Returns why the SDU must be dropped, or
// nothing if the SDU may be numbered.
[[nodiscard, gnu::noinline]] inline std::optional<DropReason> look_at_limit(GnbContext& gnb, ran::BearerDownlink& line,
                                                                            rte_mbuf* m, const GPdu& gpdu) {
  ArqBearer* const arq = gnb.arq == nullptr ? nullptr : gnb.arq_bearers.find(line.id);
  ran::CountLease* const lease = gnb.bearers.lease(line.id);
  line.count_limit = count_limit_of(line, lease, arq);  // a STATUS PDU may have moved the window meanwhile
  if (ran::is_at_limit(line) && lease != nullptr && line.pdcp_tx_next >= lease->mark &&
      line.pdcp_tx_next < lease->end) {
    ask_for_lease(gnb, line.id, line.pdcp_tx_next, *lease);
    line.count_limit = count_limit_of(line, lease, arq);
  }
  if (!ran::is_at_limit(line)) {
    if ((line.options & ran::kMarked) == 0) return std::nullopt;
    line.count_limit = line.pdcp_tx_next + 1;  // the next SDU comes here again
    if (gnb.arq == nullptr || !gnb.arq->has_room()) return DropReason::rlc_window_full;
    offer_to_marker(gnb, line, arq, {octets(m) + gpdu.offset, gpdu.bytes});
    return std::nullopt;
  }
  if (arq != nullptr && (arq->failed || arq->limit() == line.rlc_tx_next)) return DropReason::rlc_window_full;
  return line.pdcp_tx_next == ran::kCountEnd ? DropReason::count_exhausted : DropReason::count_lease_ended;
}

// Applies what the journal has on disk now: COUNTs below `granted.end`; `from` was the end before. If the bearer was
// released and added again meanwhile, its lease has another end, and nothing changes.
inline void grant_lease(GnbContext& gnb, BearerId id, std::uint32_t from, ran::CountLease granted) {
  ran::CountLease* const lease = gnb.bearers.lease(id.value);
  ran::BearerDownlink& line = *gnb.bearers.bearer_line(id.value);
  if (lease == nullptr || !ran::BearerTable::is(line, id.value) || lease->end != from) return;
  *lease = granted;
  set_count_limit(gnb, line);
  if (gnb.fixed_bearer.id == id.value) set_count_limit(gnb, gnb.fixed_bearer);
}

}  // namespace splitplane::datapath
