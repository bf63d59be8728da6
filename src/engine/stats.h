// What a worker counts: packets and cycles per stage, drops by reason, and where its time went. Only the worker writes
// it; any thread may read it (Counter).
#pragma once

#include <array>
#include <cstdint>

#include "base/counter.h"
#include "base/outcome_list.h"
#include "engine/drop_reason.h"
#include "engine/limits.h"

namespace splitplane::datapath {

// clang-format off
#define SPLITPLANE_STAGES(X)                                                 \
  X(dl_parse, "Ethernet to GTP-U and PDU Session Container")                 \
  X(dl_bearer, "TEID to bearer")                                             \
  X(dl_headers, "strip GTP-U, add airhdr, RLC, PDCP, SDAP")                  \
  X(dl_clone, "reference for the copies")                                    \
  X(dl_tx, "transmit to the air")                                            \
  X(dl_pdcp, "full mode: SDAP and PDCP, ciphered")                           \
  X(dl_rlc, "full mode: into the queues of RLC")                             \
  X(ul_rlc, "full mode: RLC PDUs to SDUs")                                   \
  X(ul_parse, "airhdr to bearer, RLC control to the copies")                 \
  X(ul_encap, "strip RLC, PDCP, SDAP, add GTP-U")                            \
  X(ul_tx, "transmit to N3")                                                 \
  X(l2fwd, "swap MAC addresses")                                             \
  X(dispatch, "TEID or bearer to worker")                                    \
  X(copies, "consume copies")
// clang-format on

SPLITPLANE_OUTCOMES(Stage, SPLITPLANE_STAGES)

// Cycles are read on one burst in kSampleEvery, so that measuring the stages costs next to nothing.
inline constexpr unsigned kSampleEvery = 16;

// Counters of a stage and of a worker: field, unit, help. From these lists come the fields, `splitplane ctl stats`, the
// metrics and docs/reference/metrics.md.
// clang-format off
#define SPLITPLANE_STAGE_COUNTERS(X)                                                         \
  X(packets, "packets", "packets that entered the stage")                                    \
  X(sampled_packets, "packets", "packets of the bursts that were timed, one in 16")          \
  X(sampled_cycles, "cycles", "TSC cycles that the timed bursts took in the stage")

#define SPLITPLANE_WORKER_COUNTERS(X)                                                        \
  X(transmitted_air, "packets", "accepted by the air port (l2fwd: by its port)")             \
  X(transmitted_n3, "packets", "accepted by the N3 port")                                    \
  X(returned, "packets", "SDUs of a card's bearers, given back to the card for their numbers") \
  X(settled, "packets", "sent to a card about packets of its bearers that were dropped here; not among the received") \
  X(card_resettled, "", "times that a card was told that no packet of a bearer is here any more, because one was lost") \
  X(punted, "packets", "to the control thread: ARP, neighbour discovery, GTP-U but G-PDUs; a card's fences") \
  X(rlc_control, "packets", "uplink RLC control PDUs, handed to the copies or acted upon")                  \
  X(rlc_retransmitted, "packets", "AMD PDUs sent again")                                     \
  X(rlc_status_sent, "packets", "STATUS PDUs sent")                                          \
  X(rlc_queued, "packets", "full mode: PDCP PDUs that RLC took, to send them within grants") \
  X(rlc_pdus, "packets", "full mode: uplink RLC PDUs that came from MAC; not among the received") \
  X(rlc_taken, "packets", "full mode: uplink RLC data PDUs with new octets")                 \
  X(rlc_delivered, "packets", "full mode: uplink SDUs that RLC completed; not among the received") \
  X(mac_built, "blocks", "full mode: transport blocks of new data")                   \
  X(mac_received, "blocks", "full mode: uplink transport blocks taken apart")         \
  X(mac_no_buffer, "packets", "full mode: uplink RLC PDUs that MAC dropped, because no buffer was free")  \
  X(phy_slots_planned, "", "full mode: slots for which the PHY got a plan")                   \
  X(phy_slots_passed_over, "", "full mode: slots without a plan, because the worker was late or the PHY's thread full") \
  X(rlc_own, "packets", "retransmitted AMD and STATUS PDUs that the air port took; not among the received") \
  X(rlc_status_stale, "packets", "STATUS PDUs ignored: a later one came before them")        \
  X(rlc_status_malformed, "packets", "STATUS PDUs ignored: wrong form or of what was not sent") \
  X(rlc_deferred, "packets", "numbered and kept, but not sent yet: they go when they are missed") \
  X(rlc_max_retx, "packets", "SDUs that were sent again maxRetxThreshold times")                \
  X(rlc_peer_lost, "bearers", "failures of RLC AM because no poll was answered any more")    \
  X(ecn_marked, "packets", "downlink packets in which PDCP set Congestion Experienced")        \
  X(rlc_tx_lost, "packets", "retransmissions and STATUS PDUs that the port did not take")    \
  X(transmitted_vf, "packets", "accepted by the VFs of a card")                              \
  X(dispatched, "packets", "handed to another worker, or to another core of a card")         \
  X(copies, "packets", "references handed to the consumer of copies, or kept for retransmission")                        \
  X(copies_lost, "packets", "references that the ring to the consumer had no room for")      \
  X(card_copies, "packets", "clones of PDUs that a card sent, kept for retransmission") \
  X(card_copies_lost, "packets", "PDUs that a card sent and of which no clone came") \
  X(rlc_copy_gone, "bearers", "times that a UE missed one of these: RLC is re-established then") \
  X(baas_told, "packets", "copies that the buffering service was told of, those told again among them") \
  X(baas_told_again, "packets", "copies that it was told of later or again: it began anew, or had no room") \
  X(baas_status_lost, "packets", "STATUS PDUs that could not be handed to it: no service, or its ring is full") \
  X(qos_monitored, "packets", "uplink packets with the time stamps of QoS monitoring")        \
  X(reorder_given_up, "packets", "places in N3 order that were waited for in vain")          \
  X(injected, "packets", "frames of the control thread sent, not among the received")        \
  X(inject_lost, "packets", "frames of the control thread that the port did not take")       \
  X(inject_refused, "packets", "frames of the control thread that did not reach the worker") \
  X(rounds, "", "rounds of the worker loop")                                                 \
  X(sleeps, "", "sleeps of the worker loop")                                                 \
  X(wakeups, "", "sleeps that a packet, a frame or a command ended before their time")       \
  X(pauses, "", "rests on the core, by the power policy")                                    \
  X(p_state_changes, "", "P-states that the power policy asked for")                         \
  X(p_state_retries, "", "times that a core whose rounds another core makes was asked again for its slowest P-state") \
  X(busy_cycles, "cycles", "TSC cycles in rounds with packets")                              \
  X(idle_cycles, "cycles", "TSC cycles in rounds without packets, and in pauses")            \
  X(paused_cycles, "cycles", "TSC cycles in pauses")                                         \
  X(asleep_cycles, "cycles", "TSC cycles asleep")
// clang-format on
#define SPLITPLANE_COUNTER_FIELD(field, unit, help) Counter field;

struct StageStats {
  SPLITPLANE_STAGE_COUNTERS(SPLITPLANE_COUNTER_FIELD)
};

struct WorkerStats {
  std::array<StageStats, kStageCount> stages;
  std::array<Counter, kDropReasonCount> drops;
  std::array<Counter, kMaxQueues> received;  // by queue, in the order of the function's queues()
  SPLITPLANE_WORKER_COUNTERS(SPLITPLANE_COUNTER_FIELD)
  Counter rlc_unacked;   // not a sum: SDUs kept for retransmission now; full mode: with those that wait for grants
  Counter reorder_held;  // not a sum: packets that wait now for packets before them
  Counter pdcp_held;     // not a sum: uplink SDUs that wait now for SDUs before them
  Counter flow_held;     // not a sum: packets of QoS flows that moved, which wait now for packets before them
  Counter card_held;     // not a sum: packets on their way back to a card, which wait now for its lease or for the port

  void drop(DropReason reason, std::uint64_t n = 1) { drops[static_cast<std::size_t>(reason)].add(n); }
  [[nodiscard]] std::uint64_t received_total() const {
    std::uint64_t sum = 0;
    for (const auto& counter : received) sum += counter.get();
    return sum;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    std::uint64_t sum = 0;
    for (const auto& counter : drops) sum += counter.get();
    return sum;
  }
};

}  // namespace splitplane::datapath
