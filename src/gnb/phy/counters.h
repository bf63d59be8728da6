// What the thread that talks to a PHY counts. Any thread may read it.
#pragma once

#include "phy/link/counters.h"

namespace splitplane::gnb {

// clang-format off
#define SPLITPLANE_PHY_THREAD_COUNTERS(X)                                                                     \
  X(plans_sent, "plans of slots that went to the PHY")                                                        \
  X(plans_dropped, "plans dropped because the PHY did not run any more")                                      \
  X(messages_dropped, "messages of slots that the kernel did not take, or that could not be written")            \
  X(left_out, "grants that found no place in the messages of their slot")                                     \
  X(reports_dropped, "reports of the PHY dropped because the worker did not read them")                          \
  X(harq_acks, "HARQ-ACKs of UEs with the value ACK")                                                         \
  X(harq_nacks, "HARQ-ACKs of UEs with the value NACK, or not present")                                       \
  X(requests, "scheduling requests of UEs")                                                                   \
  X(blocks, "uplink transport blocks with a right CRC")                                                       \
  X(crc_wrong, "uplink transport blocks with a wrong CRC, or that were not sent")                             \
  X(other_slots, "messages of the PHY for slots of another numerology, or without a right slot")              \
  X(uci_unread, "UCI reports of a kind that was not ordered")
// clang-format on

struct PhyThreadCounters {
  SPLITPLANE_PHY_THREAD_COUNTERS(SPLITPLANE_LINK_MEMBER)
  template <class F>
  void for_each(F f) const {
    SPLITPLANE_PHY_THREAD_COUNTERS(SPLITPLANE_LINK_VISIT)
  }
};

}  // namespace splitplane::gnb
