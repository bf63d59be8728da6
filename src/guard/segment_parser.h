// Reads the headers of a received frame: is it TCP of a protected server, and of which one? Bounds are strict: nothing
// behind the first segment of an mbuf is read, and link padding belongs to no packet.
//
//   Ethernet, 0 to 2 VLAN tags | IPv4 with options, or IPv6 with extension headers | TCP, or an ICMP error about TCP
//
// IPv4 without options and IPv6 without extension headers are read here; the rest in slow_parse().
#pragma once

#include <cstring>

#include "engine/burst.h"
#include "guard/segment.h"
#include "guard/servers.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace splitplane::guard {

class SegmentParser {
 public:
  explicit SegmentParser(const ServerList& servers) : servers_(servers) {}

  // Fills `s` for a frame from `side`. The hashes in it are left to the caller.
  void parse(rte_mbuf* m, Side side, Segment& s) const {
    s.mbuf = m;
    s.kind = Kind::kOther;
    s.is_segmented = m->nb_segs != 1;
    const std::uint8_t* const frame = datapath::octets(m);
    const unsigned here = m->data_len;
    if (here < kShortest) [[unlikely]]
      return;
    if (wire::load_be16(frame + 12) == wire::ethernet::kTypeIpv4) [[likely]] {
      s.vlan_tags = 0;
      s.ip_offset = wire::ethernet::kHeaderBytes;
      // Version 4 without options, no fragment, TCP.
      const std::uint8_t* const ip = frame + wire::ethernet::kHeaderBytes;
      if (ip[0] == 0x45 && ip[9] == wire::ipv4::kProtocolTcp && (wire::load_be16(ip + 6) & 0x3FFF) == 0) [[likely]] {
        const unsigned total = wire::load_be16(ip + 2);
        if (total < wire::ipv4::kMinHeaderBytes || total > m->pkt_len - wire::ethernet::kHeaderBytes) return;
        s.ip_end = wire::ethernet::kHeaderBytes + total;
        take_tcp4(s, side, frame, here, wire::ethernet::kHeaderBytes + wire::ipv4::kMinHeaderBytes, 0);
        return;
      }
    }
    slow_parse(m, side, s);
  }

 private:
  // No packet that concerns the guard is shorter: Ethernet, IPv4, 8 octets.
  static constexpr unsigned kShortest = wire::ethernet::kHeaderBytes + wire::ipv4::kMinHeaderBytes;

  // The TCP header at `at` of an IPv4 packet whose header is whole.
  void take_tcp4(Segment& s, Side side, const std::uint8_t* frame, unsigned here, unsigned at,
                 std::uint16_t vlan) const {
    const std::uint8_t* const ip = frame + s.ip_offset;
    const std::uint8_t* const server = ip + (side == Side::kClient ? 16 : 12);
    const unsigned have = std::min<unsigned>(here, s.ip_end);
    if (have < at + wire::tcp::kMinHeaderBytes) [[unlikely]] {
      take_unsound(s, false, server, wire::Reason::tcp_truncated);
      return;
    }
    const std::uint8_t* const tcp = frame + at;
    const std::uint16_t server_port = wire::load_be16(tcp + (side == Side::kClient ? 2 : 0));
    const std::uint16_t index = servers_.match(false, server, server_port);
    if (index == ServerList::kNone) return;
    s.server = index;
    if (!take_header(s, tcp, have - at)) return;
    fill_tuple4(s.tuple, ip + (side == Side::kClient ? 12 : 16), server, vlan);
    fill_ports(s, side);
    s.tcp_offset = static_cast<std::uint16_t>(at);
  }

  // False: no sound header; `s` says why.
  static bool take_header(Segment& s, const std::uint8_t* tcp, unsigned have) {
    const auto header = wire::tcp::parse({tcp, have});
    if (!header) [[unlikely]] {
      s.kind = Kind::kUnsound;
      s.reason = header.reason;
      return false;
    }
    s.tcp = *header;
    s.kind = Kind::kTcp;
    return true;
  }
  void take_unsound(Segment& s, bool is_v6, const std::uint8_t* server, wire::Reason reason) const {
    const std::uint16_t index = servers_.match_address(is_v6, server);
    if (index == ServerList::kNone) return;
    s.server = index;
    s.kind = Kind::kUnsound;
    s.reason = reason;
  }
  static void fill_ports(Segment& s, Side side) {
    s.tuple.client_port = side == Side::kClient ? s.tcp.source_port : s.tcp.destination_port;
    s.tuple.server_port = side == Side::kClient ? s.tcp.destination_port : s.tcp.source_port;
  }
  static void fill_tuple4(FourTuple& tuple, const std::uint8_t* client, const std::uint8_t* server,
                          std::uint16_t vlan) {
    tuple = FourTuple{};
    std::memcpy(tuple.client.data(), client, 4);
    std::memcpy(tuple.server.data(), server, 4);
    tuple.vlan = vlan;
  }
  static void fill_tuple6(FourTuple& tuple, const std::uint8_t* client, const std::uint8_t* server,
                          std::uint16_t vlan) {
    tuple = FourTuple{};
    std::memcpy(tuple.client.data(), client, 16);
    std::memcpy(tuple.server.data(), server, 16);
    tuple.vlan = vlan;
    tuple.is_v6 = 1;
  }

  void slow_parse(rte_mbuf* m, Side side, Segment& s) const;
  void parse_v4(rte_mbuf* m, Side side, Segment& s, std::uint16_t vlan) const;
  void parse_v6(rte_mbuf* m, Side side, Segment& s, std::uint16_t vlan) const;
  void take_tcp6(Segment& s, Side side, const std::uint8_t* frame, unsigned here, unsigned at,
                 std::uint16_t vlan) const;
  void take_fragment(Segment& s, Side side, bool is_v6, std::uint16_t vlan) const;
  void take_icmp(Segment& s, Side side, bool is_v6, unsigned at, unsigned have, std::uint16_t vlan) const;

  const ServerList& servers_;
};

}  // namespace splitplane::guard
