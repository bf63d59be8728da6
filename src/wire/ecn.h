// The ECN field of an IP packet (RFC 3168 5, RFC 8200 7).
//
//   IPv4  o1: DSCP(6) ECN(2)           IPv6  o0-1: version(4) DSCP(6) ECN(2) flow label(4 of 20)
//   00 Not-ECT   01 ECT(1)   10 ECT(0)   11 CE
#pragma once

#include "wire/bytes.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace splitplane::wire::ecn {

enum class Codepoint : std::uint8_t { kNotEct = 0, kEct1 = 1, kEct0 = 2, kCe = 3 };

[[nodiscard]] constexpr bool is_capable(Codepoint codepoint) {
  return codepoint == Codepoint::kEct0 || codepoint == Codepoint::kEct1;
}

// Returns kNotEct for all that is no IP packet with a whole header, and with all the octets that its header names.
[[nodiscard]] constexpr Codepoint codepoint_of(Octets packet) {
  if (packet.size() < ipv4::kMinHeaderBytes) return Codepoint::kNotEct;
  const unsigned version = packet[0] >> 4;
  if (version == 4 && ipv4::parse(packet)) return static_cast<Codepoint>(packet[1] & 3);
  if (version != 6 || packet.size() < ipv6::kHeaderBytes) return Codepoint::kNotEct;
  if (load_be16(packet.data() + 4) > packet.size() - ipv6::kHeaderBytes) return Codepoint::kNotEct;
  return static_cast<Codepoint>(packet[1] >> 4 & 3);
}

// Sets CE in a packet whose codepoint_of() is ECT(0) or ECT(1). The checksum of an IPv4 header changes by the
// difference (RFC 1624, equation 3): a wrong checksum stays wrong.
constexpr void set_ce(MutableOctets packet) {
  std::uint8_t* const p = packet.data();
  if (p[0] >> 4 == 6) {
    p[1] |= 0x30;
    return;
  }
  const std::uint16_t before = load_be16(p);
  p[1] |= 3;
  const std::uint32_t old_checksum = load_be16(p + 10);
  std::uint32_t sum = (~old_checksum & 0xffff) + (~std::uint32_t{before} & 0xffff) + load_be16(p);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  store_be16(p + 10, ~sum & 0xffff);
}

}  // namespace splitplane::wire::ecn
