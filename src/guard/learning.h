// What the guard learns from traffic that passes: which sources have connections, and what servers announce. It runs
// for every mode but bypass, so that known clients notice nothing when a guard begins to act.
//
// A source proves itself when a protected server sends it payload: a server does that only for a connection that
// exists. An ACK alone says nothing, since a server sends one to a forged segment that is out of the window of a
// connection that is only half open (RFC 9293 3.10.7.4). A server that opens a connection vouches for its peer as well,
// for a short time.
#pragma once

#include "guard/guard_context.h"
#include "guard/segment/segment.h"
#include "wire/tcp_options.h"

namespace splitplane::guard {

class Learning {
 public:
  explicit Learning(WorkerGuard& guard) : guard_(guard) {}

  // A segment to a server whose guard does not act.
  void from_client(const Segment& s) {
    if ((s.tcp.flags & kKindOfSegment) == wire::tcp::kSyn) count_syn(s);
  }

  // Whose SYN it is.
  enum class Whose : std::uint8_t { kUnknown, kProven, kAboveLimit };
  // A SYN of a client: counts it and says whether its source has proven itself, and has one left in this second.
  //
  // What a proven source sends above its limit counts for the rate by which a guard arms and rests, and not for the
  // share of half-open connections. So a flood of known sources arms it and keeps it armed, and one busy client that
  // opens its connections does not.
  Whose count_syn(const Segment& s) {
    const Proof proof = guard_.sources.find(s.source, guard_.time.seconds);
    ServerLine& line = guard_.line(s);
    line.syns.add(1);
    if (proof == Proof::kNone) {
      line.unknown_syns.add(1);
      ++guard_.server(s).unknown_syns;
      return Whose::kUnknown;
    }
    if (guard_.sources.take_syn(s.source, guard_.time.seconds)) return Whose::kProven;
    ++guard_.server(s).capped_syns;
    return Whose::kAboveLimit;
  }

  // A segment of a server.
  void from_server(const Segment& s) {
    switch (s.tcp.flags & kKindOfSegment) {
      case wire::tcp::kAck:
      case wire::tcp::kAck | wire::tcp::kFin:
        if (s.payload_bytes() != 0) vouch(s, Proof::kVouched);
        break;
      case wire::tcp::kSyn:
        vouch(s, Proof::kCookie);
        break;
      case wire::tcp::kSyn | wire::tcp::kAck:
        learn_options(s);
        break;
      default:
        break;
    }
  }

  static constexpr std::uint8_t kKindOfSegment = wire::tcp::kSyn | wire::tcp::kAck | wire::tcp::kRst | wire::tcp::kFin;

  // A fragment to a server whose guard does not act, or a packet whose TCP header is out of reach: the server may put a
  // SYN of them together. `has_source`: s.source is known.
  void count_hidden(const Segment& s, bool has_source) {
    if (has_source && guard_.sources.find(s.source, guard_.time.seconds) != Proof::kNone) return;
    ++guard_.server(s).unknown_syns;
  }
  // The source of a connection that exists.
  void vouch(const Segment& s, Proof proof) {
    const Proof known = guard_.sources.touch(s.source, guard_.time.seconds);
    if (known < proof) (void)guard_.prove(s, proof);
  }

 private:
  void learn_options(const Segment& s) {
    ProtectedServer& server = guard_.server(s);
    const auto options = wire::tcp::parse_syn_options(s.header_octets(), s.tcp);
    if (!options) return;
    // Absent options say nothing: a client that does not offer them is not answered with them.
    if (server.learns_mss && options->mss != 0) server.mss = options->mss;
    if (server.learns_scale && options->window_scale) server.scale = *options->window_scale;
    server.has_timestamps |= options->has_timestamps;
    server.has_scale |= options->window_scale.has_value();
    server.has_sack |= options->sack_permitted;
    server.has_ecn |= (s.tcp.flags & (wire::tcp::kEce | wire::tcp::kCwr)) == wire::tcp::kEce;
  }

  WorkerGuard& guard_;
};

}  // namespace splitplane::guard
