// The Internet checksum (RFC 1071) over bounded spans: IPv4 headers, and TCP, UDP and ICMPv6 with their pseudo headers.
// Changed fields change it without a look at the rest (RFC 1624).
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

// Sum of the pseudo header between two IPv4 (4 octets, RFC 9293 3.1) or IPv6 (16 octets, RFC 8200 8.1) addresses, for
// `bytes` octets of upper layer. A NIC that computes the checksum wants it, folded and not inverted, in the field.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint64_t pseudo_header_sum(Octets source, Octets destination,
                                                                      std::uint8_t protocol, std::size_t bytes) {
  return checksum_add(checksum_add(0, source), destination) + protocol + bytes;
}

// Collects fields that change below one checksum, then changes the checksum once (RFC 1624, equation 3). A checksum
// that was wrong stays wrong by the same difference.
class ChecksumChange {
 public:
  // A field at an even offset from the first octet that the checksum covers.
  SPLITPLANE_HD constexpr void replace16(std::uint16_t before, std::uint16_t after) {
    sum_ += static_cast<std::uint64_t>(static_cast<std::uint16_t>(~before)) + after;
  }
  SPLITPLANE_HD constexpr void replace32(std::uint32_t before, std::uint32_t after) {
    sum_ += static_cast<std::uint64_t>(~before) + after;
  }
  // A field at an odd offset: its octets count in the other halves of their words, as after a shift by eight bits.
  SPLITPLANE_HD constexpr void replace16_at_odd(std::uint16_t before, std::uint16_t after) {
    sum_ += (static_cast<std::uint64_t>(static_cast<std::uint16_t>(~before)) + after) << 8;
  }
  SPLITPLANE_HD constexpr void replace32_at_odd(std::uint32_t before, std::uint32_t after) {
    sum_ += (static_cast<std::uint64_t>(~before) + after) << 8;
  }
  SPLITPLANE_HD constexpr void replace32_at(std::size_t offset, std::uint32_t before, std::uint32_t after) {
    sum_ += (static_cast<std::uint64_t>(~before) + after) << (offset % 2 * 8);
  }
  [[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t applied_to(std::uint16_t checksum) const {
    return checksum_finish(sum_ + static_cast<std::uint16_t>(~checksum));
  }

 private:
  std::uint64_t sum_ = 0;  // some thousand changes fit
};

// `checksum` after one field of 16 or 32 bits has changed.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t checksum_adjust16(std::uint16_t checksum, std::uint16_t before,
                                                                      std::uint16_t after, bool at_odd_offset = false) {
  ChecksumChange change;
  if (at_odd_offset) {
    change.replace16_at_odd(before, after);
  } else {
    change.replace16(before, after);
  }
  return change.applied_to(checksum);
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t checksum_adjust32(std::uint16_t checksum, std::uint32_t before,
                                                                      std::uint32_t after, bool at_odd_offset = false) {
  ChecksumChange change;
  change.replace32_at(at_odd_offset ? 1 : 0, before, after);
  return change.applied_to(checksum);
}

}  // namespace splitplane::wire
