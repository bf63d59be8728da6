// Why a card punts a frame to the host, and the few reasons for which it drops one. The numbers are those of the P4
// programs (p4/punt.p4i); a test compares the two files.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::nic {

// clang-format off
#define SPLITPLANE_PUNT_REASONS(X)                                                                  \
  X(none, "not punted")                                                                             \
  X(short_frame, "shorter than the headers that would be read")                                \
  X(length_mismatch, "lengths of Ethernet, IP, UDP and GTP-U contradict each other")                \
  X(segmented, "frame in more than one segment")                                                    \
  X(arp, "ARP")                                                                                     \
  X(outer_ipv6, "N3 over IPv6")                                                                     \
  X(ethertype_unknown, "EtherType neither IPv4, IPv6 nor ARP")                                      \
  X(vlan_depth, "more than one VLAN tag")                                                           \
  X(ip_options, "IPv4 options")                                                                     \
  X(ip_fragment, "IPv4 fragment")                                                                   \
  X(not_udp, "not UDP")                                                                             \
  X(udp_port, "UDP port other than GTP-U's")                                                        \
  X(udp_checksum, "checksum that the host shall verify")                                        \
  X(gtpu_version, "GTP-U version or protocol type other than GTP-U version 1")                      \
  X(gtpu_message, "GTP-U message other than G-PDU")                                                 \
  X(extension_chain, "GTP-U extension headers other than one short PDU Session Container")          \
  X(psc_form, "PDU Session Container with more than QFI and RQI")                                   \
  X(not_for_us, "destination address is not the bearer's N3 address")                               \
  X(teid_unknown, "no entry for this TEID")                                                         \
  X(ue_unknown, "no entry for this UE address")                                                     \
  X(too_long, "longer than the air's MTU allows")                                                   \
  X(not_air_frame, "frame on the air port without EtherType 0x88B5")                                \
  X(airhdr_form, "airhdr of another version, kind, direction, RLC mode or SN length")               \
  X(bearer_unknown, "no entry for this bearer identity")                                            \
  X(rlc_segment, "RLC segment")                                                                     \
  X(pdcp_control, "PDCP control PDU")                                                               \
  X(sdap_control, "SDAP control PDU")                                                               \
  X(peer_unresolved, "the UPF's MAC address is not known yet, the packet is above its MTU, or its worker acknowledges the bearer's uplink") \
  X(diverted, "follows packets of its bearer that are at the host, or its bearer's lease has ended")

#define SPLITPLANE_CARD_DROPS(X)                                                                    \
  X(none, "not dropped")                                                                            \
  X(feature_drop, "the feature set `drop` drops everything")                                        \
  X(lease_exhausted, "no COUNT is left in the bearer's lease")                                      \
  X(returned_wrong, "frame returned by the host for a bearer that is not on the card")              \
  X(no_port, "no entry says where to")                                                              \
  X(settled, "frame of the host about a packet of the bearer that the host dropped")               \
  X(no_headroom, "no room in front of the frame for new headers")                                   \
  X(core_full, "the ring to the card's core that serves the bearer was full")
// clang-format on

SPLITPLANE_OUTCOMES(PuntReason, SPLITPLANE_PUNT_REASONS)
SPLITPLANE_OUTCOMES(CardDrop, SPLITPLANE_CARD_DROPS)  // card/ counts the last two, the program the others

}  // namespace splitplane::nic
