// A received packet as far as the guard looks: a TCP segment, an ICMP error about one, or something that only passes.
#pragma once

#include <rte_mbuf.h>

#include "guard/cookie/four_tuple.h"
#include "guard/outcome.h"
#include "wire/tcp.h"

namespace splitplane::guard {

enum class Kind : std::uint8_t {
  kOther,      // passes: no IP, no TCP, or to nobody that is protected
  kTcp,
  kFragment,   // TCP, more than an atomic fragment: ports may be absent
  kIcmpError,  // an ICMP or ICMPv6 error that quotes a TCP segment
};

// Where the packet comes from.
enum class Side : std::uint8_t { kClient, kServer };

struct Segment {
  rte_mbuf* mbuf = nullptr;
  Kind kind = Kind::kOther;
  wire::Reason reason = wire::Reason::ok;  // why it is kOther, where the packet is no sound one
  std::uint16_t server = 0;                // index of the protected server, if kind is not kOther
  std::uint16_t ip_offset = 0;             // from the frame's begin
  std::uint16_t tcp_offset = 0;            // of a quoted segment with kIcmpError
  std::uint16_t ip_end = 0;                // end of the IP packet, from the frame's begin; behind it is link padding
  FourTuple tuple;                         // client and server as such, whichever side it comes from
  wire::tcp::Header tcp;
};

}  // namespace splitplane::guard
