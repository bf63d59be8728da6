// What of a client's SYN a cookie keeps, as far as the server has it, too.
#pragma once

#include "guard/cookie/cookie_jar.h"
#include "guard/rules/servers.h"
#include "guard/segment/segment.h"
#include "wire/tcp_options.h"

namespace splitplane::guard {

// What a client without the option can receive (RFC 9293 3.7.1).
inline constexpr std::uint16_t kAbsentMss4 = 536, kAbsentMss6 = 1220;
inline constexpr std::uint8_t kAskForEcn = wire::tcp::kEce | wire::tcp::kCwr;  // of a SYN (RFC 3168 6.1.1)

// Fills s.kept and s.client_ts. False: the SYN's options cannot be read.
[[nodiscard]] inline bool plan_syn_cookie(Segment& s, const ProtectedServer& server) {
  const auto syn = wire::tcp::parse_syn_options(s.header_octets(), s.tcp);
  if (!syn) return false;
  CookieOptions& kept = s.kept;
  // Without timestamps nothing keeps the other options, so client and server do without them, too.
  const bool has_timestamps = syn->has_timestamps && server.has_timestamps;
  kept.mss = syn->mss != 0 ? syn->mss : s.tuple.is_v6 != 0 ? kAbsentMss6 : kAbsentMss4;
  kept.has_timestamps = has_timestamps;
  kept.window_scale.reset();
  if (has_timestamps && server.has_scale) kept.window_scale = syn->window_scale;
  kept.told_scale = kept.window_scale ? server.told_scale() : std::uint8_t{0};
  kept.sack_permitted = has_timestamps && server.has_sack && syn->sack_permitted;
  kept.ecn = has_timestamps && server.has_ecn && (s.tcp.flags & kAskForEcn) == kAskForEcn;
  s.client_ts = syn->ts_value;
  return true;
}

}  // namespace splitplane::guard
