// Every reason for which the packet path drops a packet: first the reasons of the parsers, then those of the stages.
// One list makes the enum, the texts and the counters. The parsers' rows are in wire/reason.h, the counters in stats.h.
// A card has reasons of its own: card/punt_reason.h.
#pragma once

#include "base/outcome_list.h"
#include "wire/reason.h"

namespace splitplane::datapath {

// clang-format off
#define SPLITPLANE_DROP_REASONS(X)                                                                  \
  SPLITPLANE_WIRE_REASONS(X)                                                                        \
  X(feature_drop, "the feature set `drop` drops everything")                                        \
  X(mbuf_segmented, "frame in more than one segment")                                               \
  X(vlan_wrong, "not in the VLAN of this N3 interface (`n3[].vlan`; without it: a frame with a tag)")   \
  X(not_for_us, "destination address is none of ours")                                              \
  X(icmp_unreachable, "ICMP on N3: the UPF's host says that nothing takes its GTP-U (is the UPF running?)") \
  X(icmp, "other ICMP on N3, which the gNB does not answer (a ping, for example)")                  \
  X(gtpu_message, "GTP-U message of a type that a gNB does not handle")                             \
  X(gtpu_no_payload, "G-PDU without a T-PDU")                                                       \
  X(teid_unknown, "no bearer with this TEID")                                                       \
  X(teid_released, "the bearer with this TEID was released a moment ago")                           \
  X(not_from_upf, "the sender is not the UPF of the bearer (`n3[].any_source: true` allows it)")     \
  X(psc_missing, "no PDU Session Container, which this bearer requires")                            \
  X(n3_sn_old, "N3 sequence number that came already, too late, or alone from far off")             \
  X(ue_unknown, "no bearer of a UE with this address (lookup by UE address)")                       \
  X(not_air_frame, "frame on the air port without EtherType 0x88B5")                                \
  X(bearer_unknown, "no bearer with this identity in airhdr")                                       \
  X(airhdr_modes_wrong, "direction, RLC mode or SN lengths are not the bearer's")                   \
  X(rlc_segment, "RLC segment, which header mode does not know")                                    \
  X(pdcp_control, "PDCP control PDU")                                                               \
  X(sdap_end_marker, "SDAP end-marker control PDU")                                                 \
  X(pdu_too_short, "PDU without data behind its headers")                                           \
  X(peer_unresolved, "the UPF's MAC address is not known yet")                                      \
  X(uplink_stopped, "the UPF does not know the uplink TEID (Error Indication)")                     \
  X(rlc_window_full, "the peer has not acknowledged as many SDUs or octets as may be kept for retransmission")   \
  X(rlc_duplicate, "AMD PDU received before, or outside the receiving window")                          \
  X(rlc_other_epoch, "PDU of before or after a re-establishment of RLC")                                \
  X(rlc_no_memory, "no memory for an AMD PDU: as if the air had lost it")                               \
  X(rlc_malformed, "RLC PDU of wrong form, or that contradicts what its bearer received before (full mode)") \
  X(rlc_no_buffer, "no buffer to put an SDU of several RLC segments together (full mode)")              \
  X(rlc_failed, "RLC of the bearer failed and needs re-establishment (full mode)")                      \
  X(air_unused, "frame on the air port of a worker in full mode, which has no header mode")             \
  X(count_lease_ended, "the bearer's COUNTs need a longer lease from the journal first")            \
  X(count_exhausted, "the bearer's COUNTs are used up: after 2^32 - 1 packets it needs a new key")  \
  X(pdcp_no_keys, "the bearer is secured, and this program has no keys for it")                     \
  X(pdcp_integrity_failed, "wrong MAC-I: another key, COUNT, bearer or direction, or forged")       \
  X(pdcp_duplicate, "PDCP PDU whose COUNT was received before")                                     \
  X(pdcp_old, "PDCP PDU whose COUNT is less than RX_DELIV: t-Reordering has given it up")           \
  X(pdcp_count_wrong, "PDCP PDU whose COUNT would be negative or 2^32 - 1")                         \
  X(pdcp_sdu_too_large, "SDU of more than 9000 octets for a secured bearer")                        \
  X(pdcp_no_memory, "no memory to hold an SDU until it is in order, or no buffer for its PDU")      \
  X(pdcp_crypto_failed, "the cipher library failed")                                                \
  X(pdcp_keys_changed, "PDCP PDU that came while keys changed, or while its bearer was suspended")  \
  X(pdcp_released, "SDU that waited for SDUs before it when its bearer was released")               \
  X(above_mtu, "with its new headers the packet is longer than the port's MTU")                     \
  X(no_headroom, "no room in front of the packet for its new headers")                              \
  X(tx_full, "transmit queue stayed full")                                                          \
  X(copies_full, "ring to the consumer of copies is full")                                          \
  X(punt_full, "ring to the control thread is full")                                                \
  X(punt_limited, "more of its class than the control thread takes in a second")                    \
  X(worker_full, "ring to the worker that owns the shard is full")                                  \
  X(shard_unowned, "no worker owns this shard")
// clang-format on

SPLITPLANE_OUTCOMES(DropReason, SPLITPLANE_DROP_REASONS)

// The parsers' reasons are the first entries of the list.
[[nodiscard]] constexpr DropReason drop_reason(wire::Reason reason) {
  return static_cast<DropReason>(reason);
}

}  // namespace splitplane::datapath
