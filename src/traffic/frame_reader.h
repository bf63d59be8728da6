// Finds the stamp in a received frame: inside GTP-U on N3, or inside airhdr, RLC, PDCP and SDAP on the air. The input
// is octets, the output a verdict. It refuses broken frames.
#pragma once

#include <cstdint>

#include "base/outcome_list.h"
#include "base/types.h"
#include "traffic/stamp.h"

namespace splitplane::traffic {

#define SPLITPLANE_SEEN(X)                                                                \
  X(stamped, "packet of this run")                                                        \
  X(foreign, "packet without a stamp: somebody else's")                                   \
  X(other_run, "stamp of another run of a generator")                                     \
  X(flow_unknown, "stamp of a flow beyond sink.flows")                                    \
  X(stamp_damaged, "stamp whose check does not fit: octets were changed on the way")      \
  X(rlc_control, "RLC control PDU on the air, such as a STATUS PDU")                      \
  X(gtpu_other, "GTP-U message other than a G-PDU")                                       \
  X(other_protocol, "neither GTP-U nor an air frame: ARP, neighbour discovery and so on") \
  X(unreadable, "air or GTP-U headers that contradict themselves, or a segment")

SPLITPLANE_OUTCOMES(Seen, SPLITPLANE_SEEN)

struct Reading {
  Seen seen = Seen::unreadable;
  bool on_air = false;
  std::uint32_t tunnel = 0;  // TEID on N3, bearer identity on the air; with stamped, foreign and stamp_damaged
  Stamp stamp;               // with stamped
};

// Never returns other_run or flow_unknown, because only the caller knows the run.
[[nodiscard]] Reading read_frame(Octets frame);

}  // namespace splitplane::traffic
