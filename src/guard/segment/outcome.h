// The outcome of every packet that the guard received: the parsers' reasons, then its own. One list makes the enum, the
// texts and the counters; so received = the sum of the outcomes, in each direction.
#pragma once

#include "base/outcome_list.h"
#include "wire/reason.h"

namespace splitplane::guard {

// clang-format off
#define SPLITPLANE_GUARD_OUTCOMES(X)                                                         \
  SPLITPLANE_WIRE_REASONS(X)                                                                 \
  X(passed, "passed: neither from nor to a protected server, or not TCP")                    \
  X(passed_unarmed, "passed: the server's guard does not act now")                           \
  X(passed_proven, "passed: of a source that has proven itself")                             \
  X(passed_unproven, "passed: a segment that is no SYN of an unknown source, within the limit") \
  X(passed_server, "passed: from a protected server")                                        \
  X(translated, "passed with numbers translated: of a proxied connection")                   \
  X(challenged_rst, "answered by a SYN-ACK whose acknowledgment number is a cookie")         \
  X(challenged_syn, "answered by a SYN-ACK whose sequence number is a cookie")               \
  X(proved_rst, "consumed: a RST that returned a cookie")                                    \
  X(connected, "an ACK that returned a cookie: went on as a SYN to the server")              \
  X(reconnected, "a segment of a connection whose server has not answered: went on as a SYN again") \
  X(handshake, "the server's SYN-ACK of a proxied connection: answered, and told the client") \
  X(refused_by_server, "the server's RST to our SYN: told the client")                       \
  X(older_reset, "a server's segment of an older connection, while ours begins: answered by a RST") \
  X(half_open_reset, "a server's SYN-ACK to a source that has not proven itself: answered by a RST")  \
  X(mbuf_segmented, "dropped: frame in more than one segment")                               \
  X(fragment, "dropped: fragment of a packet to a server whose guard acts, of an unknown source") \
  X(bad_checksum, "dropped: SYN or proof with a wrong checksum")                             \
  X(bad_flags, "dropped: SYN with FIN or RST, SYN-ACK to a server, or no flag at all")        \
  X(bad_options, "dropped: SYN, or segment of a proxied connection, with options that cannot be read")                            \
  X(not_unicast, "dropped: SYN from or to an address that is not of one host, or from the server's own") \
  X(forged_rst, "dropped: RST of an unknown source without a good cookie")                   \
  X(forged_ack, "dropped: ACK of an unknown connection without a good cookie")               \
  X(unproven, "dropped: a segment that is no SYN of an unknown source, above the limit")     \
  X(source_capped, "dropped: more SYNs, or connections, of a proven source than its limit")  \
  X(reply_capped, "dropped: SYN above the limit of replies")                                 \
  X(sources_full, "dropped: proof of a source for which the allow-list has no room")         \
  X(flows_full, "dropped: proof of a connection for which the flow table has no room")       \
  X(outside_window, "dropped: RST of a proxied connection that its receiver would not take") \
  X(no_buffer, "dropped: no buffer or no room for the segments that follow from it")         \
  X(tx_full, "dropped: transmit queue stayed full")
// clang-format on

SPLITPLANE_OUTCOMES(Outcome, SPLITPLANE_GUARD_OUTCOMES)

[[nodiscard]] constexpr Outcome outcome_of(wire::Reason reason) {
  return static_cast<Outcome>(reason);
}

}  // namespace splitplane::guard
