// UDP (RFC 768) and its checksum over the IPv4 and IPv6 (RFC 8200 8.1) pseudo headers.
//
//   o0-1 source port | o2-3 destination port | o4-5 length (header and data) | o6-7 checksum
#pragma once

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/result.h"

namespace splitplane::wire::udp {

inline constexpr std::size_t kHeaderBytes = 8;
inline constexpr std::uint8_t kProtocol = 17;

struct Header {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint16_t length = 0;    // 8 + payload; octets of the span behind it are not payload
  std::uint16_t checksum = 0;  // 0: none was computed (IPv4 only)

  [[nodiscard]] SPLITPLANE_HD constexpr std::size_t payload_bytes() const { return length - kHeaderBytes; }
};

// `in` is the payload of the IP packet.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in) {
  if (in.size() < kHeaderBytes) return refuse<Header>(Reason::udp_truncated);
  const std::uint8_t* p = in.data();
  const Header h{load_be16(p), load_be16(p + 2), load_be16(p + 4), load_be16(p + 6)};
  if (h.length < kHeaderBytes || h.length > in.size()) return refuse<Header>(Reason::udp_bad_length);
  return {h};
}

// Writes 8 octets with checksum field `checksum` (0: none). Returns 0 if they do not fit or the length exceeds 65535.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, std::uint16_t source_port, std::uint16_t destination_port,
                                          std::size_t payload_bytes, std::uint16_t checksum = 0) {
  if (out.size() < kHeaderBytes || payload_bytes > 0xFFFF - kHeaderBytes) return 0;
  std::uint8_t* p = out.data();
  store_be16(p, source_port);
  store_be16(p + 2, destination_port);
  store_be16(p + 4, static_cast<std::uint32_t>(kHeaderBytes + payload_bytes));
  store_be16(p + 6, checksum);
  return kHeaderBytes;
}

namespace detail {

// Sum of pseudo header and datagram. The checksum field counts as it is if `with_field`, else as 0.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t sum(Octets source, Octets destination, Octets datagram,
                                                        bool with_field) {
  std::uint64_t s = pseudo_header_sum(source, destination, kProtocol, datagram.size());
  s = checksum_add(s, datagram.first(with_field ? 8 : 6));
  return checksum_finish(checksum_add(s, datagram.subspan(8)));
}

}  // namespace detail

// Checksum for `datagram` (UDP header and data, exactly `length` octets, at least 8) between two IPv4 (4 octets) or
// IPv6 (16 octets) addresses. It is never 0, because 0 means "none" on the wire.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t checksum(Octets source, Octets destination, Octets datagram) {
  const std::uint16_t value = detail::sum(source, destination, datagram, false);
  return value == 0 ? std::uint16_t{0xFFFF} : value;
}

// True if the checksum is correct, or absent over IPv4.
[[nodiscard]] SPLITPLANE_HD constexpr bool checksum_is_good(Octets source, Octets destination, Octets datagram) {
  if (load_be16(datagram.data() + 6) == 0) return source.size() == 4;
  return detail::sum(source, destination, datagram, true) == 0;
}

}  // namespace splitplane::wire::udp
