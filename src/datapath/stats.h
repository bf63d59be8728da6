// What a worker counts: packets and cycles per stage, drops by reason, and where its time went. Written by the worker
// alone, read by anybody (Counter).
#pragma once

#include <array>
#include <cstdint>

#include "base/counter.h"
#include "base/outcome_list.h"
#include "datapath/drop_reason.h"
#include "datapath/limits.h"

namespace splitplane::datapath {

// clang-format off
#define SPLITPLANE_STAGES(X)                                                 \
  X(dl_parse, "Ethernet to GTP-U and PDU Session Container")                 \
  X(dl_bearer, "TEID to bearer")                                             \
  X(dl_headers, "strip GTP-U, add airhdr, RLC, PDCP, SDAP")                  \
  X(dl_clone, "reference for the copies")                                    \
  X(dl_tx, "transmit to the air")                                            \
  X(ul_parse, "airhdr to bearer, RLC control to the copies")                 \
  X(ul_encap, "strip RLC, PDCP, SDAP, add GTP-U")                            \
  X(ul_tx, "transmit to N3")                                                 \
  X(l2fwd, "swap MAC addresses")                                             \
  X(dispatch, "TEID or bearer to worker")                                    \
  X(copies, "consume copies")
// clang-format on

SPLITPLANE_OUTCOMES(Stage, SPLITPLANE_STAGES)

// Cycles are read on one burst in kSampleEvery, so that pricing the stages costs next to nothing.
inline constexpr unsigned kSampleEvery = 16;

struct StageStats {
  Counter packets;
  Counter sampled_packets, sampled_cycles;
};

struct WorkerStats {
  std::array<StageStats, kStageCount> stages;
  std::array<Counter, kDropReasonCount> drops;
  std::array<Counter, kMaxQueues> received;  // by queue, in the order of the function's queues()
  Counter transmitted_air, transmitted_n3;   // accepted by the port (l2fwd counts its one port as air)
  Counter punted;                            // handed to the control thread (ARP, neighbour discovery)
  Counter control_pdus;                      // uplink RLC control handed to the copies
  Counter dispatched;                        // handed to another worker
  Counter copies, copies_lost;               // references handed over; those the ring had no room for
  Counter monitored;                         // uplink packets with the time stamps of QoS monitoring
  Counter injected;                          // control thread's frames sent (not among `received`)
  Counter inject_lost;                       // those the port did not take
  Counter inject_refused;                    // those that did not reach the worker; written by the control thread
  Counter busy_cycles, idle_cycles, asleep_cycles, rounds, sleeps;

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
