// TCP (RFC 9293 3.1): the fixed header, and its checksum over the IPv4 and IPv6 pseudo headers. Options: tcp_options.h.
//
//   o0-1 source port | o2-3 destination port | o4-7 sequence number | o8-11 acknowledgment number
//   o12 data offset(4) reserved(4) | o13 CWR ECE URG ACK PSH RST SYN FIN | o14-15 window | o16-17 checksum | o18-19
//   urgent
#pragma once

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/result.h"

namespace splitplane::wire::tcp {

inline constexpr std::size_t kMinHeaderBytes = 20;
inline constexpr std::size_t kMaxHeaderBytes = 60;
inline constexpr std::uint8_t kProtocol = 6;

// Where the fields are that a middlebox changes, in octets from the header.
inline constexpr std::size_t kSequenceAt = 4;
inline constexpr std::size_t kAcknowledgmentAt = 8;
inline constexpr std::size_t kDataOffsetAt = 12;
inline constexpr std::size_t kFlagsAt = 13;
inline constexpr std::size_t kWindowAt = 14;
inline constexpr std::size_t kChecksumAt = 16;

// Octet 13.
inline constexpr std::uint8_t kFin = 0x01;
inline constexpr std::uint8_t kSyn = 0x02;
inline constexpr std::uint8_t kRst = 0x04;
inline constexpr std::uint8_t kPsh = 0x08;
inline constexpr std::uint8_t kAck = 0x10;
inline constexpr std::uint8_t kUrg = 0x20;
inline constexpr std::uint8_t kEce = 0x40;
inline constexpr std::uint8_t kCwr = 0x80;

struct Header {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint8_t header_bytes = 0;  // 20..60, options included
  std::uint8_t flags = 0;
  std::uint16_t window = 0;  // as on the wire, not scaled

  [[nodiscard]] SPLITPLANE_HD constexpr bool has(std::uint8_t all) const { return (flags & all) == all; }
};

// `in` is the payload of the IP packet, without link padding. The checksum is not verified.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in) {
  if (in.size() < kMinHeaderBytes) return refuse<Header>(Reason::tcp_truncated);
  const std::uint8_t* p = in.data();
  Result<Header> result;
  Header& h = result.value;
  h.source_port = load_be16(p);
  h.destination_port = load_be16(p + 2);
  h.sequence = load_be32(p + kSequenceAt);
  h.acknowledgment = load_be32(p + kAcknowledgmentAt);
  h.header_bytes = static_cast<std::uint8_t>((p[kDataOffsetAt] >> 4) * 4);
  h.flags = p[kFlagsAt];
  h.window = load_be16(p + kWindowAt);
  if (h.header_bytes < kMinHeaderBytes) return refuse<Header>(Reason::tcp_bad_header_length);
  if (h.header_bytes > in.size()) return refuse<Header>(Reason::tcp_truncated);
  return result;
}

// The begin of a segment that an ICMP error quotes: at least eight octets (RFC 792), maybe no more.
struct Quoted {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  bool has_acknowledgment = false;  // the quotation reaches beyond the field
  bool has_checksum = false;
  std::uint32_t acknowledgment = 0;
};
[[nodiscard]] SPLITPLANE_HD constexpr Result<Quoted> parse_quoted(Octets in) {
  if (in.size() < 8) return refuse<Quoted>(Reason::tcp_truncated);
  const std::uint8_t* p = in.data();
  Quoted q;
  q.source_port = load_be16(p);
  q.destination_port = load_be16(p + 2);
  q.sequence = load_be32(p + kSequenceAt);
  q.has_acknowledgment = in.size() >= kAcknowledgmentAt + 4;
  q.has_checksum = in.size() >= kChecksumAt + 2;
  if (q.has_acknowledgment) q.acknowledgment = load_be32(p + kAcknowledgmentAt);
  return {q};
}

// Writes the 20 octets of the fixed header with checksum and urgent pointer 0. Options are the caller's: header_bytes
// says how long they make the header. Returns 20, or 0 if the header does not fit or its length is none.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Header& h) {
  if (h.header_bytes < kMinHeaderBytes || h.header_bytes > kMaxHeaderBytes || h.header_bytes % 4 != 0) return 0;
  if (out.size() < h.header_bytes) return 0;
  std::uint8_t* p = out.data();
  store_be16(p, h.source_port);
  store_be16(p + 2, h.destination_port);
  store_be32(p + kSequenceAt, h.sequence);
  store_be32(p + kAcknowledgmentAt, h.acknowledgment);
  p[kDataOffsetAt] = static_cast<std::uint8_t>(h.header_bytes / 4 << 4);
  p[kFlagsAt] = h.flags;
  store_be16(p + kWindowAt, h.window);
  store_be32(p + kChecksumAt, 0);
  return kMinHeaderBytes;
}

// Checksum for `segment` (header and data, at least 20 octets) between two IPv4 (4 octets) or IPv6 (16 octets)
// addresses. The field's own octets count as 0. It is never 0xFFFF.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t checksum(Octets source, Octets destination, Octets segment) {
  std::uint64_t sum = pseudo_header_sum(source, destination, kProtocol, segment.size());
  sum = checksum_add(sum, segment.first(kChecksumAt));
  return checksum_finish(checksum_add(sum, segment.subspan(kChecksumAt + 2)));
}
[[nodiscard]] SPLITPLANE_HD constexpr bool checksum_is_good(Octets source, Octets destination, Octets segment) {
  return checksum_finish(checksum_add(pseudo_header_sum(source, destination, kProtocol, segment.size()), segment)) == 0;
}

// Sequence numbers are compared modulo 2^32 (RFC 9293 3.4).
[[nodiscard]] SPLITPLANE_HD constexpr bool is_before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace splitplane::wire::tcp
