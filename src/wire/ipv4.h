// IPv4 (RFC 791): the outer header on N3 and the inner packet's. Options are skipped by header length.
//
//   o0 version(4)=4 IHL(4) | o1 DSCP(6) ECN(2) | o2-3 total length | o4-5 identification
//   o6-7 0 DF MF fragment offset(13) | o8 TTL | o9 protocol | o10-11 header checksum | o12 source | o16 destination
#pragma once

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/result.h"

namespace splitplane::wire::ipv4 {

inline constexpr std::size_t kMinHeaderBytes = 20;
inline constexpr std::size_t kMaxHeaderBytes = 60;
inline constexpr std::uint8_t kProtocolUdp = 17;
inline constexpr std::uint8_t kProtocolIcmp = 1;
inline constexpr std::uint8_t kProtocolTcp = 6;
inline constexpr std::uint16_t kDontFragment = 0x4000;

struct Header {
  std::uint8_t header_bytes = 0;  // 20..60
  std::uint8_t tos = 0;
  std::uint16_t total_bytes = 0;  // header and payload; octets of the span behind it are link padding
  std::uint16_t identification = 0;
  std::uint16_t fragment = 0;  // flags and offset as on the wire
  std::uint8_t ttl = 0;
  std::uint8_t protocol = 0;
  std::uint32_t source = 0;
  std::uint32_t destination = 0;

  // True if more-fragments is set or the offset is not 0. parse() accepts fragments; a caller that cannot handle them
  // drops with ipv4_fragment.
  [[nodiscard]] SPLITPLANE_HD constexpr bool is_fragment() const { return (fragment & 0x3FFF) != 0; }
  [[nodiscard]] SPLITPLANE_HD constexpr std::size_t payload_bytes() const {
    return static_cast<std::size_t>(total_bytes - header_bytes);
  }
};

namespace detail {

// `cut`: octets behind the header may be absent.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in, bool cut) {
  if (in.size() < kMinHeaderBytes) return refuse<Header>(Reason::ipv4_truncated);
  const std::uint8_t* p = in.data();
  if ((p[0] >> 4) != 4) return refuse<Header>(Reason::ipv4_bad_version);
  Header h;
  h.header_bytes = static_cast<std::uint8_t>((p[0] & 0x0F) * 4);
  if (h.header_bytes < kMinHeaderBytes) return refuse<Header>(Reason::ipv4_bad_header_length);
  if (h.header_bytes > in.size()) return refuse<Header>(Reason::ipv4_truncated);
  h.total_bytes = load_be16(p + 2);
  if (h.total_bytes < h.header_bytes || (h.total_bytes > in.size() && !cut)) {
    return refuse<Header>(Reason::ipv4_bad_total_length);
  }
  h.tos = p[1];
  h.identification = load_be16(p + 4);
  h.fragment = load_be16(p + 6);
  h.ttl = p[8];
  h.protocol = p[9];
  h.source = load_be32(p + 12);
  h.destination = load_be32(p + 16);
  return {h};
}

}  // namespace detail

// Parses the header. It does not verify the checksum, because NICs do; see checksum_is_good().
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in) {
  return detail::parse(in, false);
}

// A packet that an ICMP error quotes: it may be cut anywhere behind its header, so total_bytes may exceed the span.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse_quoted(Octets in) {
  return detail::parse(in, true);
}

// Header checksum of `header` (exactly the header's octets, checksum field counted as 0), RFC 791 3.1.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t checksum(Octets header) {
  std::uint64_t sum = checksum_add(0, header.first(10));
  sum = checksum_add(sum, header.subspan(12));
  return checksum_finish(sum);
}

// Of a packet that parse() accepted.
[[nodiscard]] SPLITPLANE_HD constexpr bool checksum_is_good(Octets packet, const Header& h) {
  return checksum_finish(checksum_add(0, packet.first(h.header_bytes))) == 0;
}

// Writes the header with `options` (a multiple of 4 octets) and its checksum; total_bytes and header_bytes follow from
// the arguments. Returns header octets, 0 if they do not fit or the total exceeds 65535.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Header& h, std::size_t payload_bytes,
                                          Octets options = {}) {
  const std::size_t header_bytes = kMinHeaderBytes + options.size();
  if (options.size() % 4 != 0 || options.size() > kMaxHeaderBytes - kMinHeaderBytes || out.size() < header_bytes) {
    return 0;
  }
  if (payload_bytes > 0xFFFF - header_bytes) return 0;
  std::uint8_t* p = out.data();
  p[0] = static_cast<std::uint8_t>(0x40 | (header_bytes / 4));
  p[1] = h.tos;
  store_be16(p + 2, static_cast<std::uint32_t>(header_bytes + payload_bytes));
  store_be16(p + 4, h.identification);
  store_be16(p + 6, h.fragment);
  p[8] = h.ttl;
  p[9] = h.protocol;
  store_be16(p + 10, 0);
  store_be32(p + 12, h.source);
  store_be32(p + 16, h.destination);
  copy_octets(p + kMinHeaderBytes, options.data(), options.size());
  store_be16(p + 10, checksum(Octets(p, header_bytes)));
  return header_bytes;
}

}  // namespace splitplane::wire::ipv4
