// Our side of an N3 interface, as the packet path needs it: the addresses to accept, and ready-made uplink headers for
// each UPF.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/ip_address.h"
#include "base/types.h"
#include "wire/ethernet.h"

namespace splitplane::datapath {

// Our addresses on N3. Absent ones are all zeros, and no valid packet has that destination.
struct N3Addresses {
  // For tests that do not look at tags: frames of every VLAN are taken, and none is sent with a tag.
  static constexpr std::uint16_t kAnyVlan = 0xffff;

  std::uint32_t ipv4 = 0;  // in memory order
  std::array<std::uint8_t, 16> ipv6{};
  MacAddress mac;
  std::uint16_t mtu = 1500;  // of the N3 port: octets of an IP packet, without a VLAN tag
  std::uint16_t vlan = 0;    // 1 to 4094: receives and sends in this VLAN only; 0: untagged only
  // All ones: a G-PDU must come from its bearer's UPF. 0: it may come from any address.
  std::uint32_t source_mask = 0;
  TosByQfi tos{};  // of uplink packets

  [[nodiscard]] bool sends_tagged() const { return vlan != 0 && vlan != kAnyVlan; }
};

inline constexpr unsigned kGtpuPscBytes = 16;  // GTP-U header with optional octets and a 4-octet PDU Session Container
inline constexpr unsigned kN3OverheadIpv4 = 14 + 20 + 8 + kGtpuPscBytes;
inline constexpr unsigned kN3OverheadIpv6 = 14 + 40 + 8 + kGtpuPscBytes;
inline constexpr unsigned kVlanTagBytes = 4;

// A UPF as uplink packets see it: everything in front of the T-PDU. A worker copies it and patches six places
// (type of service, lengths, checksum, TEID, QFI). All workers that send to the UPF know it. Its MAC address arrives by
// ARP or neighbor discovery.
struct alignas(64) N3Peer {
  std::array<std::uint8_t, 96> header{};
  std::uint32_t checksum_base = 0;  // IPv4: one's complement sum of the header with total length 0
  std::uint16_t max_payload = 0;    // octets of the longest T-PDU that fits the MTU; 0 until the next hop is resolved
  std::uint8_t header_bytes = 0;    // kN3OverheadIpv4 or kN3OverheadIpv6, and a VLAN tag; 0: no such peer
  bool ipv6 = false;
  bool resolved = false;
};
static_assert(sizeof(N3Peer) == 128);

inline constexpr unsigned kMaxPeers = 256;
// Not a UPF but a place that is never resolved. Uplink packets of a bearer that points here take the slow path, and
// other packets pay nothing. Stopped: the UPF does not know the bearer's uplink TEID (Error Indication). Monitored: the
// uplink must answer a container with time stamps (QoS monitoring).
inline constexpr unsigned kStoppedPeer = kMaxPeers, kMonitoredPeer = kMaxPeers + 1;
using N3Peers = std::array<N3Peer, kMaxPeers + 2>;

// The headers towards `upf`. Without `mac` the next hop is not resolved yet, and its packets are dropped as
// `peer_unresolved`.
[[nodiscard]] N3Peer make_peer(const N3Addresses& ours, const IpAddress& upf, std::optional<MacAddress> mac);

// Writes the complete N3 headers of one T-PDU of `payload` octets at `out` (peer.header_bytes octets; the T-PDU
// follows). `tos`: IPv4's type of service, IPv6's traffic class. IPv4 has UDP checksum 0. For IPv6 the checksum covers
// the T-PDU, as RFC 8200 8.1 requires. kTagBytes is the same for all peers of an interface: kVlanTagBytes if
// N3Addresses::sends_tagged(), else 0.
void write_uplink_ipv6_checksum(std::uint8_t* ip, unsigned payload);
template <unsigned kTagBytes = 0>
inline void write_uplink(const N3Peer& peer, std::uint32_t teid, std::uint8_t qfi, std::uint8_t tos, unsigned payload,
                         std::uint8_t* out);

}  // namespace splitplane::datapath

#include "n3/uplink_header.h"
