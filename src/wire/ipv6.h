// IPv6 (RFC 8200): outer header on N3 and the inner packet's. parse() walks the extension headers that may stand before
// the upper layer.
//
//   o0-3 version(4)=6 traffic class(8) flow label(20) | o4-5 payload length | o6 next header | o7 hop limit
//   o8 source(16) | o24 destination(16) | extension: next header(1) length in 8-octet units less one(1) ...
//   fragment header (8 octets): next header(1) reserved(1) offset(13) R(2) M(1) identification(4)
#pragma once

#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::ipv6 {

inline constexpr std::size_t kHeaderBytes = 40;
inline constexpr unsigned kMaxExtensions = 8;  // bounds the walk; RFC 8200 4.1 names six positions

inline constexpr std::uint8_t kHopByHop = 0;
inline constexpr std::uint8_t kProtocolTcp = 6;
inline constexpr std::uint8_t kProtocolUdp = 17;
inline constexpr std::uint8_t kProtocolIcmpv6 = 58;
inline constexpr std::uint8_t kRouting = 43;
inline constexpr std::uint8_t kFragment = 44;
inline constexpr std::uint8_t kNoNextHeader = 59;
inline constexpr std::uint8_t kDestinationOptions = 60;

struct Header {
  std::uint8_t traffic_class = 0;
  std::uint8_t next_header = 0;  // of the fixed header
  std::uint8_t hop_limit = 0;
  std::uint8_t upper_protocol = 0;
  std::uint32_t flow_label = 0;
  std::uint16_t payload_length = 0;  // as on the wire: extension headers and upper layer
  std::uint16_t extension_count = 0;
  std::uint32_t upper_offset = 0;  // where the upper layer begins, counted from the fixed header
  bool is_fragment = false;        // more than an "atomic" fragment (RFC 6946)
  bool is_later_fragment = false;  // the middle or end of a packet: what is at upper_offset is no header

  [[nodiscard]] SPLITPLANE_HD constexpr std::size_t total_bytes() const { return kHeaderBytes + payload_length; }
  [[nodiscard]] SPLITPLANE_HD constexpr std::size_t upper_bytes() const { return total_bytes() - upper_offset; }
};

[[nodiscard]] SPLITPLANE_HD constexpr bool is_walked(std::uint8_t next_header) {
  return next_header == kHopByHop || next_header == kRouting || next_header == kDestinationOptions ||
         next_header == kFragment;
}

namespace detail {

// `cut`: octets behind the extension headers may be absent.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in, bool cut) {
  if (in.size() < kHeaderBytes) return refuse<Header>(Reason::ipv6_truncated);
  const std::uint8_t* p = in.data();
  const std::uint32_t first = load_be32(p);
  if ((first >> 28) != 6) return refuse<Header>(Reason::ipv6_bad_version);
  Header h;
  h.traffic_class = static_cast<std::uint8_t>(first >> 20);
  h.flow_label = first & 0xFFFFF;
  h.payload_length = load_be16(p + 4);
  h.next_header = p[6];
  h.hop_limit = p[7];
  std::size_t end = std::size_t{kHeaderBytes} + h.payload_length;
  if (end > in.size()) {
    if (!cut) return refuse<Header>(Reason::ipv6_bad_payload_length);
    end = in.size();
  }
  std::size_t at = kHeaderBytes;
  std::uint8_t next = h.next_header;
  while (is_walked(next)) [[unlikely]] {
    if (h.extension_count == kMaxExtensions) return refuse<Header>(Reason::ipv6_extension_chain_too_long);
    if (end - at < 8) return refuse<Header>(Reason::ipv6_truncated);
    const std::size_t octets = next == kFragment ? 8 : (p[at + 1] + std::size_t{1}) * 8;
    if (end - at < octets) return refuse<Header>(Reason::ipv6_truncated);
    ++h.extension_count;
    const bool fragment = next == kFragment;
    const std::uint16_t offset_and_flag = load_be16(p + at + 2);
    next = p[at];
    at += octets;
    if (!fragment) continue;
    h.is_fragment = h.is_fragment || (offset_and_flag & 0xFFF9) != 0;
    h.is_later_fragment = (offset_and_flag & 0xFFF8) != 0;
    if (h.is_later_fragment) break;
  }
  h.upper_protocol = next;
  h.upper_offset = static_cast<std::uint32_t>(at);
  return {h};
}

}  // namespace detail

[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in) {
  return detail::parse(in, false);
}

// A packet that an ICMPv6 error quotes: it may be cut anywhere behind its extension headers, so total_bytes() may
// exceed the span. upper_offset lies within it.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse_quoted(Octets in) {
  return detail::parse(in, true);
}

// Address octets inside a packet that parse() accepted.
[[nodiscard]] SPLITPLANE_HD constexpr std::span<const std::uint8_t, 16> source(Octets packet) {
  return packet.subspan<8, 16>();
}
[[nodiscard]] SPLITPLANE_HD constexpr std::span<const std::uint8_t, 16> destination(Octets packet) {
  return packet.subspan<24, 16>();
}

// Writes the fixed header (traffic_class, flow_label, next_header, hop_limit of `h`) for `payload_bytes` octets behind
// it. Returns 40, or 0 if that does not fit or a field is out of range.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Header& h, std::span<const std::uint8_t, 16> from,
                                          std::span<const std::uint8_t, 16> to, std::size_t payload_bytes) {
  if (out.size() < kHeaderBytes || payload_bytes > 0xFFFF || h.flow_label > 0xFFFFF) return 0;
  std::uint8_t* p = out.data();
  store_be32(p, (6U << 28) | (static_cast<std::uint32_t>(h.traffic_class) << 20) | h.flow_label);
  store_be16(p + 4, static_cast<std::uint32_t>(payload_bytes));
  p[6] = h.next_header;
  p[7] = h.hop_limit;
  copy_octets(p + 8, from.data(), 16);
  copy_octets(p + 24, to.data(), 16);
  return kHeaderBytes;
}

}  // namespace splitplane::wire::ipv6
