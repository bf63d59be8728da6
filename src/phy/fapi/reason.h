// Why a FAPI or nFAPI message was refused, by its reader or by its writer. One list makes the names, texts and
// counters.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::fapi {

#define SPLITPLANE_FAPI_REASONS(X)                                                              \
  X(ok, "accepted")                                                                             \
  X(truncated, "message ends inside a field")                                                   \
  X(trailing_octets, "octets after the last field of a message")                                \
  X(no_room, "message is longer than the span that it is written into")                         \
  X(too_many, "a list has more elements than are held here")                                    \
  X(bad_length, "length of a payload is not the one that its field says")                       \
  X(bad_sfn, "SFN above 1023")                                                                  \
  X(bad_slot, "slot above 159")                                                                 \
  X(bad_pdu_size, "PDU size below its own fields or beyond the message")                        \
  X(bad_pdu_count, "nUlsch or nUlcch is not the number of PUSCH or PUCCH PDUs")                 \
  X(bad_group, "a group names a PDU that the message does not have")                            \
  X(bad_tlv_length, "TLV of a length that its tag does not have")                               \
  X(tlv_missing, "fewer TLVs than the message announces")                                       \
  X(tlv_twice, "TLV that may be there once is there twice")                                     \
  X(bad_payload_tag, "TX_DATA TLV whose tag is neither 0 (inline) nor 2 (offset)")              \
  X(payload_pointer, "TX_DATA TLV with a pointer (tag 1), which a datagram cannot carry")       \
  X(bad_payload_offset, "TX_DATA offset beyond the message, or payload octets that no TLV has") \
  X(header_truncated, "datagram shorter than the nFAPI header")                                 \
  X(bad_message_length, "message length of the nFAPI header is not that of the datagram")       \
  X(bad_checksum, "checksum of the P7 header is wrong")                                         \
  X(checksum_missing, "P7 message without checksum where checksums are asked for")              \
  X(other_phy, "message for another PHY")                                                       \
  X(other_message, "message ID is not the one that was asked for")                              \
  X(too_long, "message needs more than 128 segments")

SPLITPLANE_OUTCOMES(Reason, SPLITPLANE_FAPI_REASONS)

}  // namespace splitplane::fapi
