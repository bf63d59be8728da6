// ARP (RFC 826) and IPv6 neighbour discovery (RFC 4861) for our own addresses on N3: octets in, octets out, on the
// control thread. Workers punt such frames and send what comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ip_address.h"

namespace splitplane::datapath {

// Who we are on one N3 interface.
struct OwnAddresses {
  std::optional<IpAddress> ipv4, ipv6;
  MacAddress mac;
  std::uint16_t vlan = 0;  // 1 to 4094: frames are sent with this tag
};

// What a frame says: that `ip` is at `mac`. The sender may lie.
struct NeighborClaim {
  IpAddress ip;
  MacAddress mac;
  bool is_answer = false;  // has the form of an answer to a question of ours, and came to us alone
};

struct NeighborResult {
  std::optional<NeighborClaim> claim;               // from any valid ARP packet, solicitation or advertisement
  std::optional<std::vector<std::uint8_t>> answer;  // a frame to send back, when we were asked for one of ours
  bool refused_mac = false;                         // it names a MAC address that no host has, and is ignored
};

// Reads one ARP or neighbour-discovery frame; anything malformed gives an empty result.
[[nodiscard]] NeighborResult handle_neighbor_frame(std::span<const std::uint8_t> frame, const OwnAddresses& own);

// The question "who has `target`?": to `only`, or as a broadcast (ARP) or solicited-node multicast (neighbour
// solicitation) frame. Nothing when we have no address of that family to ask from.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> make_neighbor_request(
    const IpAddress& target, const OwnAddresses& own, const std::optional<MacAddress>& only = std::nullopt);

// Neither broadcast, multicast nor zero, and not our own.
[[nodiscard]] bool is_host_mac(const MacAddress& mac, const OwnAddresses& own);

}  // namespace splitplane::datapath
