// The Internet checksum (RFC 1071) over bounded spans: IPv4 headers, and UDP with its pseudo header.
#pragma once

#include "wire/bytes.h"

namespace splitplane::wire {

// Adds octets as 16-bit big-endian words to a running one's complement sum. An odd last octet is padded with 0, so only
// the last span of a sum may have an odd size.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint64_t checksum_add(std::uint64_t sum, Octets in) {
  const std::uint8_t* p = in.data();
  std::size_t left = in.size();
  for (; left >= 4; left -= 4, p += 4) sum += load_be32(p);  // folding 32-bit words gives the same 16-bit sum
  if (left >= 2) {
    sum += load_be16(p);
    p += 2;
    left -= 2;
  }
  if (left != 0) sum += static_cast<std::uint32_t>(p[0]) << 8;
  return sum;
}

[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t checksum_finish(std::uint64_t sum) {
  sum = (sum & 0xFFFFFFFFU) + (sum >> 32);
  sum = (sum & 0xFFFFU) + (sum >> 16);
  sum = (sum & 0xFFFFU) + (sum >> 16);
  sum = (sum & 0xFFFFU) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace splitplane::wire
