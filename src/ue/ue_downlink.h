// Downlink of the UE side, the receiving peer of the gNB's header mode: air frame -> airhdr -> RLC -> PDCP -> SDAP ->
// IP packet. Written from the formats and the parsers of wire/, not from the gNB's code. Octets in, octets out.
#pragma once

#include "ue/ue_bearers.h"
#include "ue/ue_outcome.h"
#include "ue/ue_packet.h"

namespace splitplane::ue {

class UeDownlink {
 public:
  struct Received {
    UeOutcome outcome = UeOutcome::ok;
    Octets packet;               // if ok: the IP packet, inside the frame
    UeBearer* bearer = nullptr;  // where the frame names one
    bool status_due = false;     // an AMD PDU polled: whatever became of it, a STATUS PDU is to be sent
  };

  UeDownlink(UeBearers& bearers, datapath::Arq& arq) : bearers_(bearers), arq_(arq) {}

  // Moves the bearer's receive numbers on and counts; `delivered` is the caller's to count, when the kernel has taken
  // the packet.
  [[nodiscard]] Received receive(Octets frame);

 private:
  UeBearers& bearers_;
  datapath::Arq& arq_;
};

}  // namespace splitplane::ue
