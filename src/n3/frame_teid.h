// The TEID of a frame by its place alone, for those who deal frames out and do not judge them: a card's rules for its
// cores, and what the host tells a card of dropped packets.
#pragma once

#include <cstdint>

#include "wire/bytes.h"
#include "wire/ethernet.h"

namespace splitplane::datapath {

// 0 if the frame is not Ethernet with at most one VLAN tag, IPv4 without options or IPv6 without extension headers, UDP
// to GTP-U's port.
[[nodiscard]] inline std::uint32_t teid_of_frame(const std::uint8_t* f, unsigned bytes) {
  constexpr unsigned kEthernet = 14, kVlan = 4, kIpv4 = 20, kIpv6 = 40, kUdp = 8, kGtpu = 8;
  constexpr unsigned kTypeAt = 12, kProtocolAt = 9, kNextAt = 6, kUdpPort = 2152, kUdpProtocol = 17;
  if (bytes < kEthernet + kVlan) return 0;
  unsigned at = kEthernet, type = wire::load_be16(f + kTypeAt);
  if (type == wire::ethernet::kTypeVlan || type == wire::ethernet::kTypeServiceVlan) {
    type = wire::load_be16(f + kTypeAt + kVlan);
    at += kVlan;
  }
  const bool v6 = type == wire::ethernet::kTypeIpv6;
  const unsigned ip_bytes = v6 ? kIpv6 : kIpv4, protocol_at = v6 ? kNextAt : kProtocolAt;
  if ((!v6 && type != wire::ethernet::kTypeIpv4) || bytes < at + ip_bytes + kUdp + kGtpu) return 0;
  const bool plain = v6 ? (f[at] & 0xf0) == 0x60 : f[at] == 0x45;
  if (!plain || f[at + protocol_at] != kUdpProtocol) return 0;
  if (wire::load_be16(f + at + ip_bytes + 2) != kUdpPort) return 0;
  return static_cast<std::uint32_t>(wire::load_be32(f + at + ip_bytes + kUdp + 4));
}

}  // namespace splitplane::datapath
