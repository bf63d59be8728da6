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
};

// What a frame told: that `ip` is at `mac`.
struct NeighborNews {
  IpAddress ip;
  MacAddress mac;
};

struct NeighborResult {
  std::optional<NeighborNews> news;                 // from any valid ARP packet, solicitation or advertisement
  std::optional<std::vector<std::uint8_t>> answer;  // a frame to send back, when we were asked for one of ours
};

// Reads one ARP or neighbour-discovery frame; anything malformed gives an empty result.
[[nodiscard]] NeighborResult handle_neighbor_frame(std::span<const std::uint8_t> frame, const OwnAddresses& own);

// The question "who has `target`?" as a broadcast (ARP) or solicited-node multicast (neighbour solicitation) frame;
// nothing when we have no address of that family to ask from.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> make_neighbor_request(const IpAddress& target,
                                                                             const OwnAddresses& own);

}  // namespace splitplane::datapath
