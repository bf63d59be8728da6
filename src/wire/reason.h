// Why a parser refused its input. The whole of wire/ has one list, so that a stage's drop counters, the control path
// and the docs use the same names.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::wire {

#define SPLITPLANE_WIRE_REASONS(X)                                                                         \
  X(ok, "accepted")                                                                                        \
  X(ethernet_truncated, "frame ends inside the Ethernet header or a VLAN tag")                             \
  X(ethernet_too_many_tags, "more than two VLAN tags")                                                     \
  X(ethernet_type_unknown, "no EtherType that is handled here, or an 802.3 length field")                  \
  X(ipv4_truncated, "packet ends inside the IPv4 header")                                                  \
  X(ipv4_bad_version, "version field is not 4")                                                            \
  X(ipv4_bad_header_length, "IHL below 5")                                                                 \
  X(ipv4_bad_total_length, "total length below the header or beyond the packet")                           \
  X(ipv4_bad_checksum, "IPv4 header checksum is wrong")                                                    \
  X(ipv4_fragment, "IPv4 fragment")                                                                        \
  X(ipv4_not_udp, "IPv4 protocol is not UDP")                                                              \
  X(ipv6_truncated, "packet ends inside the IPv6 header or an extension header")                           \
  X(ipv6_bad_version, "version field is not 6")                                                            \
  X(ipv6_bad_payload_length, "payload length beyond the packet")                                           \
  X(ipv6_extension_chain_too_long, "more IPv6 extension headers than the limit")                           \
  X(ipv6_fragment, "IPv6 fragment")                                                                        \
  X(ipv6_not_udp, "upper-layer protocol of the IPv6 packet is not UDP")                                    \
  X(udp_truncated, "datagram ends inside the UDP header")                                                  \
  X(udp_bad_length, "UDP length below 8 or beyond the packet")                                             \
  X(udp_bad_checksum, "UDP checksum is wrong, or absent over IPv6")                                        \
  X(udp_port_unknown, "UDP destination port is not GTP-U")                                                 \
  X(tcp_truncated, "segment ends inside the TCP header")                                                   \
  X(tcp_bad_header_length, "TCP data offset below 5")                                                      \
  X(tcp_bad_option, "TCP option of a length that its kind does not allow, or beyond the header")           \
  X(icmp_truncated, "message ends inside the ICMP header")                                                 \
  X(icmp_not_error, "ICMP message that quotes no packet")                                                  \
  X(gtpu_truncated, "datagram ends inside the GTP-U header")                                               \
  X(gtpu_bad_version, "GTP version is not 1")                                                              \
  X(gtpu_not_gtp, "protocol type is GTP' (PT = 0)")                                                        \
  X(gtpu_bad_length, "GTP-U length beyond the datagram or below the optional octets")                      \
  X(gtpu_extension_bad_length, "GTP-U extension header of length 0 or beyond the message")                 \
  X(gtpu_extension_chain_too_long, "more GTP-U extension headers than the limit")                          \
  X(gtpu_extension_unknown_required, "unknown GTP-U extension header that needs comprehension")            \
  X(gtpu_unexpected_message, "GTP-U message of another type than asked for")                               \
  X(gtpu_bad_teid, "TEID is not 0 in a path message, or 0 in a tunnel message")                            \
  X(gtpu_missing_sequence_number, "message needs the S flag and a sequence number")                        \
  X(gtpu_ie_truncated, "message ends inside an information element")                                       \
  X(gtpu_ie_unknown, "information element of a type whose size is not known")                              \
  X(gtpu_ie_missing, "mandatory information element is missing")                                           \
  X(gtpu_ie_bad_length, "information element of a length that its type does not allow")                    \
  X(psc_truncated, "PDU Session Container shorter than its flags say")                                     \
  X(psc_bad_type, "PDU Session Container type is neither DL (0) nor UL (1)")                               \
  X(airhdr_truncated, "packet ends inside the air header")                                                 \
  X(airhdr_bad_version, "air header version is not 2")                                                     \
  X(airhdr_bad_kind, "air header kind is unknown")                                                         \
  X(airhdr_bad_rlc_mode, "air header names the reserved RLC mode")                                         \
  X(airhdr_bad_sn_length, "air header names an SN length that its RLC mode does not have")                 \
  X(airhdr_bad_length, "air header names a PDU that is longer than the frame")                             \
  X(sdap_truncated, "SDAP PDU without its header octet")                                                   \
  X(sdap_bad_control, "SDAP end-marker control PDU is longer than one octet")                              \
  X(pdcp_truncated, "PDCP PDU ends inside its header")                                                     \
  X(pdcp_not_data, "PDCP control PDU where a data PDU was asked for")                                      \
  X(pdcp_not_control, "PDCP data PDU where a control PDU was asked for")                                   \
  X(pdcp_bad_sn_length, "PDCP SN length is neither 12 nor 18")                                             \
  X(pdcp_control_too_long, "PDCP control PDU beyond 9000 octets")                                          \
  X(pdcp_control_type_unknown, "PDCP control PDU of another or a reserved type")                           \
  X(pdcp_empty_feedback, "ROHC feedback PDU without feedback")                                             \
  X(rlc_truncated, "RLC PDU ends inside its header")                                                       \
  X(rlc_empty_data, "RLC data PDU without data")                                                           \
  X(rlc_bad_sn_length, "SN length that the RLC mode does not have")                                        \
  X(rlc_bad_segment_offset, "middle or last segment with segment offset 0")                                \
  X(rlc_not_data, "RLC control PDU where a data PDU was asked for")                                        \
  X(rlc_not_control, "RLC data PDU where a control PDU was asked for")                                     \
  X(rlc_control_type_unknown, "RLC control PDU type is not STATUS")                                        \
  X(rlc_status_truncated, "RLC STATUS PDU ends inside a NACK block that its flags announce")               \
  X(rlc_status_trailing_octets, "octets after the last NACK block of an RLC STATUS PDU")                   \
  X(rlc_status_bad_range, "NACK range of 0")                                                               \
  X(rlc_status_bad_segment, "SOend before SOstart")                                                        \
  X(mac_empty, "transport block without octets")                                                           \
  X(mac_truncated, "transport block ends inside a subheader")                                              \
  X(mac_bad_length, "MAC subPDU reaches beyond the transport block")                                       \
  X(mac_lcid_unknown, "LCID whose subPDU size is not known: the rest of the transport block is dropped")   \
  X(mac_elcid_unknown, "eLCID whose subPDU size is not known: the rest of the transport block is dropped") \
  X(mac_ce_bad_length, "MAC control element of a length that its type does not allow")                     \
  X(mac_nr_no_signature, "datagram that does not begin with the signature of mac-nr")                      \
  X(mac_nr_truncated, "mac-nr framing ends before the tag that the MAC PDU follows")                       \
  X(mac_nr_bad_value, "mac-nr framing with a radio type, direction or RNTI type that there is not")        \
  X(mac_nr_tag_unknown, "mac-nr framing with a tag whose length is not known")                             \
  X(dci_bad_size, "DCI of another size than its formats have in this cell")                                \
  X(dci_other_format, "DCI of another format than asked for")                                              \
  X(dci_bad_allocation, "DCI with PRBs that its bandwidth part does not have")                             \
  X(dci_bad_padding, "DCI whose padding is not zero")                                                      \
  X(dci_hopping, "DCI 0_0 with frequency hopping, which is not offered")

SPLITPLANE_OUTCOMES(Reason, SPLITPLANE_WIRE_REASONS)

}  // namespace splitplane::wire
