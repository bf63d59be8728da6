// The TEID of a frame by its place alone, for those who deal frames out and do not judge them: a card's rules for its
// cores, and what the host tells a card of dropped packets.
#pragma once

#include <cstdint>

#include "wire/bytes.h"
#include "wire/ethernet.h"

namespace splitplane::datapath {

// 0 if the frame is not Ethernet with at most one VLAN tag, IPv4 without options, UDP to GTP-U's port.
[[nodiscard]] inline std::uint32_t teid_of_frame(const std::uint8_t* f, unsigned bytes) {
  constexpr unsigned kEthernet = 14, kVlan = 4, kIpv4 = 20, kUdp = 8, kGtpu = 8;
  constexpr unsigned kTypeAt = 12, kProtocolAt = 9, kUdpPort = 2152, kUdpProtocol = 17;
  if (bytes < kEthernet + kVlan) return 0;
  unsigned at = kEthernet, type = wire::load_be16(f + kTypeAt);
  if (type == wire::ethernet::kTypeVlan || type == wire::ethernet::kTypeServiceVlan) {
    type = wire::load_be16(f + kTypeAt + kVlan);
    at += kVlan;
  }
  if (type != wire::ethernet::kTypeIpv4 || bytes < at + kIpv4 + kUdp + kGtpu) return 0;
  if (f[at] != 0x45 || f[at + kProtocolAt] != kUdpProtocol) return 0;
  if (wire::load_be16(f + at + kIpv4 + 2) != kUdpPort) return 0;
  return static_cast<std::uint32_t>(wire::load_be32(f + at + kIpv4 + kUdp + 4));
}

}  // namespace splitplane::datapath
