#include "n3/neighbor.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv6.h"

namespace splitplane::datapath {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Octets = std::span<const std::uint8_t>;

constexpr std::size_t kArpBytes = 28;
constexpr std::uint16_t kArpRequest = 1, kArpReply = 2;
constexpr std::uint8_t kSolicitation = 135, kAdvertisement = 136;
constexpr std::uint8_t kSourceLinkAddress = 1, kTargetLinkAddress = 2;
constexpr std::size_t kNdBytes = 32;  // ICMPv6 header and target (24), one link-layer address option (8)

IpAddress ipv4_at(const std::uint8_t* p) {
  return IpAddress::v4({p[0], p[1], p[2], p[3]});
}

IpAddress ipv6_at(const std::uint8_t* p) {
  std::array<std::uint8_t, 16> octets;
  std::copy_n(p, 16, octets.begin());
  return IpAddress::v6(octets);
}

MacAddress mac_at(const std::uint8_t* p) {
  MacAddress mac;
  std::copy_n(p, 6, mac.octets.begin());
  return mac;
}

// A frame from us with room for `bytes` behind the Ethernet header, in our VLAN.
Bytes begin_frame(const OwnAddresses& own, const MacAddress& to, std::uint16_t type, std::size_t bytes) {
  const std::span<const std::uint16_t> tags(&own.vlan, own.vlan == 0 ? 0 : 1);
  Bytes frame(wire::ethernet::kHeaderBytes + wire::ethernet::kTagBytes * tags.size() + bytes);
  wire::ethernet::write(frame, to.octets, own.mac.octets, type, tags);
  return frame;
}

// A request is a broadcast unless it has an `only`.
Bytes make_arp(std::uint16_t operation, const OwnAddresses& own, const MacAddress& to_mac, const IpAddress& to) {
  Bytes frame = begin_frame(own, to_mac, wire::ethernet::kTypeArp, kArpBytes);
  std::uint8_t* p = frame.data() + frame.size() - kArpBytes;
  const std::array<std::uint8_t, 6> kinds{0, 1, 0x08, 0, 6, 4};  // Ethernet, IPv4, address lengths
  std::copy(kinds.begin(), kinds.end(), p);
  wire::store_be16(p + 6, operation);
  std::copy(own.mac.octets.begin(), own.mac.octets.end(), p + 8);
  std::copy_n(own.ipv4->octets().begin(), 4, p + 14);
  if (operation == kArpReply) std::copy(to_mac.octets.begin(), to_mac.octets.end(), p + 18);
  std::copy_n(to.octets().begin(), 4, p + 24);
  return frame;
}

NeighborResult handle_arp(Octets arp, bool to_us, const OwnAddresses& own) {
  NeighborResult result;
  const std::uint8_t* p = arp.data();
  if (arp.size() < kArpBytes || wire::load_be16(p) != 1 || wire::load_be16(p + 2) != wire::ethernet::kTypeIpv4 ||
      p[4] != 6 || p[5] != 4) {
    return result;
  }
  const IpAddress sender = ipv4_at(p + 14);
  const MacAddress sender_mac = mac_at(p + 8);
  if (!is_host_mac(sender_mac, own)) return {.claim = {}, .answer = {}, .refused_mac = true};
  const std::uint16_t operation = wire::load_be16(p + 6);
  const bool names_us = own.ipv4 && ipv4_at(p + 24) == *own.ipv4;
  if (sender != IpAddress{}) {  // 0.0.0.0: a probe (RFC 5227)
    const bool is_answer = operation == kArpReply && names_us && to_us && mac_at(p + 18) == own.mac;
    result.claim = NeighborClaim{sender, sender_mac, is_answer};
  }
  if (operation == kArpRequest && names_us) {
    result.answer = make_arp(kArpReply, own, sender_mac, sender);
  }
  return result;
}

// Ethernet, IPv6 with hop limit 255 and the ICMPv6 message with its checksum (RFC 4861 4.3, 4.4).
Bytes make_nd(std::uint8_t type, std::uint32_t flags, const OwnAddresses& own, const MacAddress& to_mac,
              const IpAddress& to, const IpAddress& target) {
  Bytes frame = begin_frame(own, to_mac, wire::ethernet::kTypeIpv6, 40 + kNdBytes);
  wire::ipv6::Header ip;
  ip.next_header = wire::ipv6::kProtocolIcmpv6;
  ip.hop_limit = 255;
  std::uint8_t* at = frame.data() + frame.size() - 40 - kNdBytes;
  wire::ipv6::write({at, 40}, ip, std::span<const std::uint8_t, 16>(own.ipv6->octets()),
                    std::span<const std::uint8_t, 16>(to.octets()), kNdBytes);
  std::uint8_t* icmp = at + 40;
  icmp[0] = type;
  wire::store_be32(icmp + 4, flags);
  std::copy(target.octets().begin(), target.octets().end(), icmp + 8);
  icmp[24] = type == kSolicitation ? kSourceLinkAddress : kTargetLinkAddress;
  icmp[25] = 1;
  std::copy(own.mac.octets.begin(), own.mac.octets.end(), icmp + 26);
  std::uint64_t sum = wire::checksum_add(0, Octets(at + 8, 32)) + kNdBytes + wire::ipv6::kProtocolIcmpv6;
  sum = wire::checksum_add(sum, Octets(icmp, kNdBytes));
  wire::store_be16(icmp + 2, wire::checksum_finish(sum));
  return frame;
}

// The link-layer address option of that type, if the options are well formed (RFC 4861 4.6).
std::optional<MacAddress> link_address(Octets options, std::uint8_t type) {
  while (options.size() >= 8) {
    const std::size_t bytes = std::size_t{options[1]} * 8;
    if (bytes == 0 || bytes > options.size()) return std::nullopt;
    if (options[0] == type) return mac_at(options.data() + 2);
    options = options.subspan(bytes);
  }
  return std::nullopt;
}

NeighborResult handle_nd(Octets packet, const MacAddress& from, bool to_us, const OwnAddresses& own) {
  NeighborResult result;
  const auto ip = wire::ipv6::parse(packet);
  if (!ip || ip->upper_protocol != wire::ipv6::kProtocolIcmpv6 || ip->hop_limit != 255 || ip->upper_bytes() < 24)
    return result;
  const Octets icmp = packet.subspan(ip->upper_offset, ip->upper_bytes());
  std::uint64_t sum = wire::checksum_add(0, packet.subspan(8, 32)) + icmp.size() + wire::ipv6::kProtocolIcmpv6;
  if (wire::checksum_finish(wire::checksum_add(sum, icmp)) != 0 || icmp[1] != 0) return result;
  const IpAddress sender = ipv6_at(packet.data() + 8);
  const IpAddress target = ipv6_at(icmp.data() + 8);
  const Octets options = icmp.subspan(24);
  if (icmp[0] == kAdvertisement) {
    // An answer to a question that was sent to one host may leave its address out (RFC 4861 4.4).
    const MacAddress mac = link_address(options, kTargetLinkAddress).value_or(from);
    if (!is_host_mac(mac, own)) return {.claim = {}, .answer = {}, .refused_mac = true};
    const bool solicited = (icmp[4] & 0x40U) != 0 && own.ipv6 && ipv6_at(packet.data() + 24) == *own.ipv6;
    result.claim = NeighborClaim{target, mac, solicited && to_us};
    return result;
  }
  if (icmp[0] != kSolicitation) return result;
  const auto mac = link_address(options, kSourceLinkAddress);
  const bool probe = sender == IpAddress::v6({});  // duplicate address detection: no unicast address to answer to
  if (mac && !is_host_mac(*mac, own)) return {.claim = {}, .answer = {}, .refused_mac = true};
  if (!probe && mac) result.claim = NeighborClaim{sender, *mac};
  if (own.ipv6 && target == *own.ipv6 && !probe && mac) {
    constexpr std::uint32_t kSolicitedAndOverride = 0x60000000;
    result.answer = make_nd(kAdvertisement, kSolicitedAndOverride, own, *mac, sender, target);
  }
  return result;
}

}  // namespace

NeighborResult handle_neighbor_frame(std::span<const std::uint8_t> frame, const OwnAddresses& own) {
  const auto ethernet = wire::ethernet::parse(frame);
  if (!ethernet) return {};
  const Octets packet = frame.subspan(ethernet->header_bytes);
  const MacAddress from = mac_at(frame.data() + 6);
  const bool to_us = mac_at(frame.data()) == own.mac;
  NeighborResult result;
  if (ethernet->ether_type == wire::ethernet::kTypeArp) result = handle_arp(packet, to_us, own);
  if (ethernet->ether_type == wire::ethernet::kTypeIpv6) result = handle_nd(packet, from, to_us, own);
  if ((result.claim || result.answer) && !is_host_mac(from, own)) {
    return {.claim = {}, .answer = {}, .refused_mac = true};
  }
  return result;
}

bool is_host_mac(const MacAddress& mac, const OwnAddresses& own) {
  return (mac.octets[0] & 1U) == 0 && mac != MacAddress{} && mac != own.mac;
}

std::optional<std::vector<std::uint8_t>> make_neighbor_request(const IpAddress& target, const OwnAddresses& own,
                                                               const std::optional<MacAddress>& only) {
  if (!target.is_v6()) {
    if (!own.ipv4) return std::nullopt;
    constexpr MacAddress kEverybody{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
    return make_arp(kArpRequest, own, only.value_or(kEverybody), target);
  }
  if (!own.ipv6) return std::nullopt;
  const auto& t = target.octets();
  const MacAddress group{{0x33, 0x33, 0xff, t[13], t[14], t[15]}};  // solicited-node address (RFC 4291 2.7.1)
  if (only) return make_nd(kSolicitation, 0, own, *only, target, target);
  const IpAddress to = IpAddress::v6({0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, t[13], t[14], t[15]});
  return make_nd(kSolicitation, 0, own, group, to, target);
}

}  // namespace splitplane::datapath
