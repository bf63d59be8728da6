// What a worker hands to the control thread, by class: each has a ring and a rate of its own, so that a flood of one
// keeps none of the others out.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::datapath {

// clang-format off
#define SPLITPLANE_PUNT_CLASSES(X)                                                     \
  X(neighbor, "ARP and neighbour discovery")                                           \
  X(echo, "Echo Request")                                                              \
  X(echo_response, "Echo Response")                                                    \
  X(error, "Error Indication")                                                         \
  X(notice, "End Marker, Supported Extension Headers Notification")                    \
  X(answer, "dropped packets whose sender is told: unknown TEIDs, extension headers")
// clang-format on

SPLITPLANE_OUTCOMES(PuntClass, SPLITPLANE_PUNT_CLASSES)

}  // namespace splitplane::datapath
