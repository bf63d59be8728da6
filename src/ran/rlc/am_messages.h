// What the two halves of AM transmission, AmSend and AmRetx, tell each other. In AmEntity they pass these as arguments.
// Between a card or worker and a buffering service they are messages.
#pragma once

#include "ran/rlc/types.h"

namespace splitplane::ran::rlc {

// AmSend -> AmRetx: AmSend gave the lower layer a PDU with octets that were never sent before.
template <buf::Keepable B>
struct Submission {
  B sdu;                    // set with the PDU that carries its first octets: the copy to keep
  std::uint32_t sn = 0;     // without the modulus
  std::uint16_t bytes = 0;  // length of the whole SDU
  std::uint16_t sent = 0;   // octets of the SDU that were sent so far
  bool poll = false;        // the PDU carried a poll
};

// AmSend -> AmRetx: what AmSend still has to send.
struct SenderState {
  bool unsent = false;   // octets wait that were never sent
  bool stalled = false;  // AmSend may send no new SDU: the window or the memory for copies is full
};

// AmRetx -> AmSend: what AmSend needs for its next PDU.
struct RetxState {
  std::uint32_t next_ack = 0;  // TX_Next_Ack: the window's base
  bool pending = false;        // retransmissions wait
  bool poll_wanted = false;    // t-PollRetransmit expired, so the next PDU carries a poll
  std::uint32_t room = 0;      // number of new SDUs whose copies can be kept
};

}  // namespace splitplane::ran::rlc
