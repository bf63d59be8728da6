// Which core of a card serves a bearer, if the card has several. The control plane's identity and a frame alone give
// the same answer.
#pragma once

#include <rte_mbuf.h>

#include "card/frame_check.h"
#include "card/protocol/bearer.h"

namespace splitplane::nic {

inline constexpr unsigned kMaxCardCores = 16;

// The core, out of `cores`, for a TEID or an identity. Fibonacci hashing spreads consecutive identities evenly over any
// number of cores. It costs one more multiplication instead of a division.
[[nodiscard]] constexpr unsigned core_of(std::uint32_t key, unsigned cores) {
  return static_cast<unsigned>(std::uint64_t{key * 0x9e3779b1U} * cores >> 32);
}

// The key of a frame for core_of(): the TEID of a G-PDU from N3, the identity of a frame from the air, the TEID of a
// frame that the host returns. With key 0 any core may take the frame: the program sends it to the host or to a port
// without a bearer lookup. All frames that the program looks up have a key, by the layout of p4/gnb_parser.p4i.
[[nodiscard]] inline std::uint32_t affinity_key(const std::uint8_t* f, unsigned bytes, CardSide side) {
  using namespace parsed;
  constexpr unsigned kTypeAt = 12, kIdentityAt = kEthernet + 4, kTeidAt = kIpv4 + kUdp + 4;
  if (bytes < kRlc) return 0;
  const unsigned type = wire::load_be16(f + kTypeAt);
  if (side != CardSide::kN3) {
    const std::uint8_t kind = side == CardSide::kAir ? 0x20 : 0x21;
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

// True if TEID and identity lead to the same core. Otherwise the card can only pass the bearer's packets to the host.
[[nodiscard]] constexpr bool has_one_core(const CardBearer& b, unsigned cores) {
  return core_of(b.id.value, cores) == core_of(b.teid.value, cores);
}

}  // namespace splitplane::nic
