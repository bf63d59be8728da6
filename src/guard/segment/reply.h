// A SYN becomes its SYN-ACK where it lies: ends swapped, VLAN tags kept, IP options, extension headers, TCP options and
// payload cut. The reply is never longer than the frame that came, and only a SYN gets one.
#pragma once

#include "engine/l2fwd.h"
#include "guard/segment/segment.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/tcp.h"

namespace splitplane::guard {

struct Reply {
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint8_t flags = wire::tcp::kSyn | wire::tcp::kAck;
  std::uint16_t window = 0;
  wire::Octets options;  // a multiple of 4 octets, at most 40
};

inline constexpr std::uint8_t kReplyTtl = 64;

// Verifies IPv4 header and TCP checksum of a segment in one mbuf.
[[nodiscard]] inline bool checksums_are_good(const Segment& s) {
  const std::uint8_t* const ip = s.ip();
  if (s.tuple.is_v6 != 0) return wire::tcp::checksum_is_good({ip + 8, 16}, {ip + 24, 16}, s.tcp_octets());
  const std::size_t header_bytes = (ip[0] & 0x0FU) * 4U;
  if (wire::checksum_finish(wire::checksum_add(0, {ip, header_bytes})) != 0) return false;
  return wire::tcp::checksum_is_good({ip + 12, 4}, {ip + 16, 4}, s.tcp_octets());
}

// Turns the segment round, in its frame; `s` is not what it was then. False, and nothing has changed: the reply would
// be longer than what came. The frame lies in one mbuf.
[[nodiscard]] inline bool turn_round(Segment& s, const Reply& reply) {
  namespace ethernet = wire::ethernet;
  const unsigned tcp_bytes = static_cast<unsigned>(wire::tcp::kMinHeaderBytes + reply.options.size());
  const unsigned ip_bytes =
      static_cast<unsigned>(s.tuple.is_v6 != 0 ? wire::ipv6::kHeaderBytes : wire::ipv4::kMinHeaderBytes);
  const unsigned frame_bytes = s.ip_offset + ip_bytes + tcp_bytes;
  rte_mbuf* const m = s.mbuf;
  if (frame_bytes > m->data_len) [[unlikely]]
    return false;

  std::uint8_t* const frame = s.frame();
  std::uint8_t* const ip = s.ip();
  std::uint8_t* const tcp = ip + ip_bytes;
  datapath::swap_mac(frame);
  std::uint64_t sum = wire::tcp::kProtocol + std::uint64_t{tcp_bytes};  // of pseudo header and segment
  if (s.tuple.is_v6 == 0) [[likely]] {
    const std::uint32_t from = wire::load_be32(ip + 12), to = wire::load_be32(ip + 16);
    const unsigned total = ip_bytes + tcp_bytes;
    const std::uint32_t traffic_class = ip[1] & 0xFCU;  // no ECN on a SYN-ACK (RFC 3168 6.1.1)
    sum += std::uint64_t{from} + to;
    // No identification, since the packet is atomic (RFC 6864 4.1).
    const std::uint64_t words = (0x4500U | traffic_class) + total + wire::ipv4::kDontFragment +
                                ((std::uint32_t{kReplyTtl} << 8) | wire::ipv4::kProtocolTcp) + std::uint64_t{from} + to;
    wire::store_be32(ip, ((0x4500U | traffic_class) << 16) | total);
    wire::store_be32(ip + 4, wire::ipv4::kDontFragment);
    wire::store_be32(
        ip + 8, (((std::uint32_t{kReplyTtl} << 8) | wire::ipv4::kProtocolTcp) << 16) | wire::checksum_finish(words));
    wire::store_be32(ip + 12, to);
    wire::store_be32(ip + 16, from);
  } else {
    std::array<std::uint8_t, 16> from;
    std::memcpy(from.data(), ip + 8, 16);
    sum = wire::checksum_add(sum, {ip + 8, 32});
    wire::store_be32(ip, wire::load_be32(ip) & 0xFFC00000U);  // DSCP stays, no ECN, flow label 0
    wire::store_be32(ip + 4, (tcp_bytes << 16) | (std::uint32_t{wire::tcp::kProtocol} << 8) | kReplyTtl);
    std::memcpy(ip + 8, ip + 24, 16);
    std::memcpy(ip + 24, from.data(), 16);
  }
  const std::uint32_t ports = (std::uint32_t{s.tcp.destination_port} << 16) | s.tcp.source_port;
  const std::uint32_t offset_flags_window = (tcp_bytes / 4 << 28) | (std::uint32_t{reply.flags} << 16) | reply.window;
  wire::store_be32(tcp, ports);
  wire::store_be32(tcp + 4, reply.sequence);
  wire::store_be32(tcp + 8, reply.acknowledgment);
  wire::store_be32(tcp + 12, offset_flags_window);
  sum += std::uint64_t{ports} + reply.sequence + reply.acknowledgment + offset_flags_window;
  for (std::size_t i = 0; i < reply.options.size(); i += 4) {
    const std::uint32_t word = wire::load_be32(reply.options.data() + i);
    wire::store_be32(tcp + wire::tcp::kMinHeaderBytes + i, word);
    sum += word;
  }
  wire::store_be32(tcp + 16, std::uint32_t{wire::checksum_finish(sum)} << 16);

  // A short frame keeps the padding that its link wants, with nothing of the client's in it.
  constexpr unsigned kShortestFrame = 60;  // without FCS (IEEE 802.3)
  const unsigned left = std::max(frame_bytes, std::min<unsigned>(m->data_len, kShortestFrame));
  if (left == frame_bytes + 6) [[likely]] {  // IPv4 without tags and options
    wire::store_be32(frame + frame_bytes, 0);
    wire::store_be16(frame + frame_bytes + 4, 0);
  } else if (left > frame_bytes) {
    std::memset(frame + frame_bytes, 0, left - frame_bytes);
  }
  m->data_len = static_cast<std::uint16_t>(left);
  m->pkt_len = left;
  m->ol_flags = 0;
  return true;
}

}  // namespace splitplane::guard
