// The classes of frames that a worker punts to the control thread. Each class has a separate ring and rate, so that a
// flood of one class does not block the others.
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

// Frames a second that a worker punts, by class.
[[nodiscard]] constexpr unsigned punts_per_second(PuntClass kind) {
  switch (kind) {
    case PuntClass::neighbor:
    case PuntClass::echo:
    case PuntClass::echo_response:
      return 1000;
    case PuntClass::error:
    case PuntClass::answer:
      return 500;
    case PuntClass::notice:
      return 200;
  }
  return 0;
}

}  // namespace splitplane::datapath
