#include "guard/segment/segment_parser.h"

#include <algorithm>

namespace splitplane::guard {

namespace {

namespace ipv4 = wire::ipv4;
namespace ipv6 = wire::ipv6;

// RFC 792 and RFC 4443 2.1: messages that quote the packet that they are about.
bool is_icmp_error(bool is_v6, std::uint8_t type) {
  if (is_v6) return type >= 1 && type <= 4;  // unreachable, too big, time exceeded, parameter problem
  return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

constexpr unsigned kIcmpHeaderBytes = 8;
constexpr unsigned kQuotedTcpBytes = 8;  // RFC 792: ports and sequence number

// An IPv6 header and its extension headers, as far as they lie in `have` octets at `ip`.
struct Walk {
  std::uint8_t protocol = 0;
  unsigned at = 0;  // where the upper layer begins, from the fixed header
  bool is_fragment = false, is_first = true;
  wire::Reason reason = wire::Reason::ok;
};

Walk walk(const std::uint8_t* ip, unsigned have) {
  Walk w{.protocol = ip[6], .at = ipv6::kHeaderBytes};
  for (unsigned n = 0; ipv6::is_walked(w.protocol); ++n) {
    if (n == ipv6::kMaxExtensions) {
      w.reason = wire::Reason::ipv6_extension_chain_too_long;
      return w;
    }
    if (have < w.at + 8) {
      w.reason = wire::Reason::ipv6_truncated;
      return w;
    }
    const std::uint8_t* const p = ip + w.at;
    const bool is_fragment_header = w.protocol == ipv6::kFragment;
    const unsigned octets = is_fragment_header ? 8 : (p[1] + 1U) * 8;
    if (have < w.at + octets) {
      w.reason = wire::Reason::ipv6_truncated;
      return w;
    }
    w.protocol = p[0];
    w.at += octets;
    if (!is_fragment_header) continue;
    const std::uint16_t offset_and_flag = wire::load_be16(p + 2);
    w.is_fragment = w.is_fragment || (offset_and_flag & 0xFFF9) != 0;
    if ((offset_and_flag & 0xFFF8) != 0) {
      w.is_first = false;
      return w;  // the rest is the middle of a packet
    }
  }
  return w;
}

}  // namespace

void SegmentParser::slow_parse(rte_mbuf* m, Side side, Segment& s) const {
  const auto ethernet = wire::ethernet::parse({datapath::octets(m), m->data_len});
  if (!ethernet) return;
  s.vlan_tags = ethernet->tag_count;
  s.ip_offset = ethernet->header_bytes;
  if (ethernet->ether_type == wire::ethernet::kTypeIpv4) parse_v4(m, side, s, ethernet->vlan_id());
  if (ethernet->ether_type == wire::ethernet::kTypeIpv6) parse_v6(m, side, s, ethernet->vlan_id());
}

void SegmentParser::parse_v4(rte_mbuf* m, Side side, Segment& s, std::uint16_t vlan) const {
  const std::uint8_t* const frame = datapath::octets(m);
  const unsigned here = m->data_len;
  if (here < s.ip_offset + ipv4::kMinHeaderBytes) return;
  const std::uint8_t* const ip = frame + s.ip_offset;
  const unsigned header_bytes = (ip[0] & 0x0FU) * 4, total = wire::load_be16(ip + 2);
  // No host takes such a packet, so nothing is gained by holding it up.
  if ((ip[0] >> 4) != 4 || header_bytes < ipv4::kMinHeaderBytes || total < header_bytes ||
      total > m->pkt_len - s.ip_offset || here < s.ip_offset + header_bytes) {
    return;
  }
  s.ip_end = s.ip_offset + total;
  const unsigned at = s.ip_offset + header_bytes;
  const std::uint8_t protocol = ip[9];
  if (protocol == ipv4::kProtocolTcp) {
    if ((wire::load_be16(ip + 6) & 0x3FFF) != 0) return take_fragment(s, side, false, vlan);
    return take_tcp4(s, side, frame, here, at, vlan);
  }
  if (protocol == ipv4::kProtocolIcmp && (wire::load_be16(ip + 6) & 0x3FFF) == 0)
    take_icmp(s, side, false, at, std::min<unsigned>(here, s.ip_end), vlan);
}

void SegmentParser::parse_v6(rte_mbuf* m, Side side, Segment& s, std::uint16_t vlan) const {
  const std::uint8_t* const frame = datapath::octets(m);
  const unsigned here = m->data_len;
  if (here < s.ip_offset + ipv6::kHeaderBytes) return;
  const std::uint8_t* const ip = frame + s.ip_offset;
  const unsigned payload = wire::load_be16(ip + 4);
  if ((ip[0] >> 4) != 6 || payload > m->pkt_len - s.ip_offset - ipv6::kHeaderBytes) return;
  s.ip_end = s.ip_offset + static_cast<unsigned>(ipv6::kHeaderBytes) + payload;
  const unsigned have = std::min<unsigned>(here, s.ip_end);
  const Walk w = walk(ip, have - s.ip_offset);
  // Some hosts walk more headers than we do, so a SYN may be behind them.
  if (w.reason != wire::Reason::ok) return take_unsound(s, true, ip + (side == Side::kClient ? 24 : 8), w.reason);
  if (w.is_fragment) {
    // Of a later fragment only the first protocol of the fragmented part is known.
    if (w.protocol == ipv6::kProtocolTcp || (!w.is_first && ipv6::is_walked(w.protocol)))
      take_fragment(s, side, true, vlan);
    return;
  }
  const unsigned at = s.ip_offset + w.at;
  if (w.protocol == ipv6::kProtocolTcp) return take_tcp6(s, side, frame, here, at, vlan);
  if (w.protocol == ipv6::kProtocolIcmpv6) take_icmp(s, side, true, at, have, vlan);
}

void SegmentParser::take_tcp6(Segment& s, Side side, const std::uint8_t* frame, unsigned here, unsigned at,
                              std::uint16_t vlan) const {
  const std::uint8_t* const ip = frame + s.ip_offset;
  const std::uint8_t* const server = ip + (side == Side::kClient ? 24 : 8);
  const unsigned have = std::min<unsigned>(here, s.ip_end);
  if (have < at + wire::tcp::kMinHeaderBytes) return take_unsound(s, true, server, wire::Reason::tcp_truncated);
  const std::uint8_t* const tcp = frame + at;
  const std::uint16_t server_port = wire::load_be16(tcp + (side == Side::kClient ? 2 : 0));
  const std::uint16_t index = servers_.match(true, server, server_port);
  if (index == ServerList::kNone) return;
  s.server = index;
  if (!take_header(s, tcp, have - at)) return;
  fill_tuple6(s.tuple, ip + (side == Side::kClient ? 8 : 24), server, ports_of(s, side), vlan);
  s.tcp_offset = static_cast<std::uint16_t>(at);
}

// Of a fragment the addresses are enough: whether its source has proven itself decides.
void SegmentParser::take_fragment(Segment& s, Side side, bool is_v6, std::uint16_t vlan) const {
  const std::uint8_t* const ip = datapath::octets(s.mbuf) + s.ip_offset;
  const std::uint8_t* const from = ip + (is_v6 ? 8 : 12);
  const std::uint8_t* const to = ip + (is_v6 ? 24 : 16);
  const std::uint8_t* const client = side == Side::kClient ? from : to;
  const std::uint8_t* const server = side == Side::kClient ? to : from;
  const std::uint16_t index = servers_.match_address(is_v6, server);
  if (index == ServerList::kNone) return;
  s.server = index;
  s.kind = Kind::kFragment;
  is_v6 ? fill_tuple6(s.tuple, client, server, 0, vlan) : fill_tuple4(s.tuple, client, server, 0, vlan);
}

// An error from the client side quotes what the server sent, one from the server side what the client sent.
void SegmentParser::take_icmp(Segment& s, Side side, bool is_v6, unsigned at, unsigned have, std::uint16_t vlan) const {
  const std::uint8_t* const frame = datapath::octets(s.mbuf);
  if (have < at + kIcmpHeaderBytes || !is_icmp_error(is_v6, frame[at])) return;
  const unsigned quoted = at + kIcmpHeaderBytes;
  const std::uint8_t* const ip = frame + quoted;
  unsigned tcp_at = 0;
  if (is_v6) {
    if (have < quoted + ipv6::kHeaderBytes || (ip[0] >> 4) != 6) return;
    const Walk w = walk(ip, have - quoted);
    if (w.reason != wire::Reason::ok || !w.is_first || w.protocol != ipv6::kProtocolTcp) return;
    tcp_at = quoted + w.at;
  } else {
    if (have < quoted + ipv4::kMinHeaderBytes || (ip[0] >> 4) != 4) return;
    const unsigned header_bytes = (ip[0] & 0x0FU) * 4;
    if (header_bytes < ipv4::kMinHeaderBytes || ip[9] != ipv4::kProtocolTcp) return;
    if ((wire::load_be16(ip + 6) & 0x1FFF) != 0) return;  // a later fragment has no ports
    tcp_at = quoted + header_bytes;
  }
  if (have < tcp_at + kQuotedTcpBytes) return;
  const std::uint8_t* const tcp = frame + tcp_at;
  const std::uint8_t* const from = ip + (is_v6 ? 8 : 12);
  const std::uint8_t* const to = ip + (is_v6 ? 24 : 16);
  const bool of_server = side == Side::kClient;  // who sent the quoted segment
  const std::uint16_t index = servers_.match(is_v6, of_server ? from : to, wire::load_be16(tcp + (of_server ? 0 : 2)));
  if (index == ServerList::kNone) return;
  s.server = index;
  s.kind = Kind::kIcmpError;
  s.icmp_offset = static_cast<std::uint16_t>(at);
  s.quoted_offset = static_cast<std::uint16_t>(quoted);
  s.tcp_offset = static_cast<std::uint16_t>(tcp_at);
  s.quoted_bytes = static_cast<std::uint16_t>(std::min<unsigned>(have - tcp_at, wire::tcp::kMaxHeaderBytes));
  s.tcp = {};
  s.tcp.source_port = wire::load_be16(tcp);
  s.tcp.destination_port = wire::load_be16(tcp + 2);
  s.tcp.sequence = wire::load_be32(tcp + 4);
  const std::uint64_t ports = ports_of(s, of_server ? Side::kServer : Side::kClient);
  is_v6 ? fill_tuple6(s.tuple, of_server ? to : from, of_server ? from : to, ports, vlan)
        : fill_tuple4(s.tuple, of_server ? to : from, of_server ? from : to, ports, vlan);
}

}  // namespace splitplane::guard
