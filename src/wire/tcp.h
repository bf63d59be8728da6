// TCP (RFC 9293 3.1): the fixed header and the options of segments that a middlebox reads (RFC 7323, RFC 2018, RFC 7413).
//
//   o0-1 source port | o2-3 destination port | o4-7 sequence number | o8-11 acknowledgment number
//   o12 data offset(4) reserved(4) | o13 CWR ECE URG ACK PSH RST SYN FIN | o14-15 window | o16-17 checksum | o18-19 urgent
#pragma once

#include <optional>

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/result.h"

namespace splitplane::wire::tcp {

inline constexpr std::size_t kMinHeaderBytes = 20;
inline constexpr std::size_t kMaxHeaderBytes = 60;
inline constexpr std::uint8_t kProtocol = 6;

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
  Header h{load_be16(p),     load_be16(p + 2), load_be32(p + 4),   load_be32(p + 8), static_cast<std::uint8_t>((p[12] >> 4) * 4),
           p[13],            load_be16(p + 14)};
  if (h.header_bytes < kMinHeaderBytes) return refuse<Header>(Reason::tcp_bad_header_length);
  if (h.header_bytes > in.size()) return refuse<Header>(Reason::tcp_truncated);
  return {h};
}

}  // namespace splitplane::wire::tcp
