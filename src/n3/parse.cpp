#include "n3/parse.h"

#include <algorithm>

#include "ran/source_key.h"
#include "wire/ethernet.h"
#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace splitplane::datapath {
namespace {

constexpr std::uint8_t kIcmpUnreachable = 3, kIcmpv6Unreachable = 1;  // RFC 792; RFC 4443 3.1
constexpr std::uint8_t kIcmpPort = 3, kIcmpv6Port = 4;  // the codes that the host itself sends; routers send others
constexpr std::uint8_t kNeighborSolicitation = 135, kNeighborAdvertisement = 136;

N3Parsed drop(DropReason reason) {
  return {N3Verdict::kDrop, reason};
}
N3Parsed punt(PuntClass kind) {
  return {N3Verdict::kPunt, DropReason::ok, kind};
}
N3Parsed drop(wire::Reason reason) {
  return drop(drop_reason(reason));
}

// One C-VLAN tag with the interface's VLAN, or no tag where it has none.
bool is_in_vlan(wire::Octets frame, const wire::ethernet::Header& ethernet, std::uint16_t vlan) {
  if (vlan == N3Addresses::kAnyVlan) return true;
  if (vlan == 0) return ethernet.tag_count == 0;
  return ethernet.tag_count == 1 && ethernet.vlan_id() == vlan &&
         wire::load_be16(frame.data() + 12) == wire::ethernet::kTypeVlan;
}

// Parses the UDP datagram inside `packet` at `offset` as GTP-U. The T-PDU's place is relative to the packet.
N3Parsed parse_udp(wire::Octets packet, std::size_t offset, GPdu& out) {
  const auto udp = wire::udp::parse(packet.subspan(offset));
  if (!udp) return drop(udp.reason);
  if (udp->destination_port != wire::gtpu::kPort) return drop(wire::Reason::udp_port_unknown);
  const wire::Octets datagram = packet.subspan(offset + wire::udp::kHeaderBytes, udp->payload_bytes());
  const auto gtpu = wire::gtpu::parse(datagram);
  if (!gtpu) return drop(gtpu.reason);
  switch (gtpu->message_type) {
    case wire::gtpu::kGpdu:
      break;
    case wire::gtpu::kEchoRequest:
      return punt(PuntClass::echo);
    case wire::gtpu::kEchoResponse:
      return punt(PuntClass::echo_response);
    case wire::gtpu::kErrorIndication:
      return punt(PuntClass::error);
    case wire::gtpu::kSupportedExtensionHeaders:
    case wire::gtpu::kEndMarker:
      return punt(PuntClass::notice);
    default:
      return drop(DropReason::gtpu_message);
  }
  if (gtpu->payload_bytes == 0) return drop(DropReason::gtpu_no_payload);
  out.teid = gtpu->teid.value;
  out.offset = static_cast<std::uint16_t>(offset + wire::udp::kHeaderBytes + gtpu->payload_offset);
  out.bytes = static_cast<std::uint16_t>(gtpu->payload_bytes);
  out.has_qfi = gtpu->has_psc;
  out.sequence_number = gtpu->sequence_number;
  const bool time_stamped = gtpu->has_psc && (datagram[gtpu->psc_offset] & 0xf8) == 0x08;  // DL, QMP
  out.slow = static_cast<std::uint8_t>((gtpu->has_psc ? 0 : kNoPsc) | (gtpu->has_sequence_number() ? kSequenced : 0) |
                                       (time_stamped ? kTimeStamped : 0));
  out.sdap = static_cast<std::uint8_t>((gtpu->psc.rqi ? 0x40U : 0U) | gtpu->psc.qfi.value);
  return {N3Verdict::kGPdu, DropReason::ok};
}

N3Parsed parse_ipv4(wire::Octets packet, const N3Addresses& ours, GPdu& out) {
  const auto ip = wire::ipv4::parse(packet);
  if (!ip) return drop(ip.reason);
  std::uint32_t destination;
  std::memcpy(&destination, packet.data() + 16, 4);
  if (destination != ours.ipv4 || ours.ipv4 == 0) return drop(DropReason::not_for_us);
  if (ip->is_fragment()) return drop(wire::Reason::ipv4_fragment);
  out.source = ran::source_key_v4(packet.data() + 12);
  if (ip->protocol == wire::ipv4::kProtocolIcmp) {
    const bool unreachable = ip->total_bytes >= ip->header_bytes + 2U && packet[ip->header_bytes] == kIcmpUnreachable &&
                             packet[ip->header_bytes + 1] == kIcmpPort;
    return drop(unreachable ? DropReason::icmp_unreachable : DropReason::icmp);
  }
  if (ip->protocol != wire::ipv4::kProtocolUdp) return drop(wire::Reason::ipv4_not_udp);
  return parse_udp(packet.first(ip->total_bytes), ip->header_bytes, out);
}

N3Parsed parse_ipv6(wire::Octets packet, const N3Addresses& ours, GPdu& out) {
  const auto ip = wire::ipv6::parse(packet);
  if (!ip) return drop(ip.reason);
  if (ip->upper_protocol == wire::ipv6::kProtocolIcmpv6 && !ip->is_fragment &&
      ip->upper_bytes() >= 8) {  // never in fragments (RFC 6980)
    const std::uint8_t type = packet[ip->upper_offset];
    if (type == kNeighborSolicitation || type == kNeighborAdvertisement) return punt(PuntClass::neighbor);
  }
  if (ours.ipv6 == decltype(ours.ipv6){} || !std::equal(ours.ipv6.begin(), ours.ipv6.end(), packet.begin() + 24)) {
    return drop(DropReason::not_for_us);
  }
  if (ip->is_fragment) return drop(wire::Reason::ipv6_fragment);
  out.source = ran::source_key_v6(packet.data() + 8);
  if (ip->upper_protocol == wire::ipv6::kProtocolIcmpv6) {
    const bool unreachable = ip->upper_bytes() >= 2 && packet[ip->upper_offset] == kIcmpv6Unreachable &&
                             packet[ip->upper_offset + 1] == kIcmpv6Port;
    return drop(unreachable ? DropReason::icmp_unreachable : DropReason::icmp);
  }
  if (ip->upper_protocol != wire::ipv6::kProtocolUdp) return drop(wire::Reason::ipv6_not_udp);
  return parse_udp(packet.first(ip->total_bytes()), ip->upper_offset, out);
}

}  // namespace

N3Parsed parse_n3(const std::uint8_t* frame, unsigned bytes, const N3Addresses& ours, GPdu& out) {
  const wire::Octets all(frame, bytes);
  const auto ethernet = wire::ethernet::parse(all);
  if (!ethernet) return drop(ethernet.reason);
  if (!is_in_vlan(all, *ethernet, ours.vlan)) return drop(DropReason::vlan_wrong);
  if (ethernet->ether_type == wire::ethernet::kTypeArp) return punt(PuntClass::neighbor);
  const wire::Octets packet = all.subspan(ethernet->header_bytes);
  N3Parsed parsed = drop(wire::Reason::ethernet_type_unknown);
  if (ethernet->ether_type == wire::ethernet::kTypeIpv4) parsed = parse_ipv4(packet, ours, out);
  if (ethernet->ether_type == wire::ethernet::kTypeIpv6) parsed = parse_ipv6(packet, ours, out);
  out.offset = static_cast<std::uint16_t>(out.offset + ethernet->header_bytes);
  return parsed;
}

}  // namespace splitplane::datapath
