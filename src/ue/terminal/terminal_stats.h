// What the UEs of full mode count on their way between MAC and PDCP: one outcome for each transport block that the PHY
// brings, for each uplink grant, and for each RLC PDU of a block. Their thread writes, any thread may read (Counter).
#pragma once

#include <array>
#include <numeric>

#include "base/counter.h"
#include "base/outcome_list.h"
#include "ran/mac/demux.h"

namespace splitplane::ue {

// clang-format off
#define SPLITPLANE_DOWNLINK_BLOCKS(X)                                                   \
  X(delivered, "decoded for the first time: taken apart, and acknowledged")             \
  X(duplicate, "a repetition of what was decoded: acknowledged, but not taken apart")   \
  X(not_decoded, "not decoded: the answer is a NACK")                                   \
  X(no_process, "there is no HARQ process of this number: not answered")                \
  X(unknown_rnti, "no UE has this C-RNTI: not answered")

#define SPLITPLANE_GRANT_OUTCOMES(X)                                                    \
  X(new_block, "a new transport block was sent")                                        \
  X(repetition, "the transport block of the process was sent again")                    \
  X(size_differs, "a repetition of another size than the block has: nothing was sent")  \
  X(no_memory, "there was no memory for a new block: nothing was sent")                 \
  X(wrong_process, "there is no HARQ process of this number: nothing was sent")         \
  X(too_large, "a larger block than this side has memory for, or one without octets")   \
  X(unknown_rnti, "no UE has this C-RNTI")                                              \
  X(no_place, "the UE has as many grants for slots to come as it keeps, or one for this slot") \
  X(not_used, "its slot was over before the PHY asked for the block")                   \
  X(given_up, "MAC of the UE was reset, or the UE left, before the slot came")

#define SPLITPLANE_RLC_PDUS(X)                                                          \
  X(taken, "data PDU with new octets")                                                  \
  X(control, "STATUS PDU")                                                              \
  X(duplicate, "received before, or outside the receiving window")                      \
  X(malformed, "no PDU of this entity, or it contradicts what is held")                 \
  X(no_memory, "no memory to keep a segment: as if lost")                               \
  X(failed, "its entity has failed, and waits for re-establishment")

#define SPLITPLANE_TERMINAL_COUNTERS(X)                                                 \
  X(downlink_octets, "octets of decoded transport blocks, without repetitions")         \
  X(uplink_octets, "octets of transport blocks sent, without repetitions")              \
  X(sdus, "downlink SDUs that RLC completed, for PDCP")                                 \
  X(sdus_without_buffer, "downlink SDUs that RLC completed, and for which no buffer was free") \
  X(queued, "uplink PDCP PDUs that RLC took")                                           \
  X(given_up, "of these, dropped when RLC failed, began anew or ended")                 \
  X(request_chances, "slots in which a UE could have sent a scheduling request")        \
  X(requests, "scheduling requests sent")                                               \
  X(resets, "resets of a UE's MAC: another C-RNTI, RLC of a bearer that began anew, or the PHY's start") \
  X(blocks_taken_back, "blocks of HARQ processes that were given up for a new block, the oldest first") \
  X(status_stale, "STATUS PDUs ignored: a later one came before them")                  \
  X(status_malformed, "STATUS PDUs ignored: wrong form or of what was not sent")        \
  X(max_retx, "SDUs that were sent again maxRetxThreshold times")                       \
  X(peer_lost, "failures of RLC AM because no poll was answered any more")
// clang-format on

SPLITPLANE_OUTCOMES(DownlinkBlock, SPLITPLANE_DOWNLINK_BLOCKS)
SPLITPLANE_OUTCOMES(GrantOutcome, SPLITPLANE_GRANT_OUTCOMES)
SPLITPLANE_OUTCOMES(RlcPduOutcome, SPLITPLANE_RLC_PDUS)

struct TerminalStats {
  Counter blocks_received;  // = the sum of `blocks`
  std::array<Counter, kDownlinkBlockCount> blocks;
  Counter grants_received;  // = the sum of `grants`, and grants_waiting
  std::array<Counter, kGrantOutcomeCount> grants;
  Counter pdus_received;  // = the sum of `pdus`; with MacDrop::no_buffer those of `demux`
  std::array<Counter, kRlcPduOutcomeCount> pdus;
#define SPLITPLANE_TERMINAL_COUNTER(name, text) Counter name;
  SPLITPLANE_TERMINAL_COUNTERS(SPLITPLANE_TERMINAL_COUNTER)
#undef SPLITPLANE_TERMINAL_COUNTER
  Counter grants_waiting;         // not a sum: for slots to come
  Counter rlc_held;               // not a sum: uplink SDUs that wait for grants, or for their acknowledgement
  ran::mac::DemuxCounters demux;  // of all UEs; only their thread may read it

  void count(DownlinkBlock what) {
    blocks_received.add(1);
    blocks[static_cast<std::size_t>(what)].add(1);
  }
  void count(GrantOutcome what) { grants[static_cast<std::size_t>(what)].add(1); }
  void count(RlcPduOutcome what) {
    pdus_received.add(1);
    pdus[static_cast<std::size_t>(what)].add(1);
  }
  [[nodiscard]] std::uint64_t counted(DownlinkBlock what) const { return blocks[static_cast<std::size_t>(what)].get(); }
  [[nodiscard]] std::uint64_t counted(GrantOutcome what) const { return grants[static_cast<std::size_t>(what)].get(); }
  [[nodiscard]] std::uint64_t counted(RlcPduOutcome what) const { return pdus[static_cast<std::size_t>(what)].get(); }

  // True if each block, grant and PDU has one outcome. On the owner's thread only.
  [[nodiscard]] bool balanced() const {
    const auto sum = [](const auto& counters) {
      return std::accumulate(counters.begin(), counters.end(), std::uint64_t{0},
                             [](std::uint64_t n, const Counter& one) { return n + one.get(); });
    };
    return blocks_received.get() == sum(blocks) && demux.blocks == counted(DownlinkBlock::delivered) &&
           grants_received.get() == sum(grants) + grants_waiting.get() && pdus_received.get() == sum(pdus) &&
           demux.sdus == pdus_received.get() + demux.of(ran::mac::MacDrop::no_buffer);
  }
};

}  // namespace splitplane::ue
