// ARP (RFC 826) and IPv6 neighbor discovery (RFC 4861) for our own addresses on N3, on the control thread. The input
// and output are octets. Workers punt such frames and send the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ip_address.h"

namespace splitplane::datapath {

// Our addresses on one N3 interface.
struct OwnAddresses {
  std::optional<IpAddress> ipv4, ipv6;
  MacAddress mac;
  std::uint16_t vlan = 0;  // 1 to 4094: frames are sent with this tag
};

// A frame claims that `ip` is at `mac`. The sender may lie.
struct NeighborClaim {
  IpAddress ip;
  MacAddress mac;
  bool is_answer = false;  // has the form of an answer to our question, and was sent to us alone
};

struct NeighborResult {
  std::optional<NeighborClaim> claim;               // from any valid ARP packet, solicitation or advertisement
  std::optional<std::vector<std::uint8_t>> answer;  // a frame to send back, if the sender asked for an address of ours
  bool refused_mac = false;                         // the frame names a MAC address that no host has, and is ignored
};

// Reads one ARP or neighbor discovery frame. A malformed frame gives an empty result.
[[nodiscard]] NeighborResult handle_neighbor_frame(std::span<const std::uint8_t> frame, const OwnAddresses& own);

// The question "who has `target`?": to `only`, or as a broadcast (ARP) or solicited-node multicast (neighbor
// solicitation) frame. Nothing if we have no address of that family to ask from.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> make_neighbor_request(
    const IpAddress& target, const OwnAddresses& own, const std::optional<MacAddress>& only = std::nullopt);

// True if the address is neither broadcast, multicast nor zero, and is not our own.
[[nodiscard]] bool is_host_mac(const MacAddress& mac, const OwnAddresses& own);

}  // namespace splitplane::datapath
