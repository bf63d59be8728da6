// Errors of ICMP (RFC 792) and ICMPv6 (RFC 4443): messages that quote the begin of the packet that they are about.
//
//   o0 type | o1 code | o2-3 checksum | o4-7 by type: next-hop MTU, gateway, pointer, length | o8 quoted packet
//
// ICMPv4: 3 destination unreachable, 4 source quench, 5 redirect, 11 time exceeded, 12 parameter problem
// ICMPv6: 1 destination unreachable, 2 packet too big, 3 time exceeded, 4 parameter problem
#pragma once

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/result.h"

namespace splitplane::wire::icmp_error {

inline constexpr std::size_t kHeaderBytes = 8;
inline constexpr std::size_t kChecksumAt = 2;

enum class Version : std::uint8_t { kIcmp, kIcmpv6 };

struct Header {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint16_t checksum = 0;
  std::uint32_t rest = 0;  // octets 4 to 7
};

[[nodiscard]] SPLITPLANE_HD constexpr bool quotes(Version version, std::uint8_t type) {
  if (version == Version::kIcmpv6) return type >= 1 && type <= 4;
  return (type >= 3 && type <= 5) || type == 11 || type == 12;
}

// `in` is the payload of the IP packet, without link padding. The checksum is not verified. icmp_not_error: a message
// of a type that quotes nothing.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in, Version version) {
  if (in.size() < kHeaderBytes) return refuse<Header>(Reason::icmp_truncated);
  const std::uint8_t* p = in.data();
  if (!quotes(version, p[0])) return refuse<Header>(Reason::icmp_not_error);
  Header h;
  h.type = p[0];
  h.code = p[1];
  h.checksum = load_be16(p + kChecksumAt);
  h.rest = load_be32(p + 4);
  return {h};
}

// The packet that a message quotes, and behind it what else the message has (RFC 4884): the quoted packet's own lengths
// bound it only if it is quoted whole.
[[nodiscard]] SPLITPLANE_HD constexpr Octets quoted(Octets message) {
  return message.subspan(kHeaderBytes);
}

// What of a quoted packet tells which connection it belongs to.
struct QuotedPacket {
  std::uint8_t protocol = 0;
  bool is_later_fragment = false;  // its octets at upper_offset are the middle of a packet
  std::uint16_t upper_offset = 0;  // from the quoted packet's begin; within the quotation
  std::uint16_t source_at = 0;     // of its addresses, 4 or 16 octets
  std::uint16_t destination_at = 0;
};

// `packet` is quoted(). Refused if the quotation ends inside its IP headers, or they are none of this version.
[[nodiscard]] SPLITPLANE_HD constexpr Result<QuotedPacket> parse_quoted(Octets packet, Version version) {
  QuotedPacket q;
  if (version == Version::kIcmp) {
    const auto ip = ipv4::parse_quoted(packet);
    if (!ip) return refuse<QuotedPacket>(ip.reason);
    q.protocol = ip->protocol;
    q.is_later_fragment = (ip->fragment & 0x1FFF) != 0;
    q.upper_offset = ip->header_bytes;
    q.source_at = 12;
    q.destination_at = 16;
    return {q};
  }
  const auto ip = ipv6::parse_quoted(packet);
  if (!ip) return refuse<QuotedPacket>(ip.reason);
  q.protocol = ip->upper_protocol;
  q.is_later_fragment = ip->is_later_fragment;
  q.upper_offset = static_cast<std::uint16_t>(ip->upper_offset);
  q.source_at = 8;
  q.destination_at = 24;
  return {q};
}

// Checksum of a message (at least 8 octets; the field counts as 0): ICMP has no pseudo header, ICMPv6 has IPv6's.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t checksum(Octets message) {
  return checksum_finish(checksum_add(load_be16(message.data()), message.subspan(kChecksumAt + 2)));
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t checksum_v6(std::span<const std::uint8_t, 16> source,
                                                                std::span<const std::uint8_t, 16> destination,
                                                                Octets message) {
  const std::uint64_t sum = pseudo_header_sum(source, destination, ipv6::kProtocolIcmpv6, message.size());
  return checksum_finish(checksum_add(sum + load_be16(message.data()), message.subspan(kChecksumAt + 2)));
}

// Writes 8 octets with checksum 0. Returns 8, or 0 if they do not fit.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Header& h) {
  if (out.size() < kHeaderBytes) return 0;
  std::uint8_t* p = out.data();
  p[0] = h.type;
  p[1] = h.code;
  store_be16(p + kChecksumAt, 0);
  store_be32(p + 4, h.rest);
  return kHeaderBytes;
}

}  // namespace splitplane::wire::icmp_error
