// Parses a frame received on N3 in one call: Ethernet, IPv4 or IPv6, UDP port 2152, GTP-U with its extension headers,
// down to the payload. The NIC or the caller verifies checksums.
#pragma once

#include "wire/ethernet.h"
#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace splitplane::wire::n3 {

// Offsets count from the frame's first octet.
struct Packet {
  bool is_ipv6 = false;
  std::uint16_t source_port = 0;
  std::uint32_t ip_offset = 0;
  std::uint32_t udp_offset = 0;
  std::uint32_t gtpu_offset = 0;
  std::uint32_t gtpu_bytes = 0;
  std::uint32_t payload_offset = 0;
  std::uint32_t payload_bytes = 0;
  gtpu::Header gtpu;
};

namespace detail {

struct Datagram {
  std::size_t offset = 0;  // of the UDP header, counted from the IP header
  std::size_t bytes = 0;
};

[[nodiscard]] SPLITPLANE_HD constexpr Result<Datagram> datagram_of_ipv4(Octets ip) {
  const Result<ipv4::Header> h = ipv4::parse(ip);
  if (!h) return refuse<Datagram>(h.reason);
  if (h->is_fragment()) return refuse<Datagram>(Reason::ipv4_fragment);
  if (h->protocol != ipv4::kProtocolUdp) return refuse<Datagram>(Reason::ipv4_not_udp);
  return {Datagram{h->header_bytes, h->payload_bytes()}};
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<Datagram> datagram_of_ipv6(Octets ip) {
  const Result<ipv6::Header> h = ipv6::parse(ip);
  if (!h) return refuse<Datagram>(h.reason);
  if (h->is_fragment) return refuse<Datagram>(Reason::ipv6_fragment);
  if (h->upper_protocol != ipv6::kProtocolUdp) return refuse<Datagram>(Reason::ipv6_not_udp);
  return {Datagram{h->upper_offset, h->upper_bytes()}};
}

[[nodiscard]] SPLITPLANE_HD constexpr Reason read_packet(Octets frame, Packet& packet) {
  const Result<ethernet::Header> eth = ethernet::parse(frame);
  if (!eth) return eth.reason;
  packet.ip_offset = eth->header_bytes;
  const Octets ip = frame.subspan(eth->header_bytes);
  Result<Datagram> datagram;
  if (eth->ether_type == ethernet::kTypeIpv4) [[likely]] {
    datagram = datagram_of_ipv4(ip);
  } else if (eth->ether_type == ethernet::kTypeIpv6) {
    packet.is_ipv6 = true;
    datagram = datagram_of_ipv6(ip);
  } else {
    return Reason::ethernet_type_unknown;
  }
  if (!datagram) return datagram.reason;
  const Octets udp_octets = ip.subspan(datagram->offset, datagram->bytes);
  const Result<udp::Header> udp = udp::parse(udp_octets);
  if (!udp) return udp.reason;
  if (udp->destination_port != gtpu::kPort) return Reason::udp_port_unknown;
  packet.source_port = udp->source_port;
  packet.udp_offset = static_cast<std::uint32_t>(packet.ip_offset + datagram->offset);
  packet.gtpu_offset = static_cast<std::uint32_t>(packet.udp_offset + udp::kHeaderBytes);
  packet.gtpu_bytes = static_cast<std::uint32_t>(udp->payload_bytes());
  const Octets message = udp_octets.subspan(udp::kHeaderBytes, udp->payload_bytes());
  const Reason reason = gtpu::detail::read_header(message, packet.gtpu);
  packet.payload_offset = packet.gtpu_offset + packet.gtpu.payload_offset;
  packet.payload_bytes = packet.gtpu.payload_bytes;
  return reason;
}

}  // namespace detail

// Parses any GTP-U message. If the reason is one of gtpu_* or psc_*, the offsets up to gtpu_offset and source_port are
// valid.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Packet> parse(Octets frame) {
  Result<Packet> r;
  r.reason = detail::read_packet(frame, r.value);
  return r;
}

}  // namespace splitplane::wire::n3
