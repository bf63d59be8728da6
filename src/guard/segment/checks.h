// What is wrong with a client's SYN before anything is decided about it.
#pragma once

#include <cstring>

#include "engine/checksum_mode.h"
#include "guard/segment/reply.h"
#include "guard/segment/segment.h"

namespace splitplane::guard {

// Neither end of a connection: multicast, broadcast, unspecified and loopback addresses, and a source that is the
// destination (RFC 1122 3.2.1.3, RFC 4291 2.4). Nor may the frame be from or to a group of stations.
[[nodiscard]] inline bool is_of_one_host(bool is_v6, const std::uint8_t* address) {
  if (!is_v6) {
    const std::uint8_t first = address[0];
    return first != 0 && first != 127 && first < 224;  // 240/4, broadcast with it, is no host's either
  }
  if (address[0] == 0xFF) return false;
  return wire::load_be64(address) != 0 || wire::load_be64(address + 8) > 1;
}

[[nodiscard]] inline bool is_unicast(const Segment& s) {
  const std::uint8_t* const frame = s.frame();
  if (((frame[0] | frame[6]) & 1) != 0) return false;
  const bool is_v6 = s.tuple.is_v6 != 0;
  return is_of_one_host(is_v6, s.tuple.client.data()) && is_of_one_host(is_v6, s.tuple.server.data()) &&
         s.tuple.client != s.tuple.server;
}

// Whether checksums are good, by the NIC's word or by our own look.
[[nodiscard]] inline bool passes_checksums(const Segment& s, datapath::ChecksumMode mode) {
  if (mode == datapath::ChecksumMode::off) return true;
  if (mode == datapath::ChecksumMode::offload) {
    constexpr std::uint64_t kGood = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
    const std::uint64_t l4 = s.mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
    const std::uint64_t ip = s.mbuf->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
    if (l4 == RTE_MBUF_F_RX_L4_CKSUM_BAD || ip == RTE_MBUF_F_RX_IP_CKSUM_BAD) return false;
    // NONE: the octets have no checksum yet, and the driver vouches for them (a guest of the same machine sent them).
    if (l4 == RTE_MBUF_F_RX_L4_CKSUM_NONE || (s.mbuf->ol_flags & kGood) == kGood) return true;
    if (l4 == RTE_MBUF_F_RX_L4_CKSUM_GOOD && s.tuple.is_v6 != 0) return true;
  }
  return checksums_are_good(s);
}

}  // namespace splitplane::guard
