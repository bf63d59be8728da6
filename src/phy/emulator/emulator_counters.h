// What an emulated PHY counts. One thread counts; any thread may read.
#pragma once

#include "phy/link/counters.h"

namespace splitplane::phy {

// clang-format off
#define SPLITPLANE_EMULATOR_COUNTERS(X)                                                       \
  X(slots, "slots run")                                                                       \
  X(late, "messages for a slot that was over")                                                \
  X(repeated, "messages dropped because their slot had one of the kind already")              \
  X(tx_refused, "blocks of TX_DATA.request without memory, or with the index of another one") \
  X(tx_unused, "blocks of TX_DATA.request that no PDSCH carries")                             \
  X(dl_blocks, "downlink transport blocks ordered")                                           \
  X(dl_decoded, "of these, decoded by their UE")                                              \
  X(dl_lost, "of these, with a wrong CRC")                                                    \
  X(dl_dci_lost, "of these, not seen by their UE because the DCI was lost")                   \
  X(dl_no_data, "of these, without octets of the right size in TX_DATA.request")              \
  X(acks, "downlink blocks that UEs acknowledged")                                            \
  X(nacks, "downlink blocks that UEs answered with NACK")                                     \
  X(unanswered, "downlink blocks that reached no UE, or that it did not answer")              \
  X(harq_ordered, "HARQ-ACKs that UL_TTI.request ordered")                                    \
  X(answers_sent, "HARQ-ACKs given to the L2 as ACK or NACK")                                 \
  X(harq_dtx, "HARQ-ACKs that were ordered and that no UE sent: DTX")                         \
  X(answers_unasked, "ACKs and NACKs that UL_TTI.request did not order where the UE sent them") \
  X(answers_forgotten, "ACKs and NACKs whose slot did not come before the PHY stopped")       \
  X(answers_held, "ACKs and NACKs whose slot comes")                                          \
  X(ul_dcis, "uplink grants in UL_DCI.request")                                               \
  X(ul_dci_lost, "of these, lost on their way to the UE")                                     \
  X(ul_refused, "of these, for a slot in which the UE has a grant already")                   \
  X(ul_granted, "of these, given to their UE")                                                \
  X(ul_forgotten, "of those given, the ones whose slot did not come before the PHY stopped")  \
  X(ul_held, "of those given, the ones whose slot comes")                                     \
  X(ul_silent, "of those given, the ones for which the UE sent no block of the right size")   \
  X(ul_sent, "of those given, the ones for which the UE sent a block")                        \
  X(ul_decoded, "uplink transport blocks decoded")                                            \
  X(ul_lost, "uplink transport blocks with a wrong CRC")                                      \
  X(ul_unheard, "uplink transport blocks that UL_TTI.request did not order as they were sent") \
  X(pusch_ordered, "uplink transport blocks that UL_TTI.request ordered")                     \
  X(pusch_empty, "of these, the ones that no UE sent: a wrong CRC")                           \
  X(sr_chances, "chances for a scheduling request in UL_TTI.request")                         \
  X(sr_sent, "of these, used")                                                                \
  X(sr_quiet, "of these, not used")
// clang-format on

struct EmulatorCounters {
  SPLITPLANE_EMULATOR_COUNTERS(SPLITPLANE_LINK_MEMBER)
  template <class F>
  void for_each(F f) const {
    SPLITPLANE_EMULATOR_COUNTERS(SPLITPLANE_LINK_VISIT)
  }

  // Whether they add up, as they do between two slots. For the thread that counts.
  [[nodiscard]] bool balanced() const {
    const auto sum = [](const auto&... counters) { return (counters.get() + ...); };
    return sum(dl_blocks) == sum(dl_decoded, dl_lost, dl_dci_lost, dl_no_data) &&
           sum(dl_decoded, dl_lost) == sum(acks, nacks, unanswered) &&
           sum(acks, nacks) == sum(answers_sent, answers_unasked, answers_forgotten, answers_held) &&
           sum(harq_ordered) == sum(answers_sent, harq_dtx) &&
           sum(ul_dcis) == sum(ul_dci_lost, ul_refused, ul_granted) &&
           sum(ul_granted) == sum(ul_forgotten, ul_held, ul_silent, ul_sent) &&
           sum(ul_sent) == sum(ul_decoded, ul_lost, ul_unheard) &&
           sum(pusch_ordered) == sum(ul_decoded, ul_lost, pusch_empty) && sum(sr_chances) == sum(sr_sent, sr_quiet);
  }
};

}  // namespace splitplane::phy
