// Which core of a card serves a bearer, where a card has several: the same answer from the control plane's identity and
// from a frame alone.
#pragma once

#include <rte_mbuf.h>

#include "card/frame_check.h"
#include "card/protocol/bearer.h"

namespace splitplane::nic {

inline constexpr unsigned kMaxCardCores = 16;

// Of `cores`, by a TEID or an identity. Fibonacci hashing: identities that follow one another, as ours do, spread
// evenly over any number of cores, and one multiplication more instead of a division.
[[nodiscard]] constexpr unsigned core_of(std::uint32_t key, unsigned cores) {
  return static_cast<unsigned>(std::uint64_t{key * 0x9e3779b1U} * cores >> 32);
}

// What `core_of` takes of a frame: the TEID of a G-PDU from N3, the identity of a frame from the air, the TEID of one
// that the host returns. 0: any core may have it, the program gives it to the host or to a port without a look at a
// bearer. Frames that the program looks up have a key here: the layout is that of p4/gnb_parser.p4i.
[[nodiscard]] inline std::uint32_t affinity_key(const std::uint8_t* f, unsigned bytes, CardSide side) {
  using namespace parsed;
  constexpr unsigned kTypeAt = 12, kIdentityAt = kEthernet + 4, kTeidAt = kIpv4 + kUdp + 4;
  if (bytes < kAirControl) return 0;
  const unsigned type = wire::load_be16(f + kTypeAt);
  if (side != CardSide::kN3) {
    const std::uint8_t kind = side == CardSide::kAir ? 0x10 : 0x11;
    return type == 0x88b5 && f[kEthernet] == kind ? wire::load_be32(f + kIdentityAt) : 0;
  }
  unsigned at = kEthernet, inner = type;
  if (type == 0x8100 || type == 0x88a8) {
    at += kVlan;
    inner = wire::load_be16(f + kEthernet + 2);
  }
  if (inner != 0x0800 || bytes < at + kN3 || f[at] != 0x45 || f[at + 9] != 17) return 0;
  return wire::load_be16(f + at + kIpv4 + 2) == 2152 ? wire::load_be32(f + at + kTeidAt) : 0;
}

// A bearer is served by one core, found by its TEID and by its identity: where the two differ, the card can only pass
// it on to the host.
[[nodiscard]] constexpr bool has_one_core(const CardBearer& b, unsigned cores) {
  return core_of(b.id.value, cores) == core_of(b.teid.value, cores);
}

}  // namespace splitplane::nic
