// Reads the headers of a received frame: is it TCP of a protected server, and of which one? Bounds are strict: nothing
// behind the first segment of an mbuf is read, and link padding belongs to no packet.
//
//   Ethernet, 0 to 2 VLAN tags | IPv4 with options, or IPv6 with extension headers | TCP, or an ICMP error about TCP
//
// IPv4 without options and IPv6 without extension headers are read here; the rest in slow_parse().
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstring>

#include "engine/burst.h"
#include "guard/rules/servers.h"
#include "guard/segment/segment.h"
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
    fill_tuple4(s.tuple, ip + (side == Side::kClient ? 12 : 16), server, ports_of(s, side), vlan);
    s.tcp_offset = static_cast<std::uint16_t>(at);
  }

  // False: no sound header; `s` says why. `have` is at least 20. The first 16 octets become s.tcp in one store: a load
  // of what several small stores have just written would wait for all of them.
  static bool take_header(Segment& s, const std::uint8_t* tcp, unsigned have) {
    static_assert(sizeof(wire::tcp::Header) == 16 && offsetof(wire::tcp::Header, header_bytes) == 12);
    const unsigned header_bytes = (tcp[wire::tcp::kDataOffsetAt] >> 4) * 4U;
    if (header_bytes < wire::tcp::kMinHeaderBytes || header_bytes > have) [[unlikely]] {
      s.kind = Kind::kUnsound;
      s.reason = wire::tcp::parse({tcp, have}).reason;
      return false;
    }
    const __m128i order = _mm_set_epi8(14, 15, 13, 12, 8, 9, 10, 11, 4, 5, 6, 7, 2, 3, 0, 1);
    const __m128i octets = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tcp));
    const __m128i fields = _mm_insert_epi8(_mm_shuffle_epi8(octets, order), static_cast<char>(header_bytes), 12);
    std::memcpy(reinterpret_cast<std::uint8_t*>(&s.tcp), &fields, sizeof fields);
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
  // The ports of s.tcp, of the one or the other end.
  [[nodiscard]] static std::uint64_t ports_of(const Segment& s, Side side) {
    const std::uint64_t source = s.tcp.source_port, destination = s.tcp.destination_port;
    return side == Side::kClient ? source | destination << 16 : destination | source << 16;
  }
  // As in take_header(), each part in one store. `ports`: ports_of(), or 0.
  static void fill_rest(FourTuple& tuple, std::uint64_t ports, std::uint16_t vlan, std::uint64_t is_v6) {
    static_assert(offsetof(FourTuple, client_port) == 32 && offsetof(FourTuple, server_port) == 34 &&
                  offsetof(FourTuple, vlan) == 36 && offsetof(FourTuple, is_v6) == 38);
    const __m128i rest = _mm_cvtsi64_si128(static_cast<long long>(ports | std::uint64_t{vlan} << 32 | is_v6 << 48));
    std::memcpy(reinterpret_cast<std::uint8_t*>(&tuple) + 32, &rest, sizeof rest);
  }
  static void fill_tuple4(FourTuple& tuple, const std::uint8_t* client, const std::uint8_t* server, std::uint64_t ports,
                          std::uint16_t vlan) {
    const __m128i of_client = _mm_loadu_si32(client), of_server = _mm_loadu_si32(server);
    std::memcpy(tuple.client.data(), &of_client, 16);
    std::memcpy(tuple.server.data(), &of_server, 16);
    fill_rest(tuple, ports, vlan, 0);
  }
  static void fill_tuple6(FourTuple& tuple, const std::uint8_t* client, const std::uint8_t* server, std::uint64_t ports,
                          std::uint16_t vlan) {
    std::memcpy(tuple.client.data(), client, 16);
    std::memcpy(tuple.server.data(), server, 16);
    fill_rest(tuple, ports, vlan, 1);
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
