// ICMP and ICMPv6 errors about a proxied connection: the numbers that they quote become those of the host that sent the
// quoted segment. So path MTU discovery works, and the host's own check of the quoted number (RFC 5927 4.1) does, too.
//
//   from the client side: quotes a segment of the server     sequence number - sequence_delta
//   from the server side: quotes a segment of the client     acknowledgment  + sequence_delta
//
// Quoted options and windows stay as they are, because hosts do not look at them.
#pragma once

#include "guard/segment/segment.h"
#include "guard/state/flow_table.h"

namespace splitplane::guard {

// `s` is an ICMP error that came from side `from` and lies in one mbuf; `flow` has been established. The checksum of
// the message changes by what changed, and so does that of the quoted segment, where it is quoted.
void translate_quoted(const Segment& s, Side from, const Flow& flow);

}  // namespace splitplane::guard
