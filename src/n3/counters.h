// Counters of the messages on N3 that are no packets of bearers: GTP-U path management, ARP and neighbor discovery.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::app {

// clang-format off
#define SPLITPLANE_GTPU_COUNTERS(X)                                                                            \
  X(echo_requests_received, "Echo Requests received")                                                          \
  X(echo_responses_sent, "Echo Responses sent")                                                                \
  X(echo_responses_withheld, "Echo Responses not sent: the asker had its share")                               \
  X(echo_requests_sent, "Echo Requests sent, repetitions too")                                                 \
  X(echo_responses_received, "Echo Responses to an open request")                                              \
  X(echo_responses_unasked, "Echo Responses that nobody waited for")                                           \
  X(error_indications_sent, "Error Indications sent for unknown TEIDs")                                        \
  X(error_indications_withheld, "Error Indications not sent: the peer had its share, or the TEID is just gone") \
  X(error_indications_received, "Error Indications of a bearer's UPF")                                         \
  X(error_indications_limited, "of them, those that began no check: too many bearers at once")                 \
  X(error_indications_refuted, "checks of a bearer's uplink that found nothing wrong")                         \
  X(uplinks_stopped, "times that a bearer's uplink was stopped")                                               \
  X(uplinks_resumed, "times that a stopped uplink went on by itself")                                          \
  X(error_indications_unmatched, "Error Indications of no bearer, of another host than its UPF, or for a bearer that " \
                                 "is being changed")                                                           \
  X(end_markers_received, "End Markers of a bearer")                                                           \
  X(end_markers_unmatched, "End Markers for a TEID without a bearer, or not from its UPF")                     \
  X(extension_notifications_sent, "Supported Extension Headers Notifications sent")                            \
  X(extension_notifications_withheld, "Supported Extension Headers Notifications not sent: the peer had its share") \
  X(extension_notifications_received, "Supported Extension Headers Notifications received")                    \
  X(malformed, "messages that could not be read")
// clang-format on

SPLITPLANE_OUTCOMES(GtpuCounter, SPLITPLANE_GTPU_COUNTERS)

// clang-format off
#define SPLITPLANE_NEIGHBOR_COUNTERS(X)                                                        \
  X(neighbor_questions, "ARP requests and neighbour solicitations sent")                       \
  X(neighbor_checks, "claims that a known hop has moved, which began a check")                 \
  X(neighbor_claims_refused, "of them, false: the known address answered")                     \
  X(neighbor_moves, "next hops that were found at another MAC address")                        \
  X(neighbor_gone, "next hops that do not answer any more")                                    \
  X(neighbor_macs_refused, "frames that name a broadcast, multicast or zero MAC address, or our own")
// clang-format on

SPLITPLANE_OUTCOMES(NeighborCounter, SPLITPLANE_NEIGHBOR_COUNTERS)

}  // namespace splitplane::app
