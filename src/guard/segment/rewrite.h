// A segment becomes another one of the same direction where it lies: addresses, TTL, DSCP and VLAN tags stay; IP
// options, extension headers, TCP options and payload are cut; the new header may be longer than what came. reply.h
// turns round.
#pragma once

#include <algorithm>
#include <cstring>

#include "guard/segment/reply.h"
#include "guard/segment/segment.h"

namespace splitplane::guard {

// False, and nothing has changed: the mbuf has no room. `s` is not what it was, but for its tuple. The frame lies in
// one mbuf, and its checksums have been verified, because they are made anew.
[[nodiscard]] inline bool rewrite(Segment& s, const Reply& as) {
  const auto tcp_bytes = static_cast<unsigned>(wire::tcp::kMinHeaderBytes + as.options.size());
  const bool is_v6 = s.tuple.is_v6 != 0;
  const auto ip_bytes = static_cast<unsigned>(is_v6 ? wire::ipv6::kHeaderBytes : wire::ipv4::kMinHeaderBytes);
  const unsigned frame_bytes = s.ip_offset + ip_bytes + tcp_bytes;
  rte_mbuf* const m = s.mbuf;
  if (frame_bytes > m->data_len && frame_bytes - m->data_len > rte_pktmbuf_tailroom(m)) [[unlikely]]
    return false;

  std::uint8_t* const ip = s.ip();
  std::uint8_t* const tcp = ip + ip_bytes;
  std::uint64_t sum = 0;  // of the pseudo header
  if (!is_v6) {
    wire::store_be16(ip, 0x4500U | (ip[1] & 0xFCU));  // no ECN on a segment without data of its own (RFC 3168 6.1.4)
    wire::store_be16(ip + 2, ip_bytes + tcp_bytes);
    wire::store_be32(ip + 4, wire::ipv4::kDontFragment);  // atomic, so it needs no identification (RFC 6864 4.1)
    ip[9] = wire::ipv4::kProtocolTcp;
    wire::store_be16(ip + 10, 0);
    wire::store_be16(ip + 10, wire::checksum_finish(wire::checksum_add(0, {ip, ip_bytes})));
    sum = wire::pseudo_header_sum({ip + 12, 4}, {ip + 16, 4}, wire::tcp::kProtocol, tcp_bytes);
  } else {
    wire::store_be32(ip, wire::load_be32(ip) & 0xFFCFFFFFU);
    wire::store_be16(ip + 4, tcp_bytes);
    ip[6] = wire::ipv6::kProtocolTcp;
    sum = wire::pseudo_header_sum({ip + 8, 16}, {ip + 24, 16}, wire::tcp::kProtocol, tcp_bytes);
  }
  wire::store_be16(tcp, s.tcp.source_port);
  wire::store_be16(tcp + 2, s.tcp.destination_port);
  wire::store_be32(tcp + wire::tcp::kSequenceAt, as.sequence);
  wire::store_be32(tcp + wire::tcp::kAcknowledgmentAt, as.acknowledgment);
  wire::store_be32(tcp + wire::tcp::kDataOffsetAt, (tcp_bytes / 4 << 28) | (std::uint32_t{as.flags} << 16) | as.window);
  wire::store_be32(tcp + wire::tcp::kChecksumAt, 0);
  if (!as.options.empty()) std::memcpy(tcp + wire::tcp::kMinHeaderBytes, as.options.data(), as.options.size());
  wire::store_be16(tcp + wire::tcp::kChecksumAt, wire::checksum_finish(wire::checksum_add(sum, {tcp, tcp_bytes})));

  // As in turn_round(): padding stays, with nothing of the old segment in it.
  constexpr unsigned kShortestFrame = 60;
  const unsigned left = std::max(frame_bytes, std::min<unsigned>(m->data_len, kShortestFrame));
  if (left > frame_bytes) std::memset(s.frame() + frame_bytes, 0, left - frame_bytes);
  m->data_len = static_cast<std::uint16_t>(left);
  m->pkt_len = left;
  m->ol_flags = 0;
  return true;
}

}  // namespace splitplane::guard
