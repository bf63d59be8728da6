// What the two halves of AM transmission tell each other. In one place (AmEntity) they are arguments; between a card or
// worker and a buffering service they are messages.
#pragma once

#include "ran/rlc/types.h"

namespace splitplane::ran::rlc {

// AmSend -> AmRetx: a PDU with octets never sent before went to the lower layer.
template <buf::PacketBuffer B>
struct Submission {
  B sdu;                    // with its first octets: the copy to keep
  std::uint32_t sn = 0;     // without the modulus
  std::uint16_t bytes = 0;  // of the whole SDU
  std::uint16_t sent = 0;   // of its octets, all that were sent so far
  bool poll = false;        // the PDU carried a poll
};

// AmSend -> AmRetx: what AmSend still has.
struct SenderState {
  bool unsent = false;   // octets that were never sent
  bool stalled = false;  // no new SDU may be sent: the window is full, or the memory for copies
};

// AmRetx -> AmSend.
struct RetxState {
  std::uint32_t next_ack = 0;  // TX_Next_Ack: the window's base
  bool pending = false;        // retransmissions wait
  bool poll_wanted = false;    // t-PollRetransmit expired: the next PDU carries a poll
  std::uint32_t room = 0;      // new SDUs whose copies can be kept
};

}  // namespace splitplane::ran::rlc
