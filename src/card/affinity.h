// Which core of a card serves a bearer, if the card has several. The control plane's identity and a frame alone give
// the same answer.
#pragma once

#include <rte_mbuf.h>

#include "card/card.h"
#include "n3/frame_teid.h"
#include "wire/airhdr.h"

namespace splitplane::nic {

inline constexpr unsigned kMaxCardCores = 16;

// The core, out of `cores`, for a TEID or an identity. Fibonacci hashing spreads consecutive identities evenly over any
// number of cores. It costs one more multiplication instead of a division.
[[nodiscard]] constexpr unsigned core_of(std::uint32_t key, unsigned cores) {
  return static_cast<unsigned>(std::uint64_t{key * 0x9e3779b1U} * cores >> 32);
}

// The key of a frame for core_of(): the TEID of a G-PDU from N3, the identity of a frame from the air, the TEID of a
// frame that the host returns. A NIC finds it with its rules for receive queues. With key 0 any core may take the
// frame: the program sends it to the host or to a port without a bearer lookup. All frames that the program looks up
// have a key.
[[nodiscard]] inline std::uint32_t affinity_key(const std::uint8_t* f, unsigned bytes, CardSide side) {
  constexpr unsigned kEthernet = 14, kTypeAt = 12;
  constexpr unsigned kAirFrame = kEthernet + static_cast<unsigned>(wire::airhdr::kHeaderBytes);
  constexpr std::uint8_t kRlcPdu = wire::airhdr::kVersion << 4 | wire::airhdr::kKindRlcPdu;
  constexpr std::uint8_t kReturned = wire::airhdr::kVersion << 4 | wire::airhdr::kKindReturned;
  if (bytes < kAirFrame) return 0;
  const unsigned type = wire::load_be16(f + kTypeAt);
  if (side != CardSide::kN3) {
    const std::uint8_t kind = side == CardSide::kAir ? kRlcPdu : kReturned;
    return type == wire::airhdr::kEtherType && f[kEthernet] == kind ? wire::load_be32(f + kEthernet + 4) : 0;
  }
  return datapath::teid_of_frame(f, bytes);
}

// True if TEID and identity lead to the same core. Otherwise the card can only pass the bearer's packets to the host.
[[nodiscard]] constexpr bool has_one_core(const CardBearer& b, unsigned cores) {
  return core_of(b.id.value, cores) == core_of(b.teid.value, cores);
}

}  // namespace splitplane::nic
