// A received packet as far as the guard looks: a TCP segment, an ICMP error about one, or something that only passes.
#pragma once

#include <rte_mbuf.h>

#include "guard/cookie/cookie_jar.h"
#include "guard/cookie/four_tuple.h"
#include "guard/segment/outcome.h"
#include "wire/tcp.h"

namespace splitplane::guard {

enum class Kind : std::uint8_t {
  kOther,  // passes: no IP, no TCP, or to no protected server
  kTcp,
  kFragment,   // TCP, more than an atomic fragment: ports may be absent
  kIcmpError,  // an ICMP or ICMPv6 error that quotes a TCP segment
  kUnsound,    // to a protected server, but its TCP header cannot be read: `reason` says why
};

// Where the packet comes from.
enum class Side : std::uint8_t { kClient, kServer };

struct Segment {
  rte_mbuf* mbuf = nullptr;
  bool is_segmented = false;  // the mbuf has several segments: its headers lie in the first, the rest is not to be read
  std::uint8_t vlan_tags = 0;
  Kind kind = Kind::kOther;
  wire::Reason reason = wire::Reason::ok;  // of kUnsound
  std::uint16_t server = 0;                // index of the protected server, if kind is not kOther
  // All offsets from the frame's begin.
  std::uint16_t ip_offset = 0;
  std::uint16_t tcp_offset = 0;     // with kIcmpError: of the quoted TCP header
  std::uint32_t ip_end = 0;         // end of the IP packet; behind it is link padding
  std::uint16_t icmp_offset = 0;    // kIcmpError only
  std::uint16_t quoted_offset = 0;  // kIcmpError only: of the quoted IP header
  FourTuple tuple;                  // client and server as such, whichever side it comes from
  // With kIcmpError only ports and sequence number are surely quoted: quoted_bytes says how many octets of the TCP
  // header are there (8 or more).
  wire::tcp::Header tcp;
  std::uint16_t quoted_bytes = 0;
  std::uint64_t source = 0;     // SourceTable::Key of the client
  std::uint64_t flow_hash = 0;  // FlowTable::Hash of the tuple
  bool has_flow_hash = false;   // the table may have a flow of it
  // Of cookie_stage.h. A RST cookie under the newest key, or the one that a RST names; or a SYN cookie, of `kept`.
  bool has_cookie = false;
  std::uint32_t cookie = 0;
  CookieOptions kept;           // what the cookie keeps of a SYN
  std::uint32_t client_ts = 0;  // the SYN's TSval

  [[nodiscard]] std::uint8_t* frame() const { return rte_pktmbuf_mtod(mbuf, std::uint8_t*); }
  [[nodiscard]] std::uint8_t* ip() const { return frame() + ip_offset; }
  [[nodiscard]] std::uint8_t* tcp_header() const { return frame() + tcp_offset; }
  // The TCP header with its options.
  [[nodiscard]] wire::Octets header_octets() const { return {tcp_header(), tcp.header_bytes}; }
  // TCP header, options and payload, without link padding; only of an mbuf of one segment.
  [[nodiscard]] wire::MutableOctets tcp_octets() const {
    return {tcp_header(), static_cast<std::size_t>(ip_end - tcp_offset)};
  }
  [[nodiscard]] std::size_t payload_bytes() const {
    return static_cast<std::size_t>(ip_end - tcp_offset) - tcp.header_bytes;
  }
};

}  // namespace splitplane::guard
