// The numbers of a proxied connection's segments on their way through the guard. The client speaks with a server whose
// ISN, clock and window scale are the guard's; the server has its own. Client and server agree about the client's
// numbers, because our SYN to the server has the client's ISN.
//
//                       to the server                          to the client
//   sequence number     as it is                               + sequence_delta
//   acknowledgment      - sequence_delta                       as it is
//   SACK blocks         - sequence_delta (RFC 2018, D-SACKs)   as they are
//   TSval               as it is                               + ts_delta
//   TSecr               - ts_delta (RFC 7323 3.2)              as it is
//   window              as it is, or unscaled                  from the server's scale to the one that the client knows
//
// The checksum changes by what changed, so a segment that arrived damaged stays damaged. Nothing behind the header is
// read: payload, urgent pointer (it is relative) and the rest of a packet in several buffers may be anything.
#pragma once

#include <algorithm>
#include <cstdint>

#include "guard/state/flow_table.h"
#include "wire/tcp.h"

namespace splitplane::guard {

// A window field in units of 2^to octets, from one in units of 2^from, with `from` and `to` up to 14. It is cut to
// 65535. A window that is open stays open: it is at least one unit, though the receiver has less.
[[nodiscard]] constexpr std::uint16_t rescaled_window(std::uint16_t window, unsigned from, unsigned to) {
  if (window == 0) return 0;
  const std::uint32_t octets = static_cast<std::uint32_t>(window) << from;
  return static_cast<std::uint16_t>(std::clamp<std::uint32_t>(octets >> to, 1, 0xFFFF));
}

// `tcp` is a header with its options, h.header_bytes octets; `h` is what it says. `flow` has been established. False:
// an option cannot be read, and nothing has changed.
[[nodiscard]] bool translate_to_server(std::uint8_t* tcp, const wire::tcp::Header& h, const Flow& flow);
[[nodiscard]] bool translate_to_client(std::uint8_t* tcp, const wire::tcp::Header& h, const Flow& flow);

}  // namespace splitplane::guard
