#include "traffic/frame_reader.h"

#include "wire/airhdr.h"
#include "wire/n3.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/sdap.h"

namespace splitplane::traffic {
namespace {

// The UDP payload of an IP packet; empty if the packet is not a whole UDP datagram.
[[nodiscard]] Octets udp_payload(Octets packet) {
  if (packet.empty()) return {};
  Octets datagram;
  if (packet[0] >> 4 == 4) {
    const auto ip = wire::ipv4::parse(packet);
    if (!ip || ip->is_fragment() || ip->protocol != wire::ipv4::kProtocolUdp) return {};
    datagram = packet.subspan(ip->header_bytes, ip->payload_bytes());
  } else {
    const auto ip = wire::ipv6::parse(packet);
    if (!ip || ip->is_fragment || ip->upper_protocol != wire::ipv6::kProtocolUdp) return {};
    datagram = packet.subspan(ip->upper_offset, ip->upper_bytes());
  }
  const auto udp = wire::udp::parse(datagram);
  return udp ? datagram.subspan(wire::udp::kHeaderBytes, udp->payload_bytes()) : Octets{};
}

[[nodiscard]] Seen read_inner(Octets packet, Stamp& stamp) {
  switch (read_stamp(udp_payload(packet), stamp)) {
    case StampVerdict::kGood:
      return Seen::stamped;
    case StampVerdict::kAbsent:
      return Seen::foreign;
    case StampVerdict::kDamaged:
      break;
  }
  return Seen::stamp_damaged;
}

// Octets of the RLC header of a complete SDU.
struct RlcHeader {
  Seen seen = Seen::unreadable;
  std::size_t bytes = 0;
};

[[nodiscard]] RlcHeader read_rlc(const wire::airhdr::Header& air, Octets pdu) {
  if (air.rlc_mode == RlcMode::kTm) return {pdu.empty() ? Seen::unreadable : Seen::stamped, 0};
  if (air.rlc_mode == RlcMode::kUm) {
    const auto um = wire::rlc::parse_um(pdu, air.rlc_sn_bits);
    if (!um || um->si != wire::rlc::Segment::kComplete) return {};
    return {Seen::stamped, um->header_bytes};
  }
  if (!pdu.empty() && !wire::rlc::is_am_data(pdu[0])) return {Seen::rlc_control, 0};
  const auto am = wire::rlc::parse_am(pdu, air.rlc_sn_bits);
  if (!am || am->si != wire::rlc::Segment::kComplete) return {};
  return {Seen::stamped, am->header_bytes};
}

[[nodiscard]] Reading read_air(Octets octets) {
  Reading reading{.on_air = true};
  const auto air = wire::airhdr::parse(octets);
  if (!air) return reading;
  reading.tunnel = air->bearer.value;
  octets = wire::airhdr::pdu_of(*air, octets);
  const RlcHeader rlc = read_rlc(*air, octets);
  reading.seen = rlc.seen;
  if (rlc.seen != Seen::stamped) return reading;
  octets = octets.subspan(rlc.bytes);
  reading.seen = Seen::unreadable;
  const auto pdcp = wire::pdcp::parse_data(octets, air->pdcp_sn_bits);
  if (!pdcp) return reading;
  octets = octets.subspan(pdcp->header_bytes);
  if (air->sdap_header) {
    if (octets.empty()) return reading;
    octets = octets.subspan(wire::sdap::kHeaderBytes);
  }
  reading.seen = read_inner(octets, reading.stamp);
  return reading;
}

[[nodiscard]] Reading read_n3(Octets frame) {
  const auto packet = wire::n3::parse(frame);
  switch (packet.reason) {
    case wire::Reason::ok:
      break;
    case wire::Reason::ethernet_type_unknown:
    case wire::Reason::ipv4_not_udp:
    case wire::Reason::ipv6_not_udp:
    case wire::Reason::udp_port_unknown:
      return {.seen = Seen::other_protocol};
    default:
      return {.seen = Seen::unreadable};
  }
  if (packet->gtpu.message_type != wire::gtpu::kGpdu) return {.seen = Seen::gtpu_other};
  Reading reading{.tunnel = packet->gtpu.teid.value};
  reading.seen = read_inner(frame.subspan(packet->payload_offset, packet->payload_bytes), reading.stamp);
  return reading;
}

}  // namespace

Reading read_frame(Octets frame) {
  const auto ethernet = wire::ethernet::parse(frame);
  if (!ethernet) return {.seen = Seen::other_protocol};
  if (ethernet->ether_type == wire::airhdr::kEtherType) return read_air(frame.subspan(ethernet->header_bytes));
  return read_n3(frame);
}

}  // namespace splitplane::traffic
