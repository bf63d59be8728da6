// The outcome of every packet that the UE side took from the air or from its TUN device: the reasons of the parsers,
// then its own. One list makes the enum, the texts and the counters. `ok` is delivered (downlink) or sent (uplink).
#pragma once

#include "base/outcome_list.h"
#include "wire/reason.h"

namespace splitplane::ue {

// Where the gNB has the same reason, it has the same name (engine/drop_reason.h).
// clang-format off
#define SPLITPLANE_UE_OUTCOMES(X)                                                            \
  SPLITPLANE_WIRE_REASONS(X)                                                                 \
  X(mbuf_segmented, "frame in more than one segment")                                        \
  X(not_air_frame, "frame on the air port without EtherType 0x88B5")                         \
  X(airhdr_wrong_direction, "air frame that is not downlink")                                \
  X(bearer_unknown, "no bearer with this identity in airhdr")                                \
  X(airhdr_modes_wrong, "RLC mode, SN lengths or SDAP header are not the bearer's")          \
  X(rlc_control, "RLC STATUS PDU")                                                           \
  X(rlc_segment, "RLC segment, which header mode does not know")                             \
  X(rlc_duplicate, "AMD PDU received before, or outside the receiving window")               \
  X(rlc_other_epoch, "PDU of before or after a re-establishment of RLC")                     \
  X(rlc_no_memory, "no memory to note an AMD PDU that came out of order: as if lost")        \
  X(rlc_window_full, "the gNB has not acknowledged as many SDUs as may be kept")             \
  X(count_exhausted, "the bearer's COUNTs are used up: after 2^32 - 1 packets it needs a new key") \
  X(rlc_old, "AMD PDU whose SN is further behind than this side remembers")                  \
  X(pdcp_control, "PDCP control PDU")                                                        \
  X(pdcp_duplicate, "PDCP data PDU whose COUNT was received before")                         \
  X(pdcp_old, "PDCP data PDU whose COUNT is further behind than this side remembers")        \
  X(pdcp_no_keys, "the bearer is secured, and this program has no keys for it")              \
  X(pdcp_integrity_failed, "wrong MAC-I: another key, COUNT, bearer or direction, or forged") \
  X(pdcp_count_wrong, "PDCP PDU whose COUNT would be negative or 2^32 - 1")                  \
  X(pdcp_sdu_too_large, "SDU of more than 9000 octets for a secured bearer")                 \
  X(pdcp_no_memory, "no memory to hold an SDU until it is in order, or no buffer for its PDU") \
  X(pdcp_crypto_failed, "the cipher library failed")                                         \
  X(pdcp_keys_changed, "PDCP PDU that came while keys changed, or while its bearer was suspended") \
  X(pdcp_released, "SDU that waited for SDUs before it when its bearer was released")        \
  X(sdap_no_bearer, "the packet's QoS flow has no rule, and its session has no default bearer") \
  X(pdu_too_short, "PDU without data behind its headers")                                    \
  X(not_ip, "SDU that is neither IPv4 nor IPv6")                                             \
  X(tun_full, "the kernel had no room for the packet")                                       \
  X(tun_refused, "the kernel refused the packet")                                            \
  X(sunk, "the UE has no place at the TUN device: counted and freed (full mode)")            \
  X(source_link_local, "the kernel's own packet, from a link-local or unspecified address")  \
  X(source_unknown, "no bearer has this source address")                                     \
  X(packet_too_long, "packet longer than the air port's MTU allows")                         \
  X(no_headroom, "no room in front of the packet for its new headers")                       \
  X(tx_full, "transmit queue stayed full")
// clang-format on

SPLITPLANE_OUTCOMES(UeOutcome, SPLITPLANE_UE_OUTCOMES)

// The parsers' reasons are the first entries of the list.
[[nodiscard]] constexpr UeOutcome outcome_of(wire::Reason reason) {
  return static_cast<UeOutcome>(reason);
}

}  // namespace splitplane::ue
