// Downlink of the UE side, the receiving peer of the gNB's header mode: air frame -> airhdr -> RLC -> PDCP -> SDAP ->
// IP packet. It is written from the formats and the parsers of wire/, and shares no code with the gNB. The input and
// output are octets.
#pragma once

#include "ue/ue_bearers.h"
#include "ue/ue_outcome.h"
#include "ue/ue_packet.h"
#include "ue/ue_session.h"

namespace splitplane::ue {

class UeDownlink {
 public:
  struct Received {
    UeOutcome outcome = UeOutcome::ok;
    Octets packet;               // if ok: the IP packet, inside the frame
    UeBearer* bearer = nullptr;  // if the frame names one
    bool status_due = false;     // an AMD PDU polled: a STATUS PDU must be sent, whatever the outcome
    bool is_protected = false;   // `packet` is a PDU for PDCP of a secured bearer
  };

  // `due`: end markers that RDI makes due go there.
  UeDownlink(UeBearers& bearers, datapath::Arq& arq, UeEndMarkers& due) : bearers_(bearers), arq_(&arq), due_(due) {}
  // For receive_sdu() alone: full mode, where no frames come.
  UeDownlink(UeBearers& bearers, UeEndMarkers& due) : bearers_(bearers), due_(due) {}

  // With a file of keys: PDCP of secured bearers.
  void take_pdcp(datapath::WorkerPdcp& pdcp) { pdcp_ = &pdcp; }

  // Moves the bearer's receive numbers on and counts. The caller counts `delivered` when the kernel has taken the
  // packet.
  [[nodiscard]] Received receive(Octets frame);
  // What PDCP of a secured bearer delivers: through SDAP to the IP packet.
  [[nodiscard]] Received receive_sdu(UeBearer& bearer, Octets sdu);

 private:
  void wait_for_gnb(UeBearer& bearer);

  UeBearers& bearers_;
  datapath::Arq* arq_ = nullptr;
  UeEndMarkers& due_;
  datapath::WorkerPdcp* pdcp_ = nullptr;
};

}  // namespace splitplane::ue
