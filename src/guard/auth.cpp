#include "guard/auth.h"

#include "guard/segment/checks.h"
#include "guard/segment/reply.h"

namespace splitplane::guard {

namespace tcp = wire::tcp;

Verdict Auth::from_client(Segment& s) {
  switch (s.tcp.flags & Learning::kKindOfSegment) {
    case tcp::kSyn:
      return take_syn(s);
    case tcp::kRst:
      return take_rst(s);
    case tcp::kSyn | tcp::kAck: {
      // A server that opens a connection to a client has vouched for it.
      const Proof proof = guard_.sources.find(s.source, guard_.time.seconds);
      return proof == Proof::kNone ? Verdict::drop(Outcome::bad_flags) : Verdict::forward(Outcome::passed_proven);
    }
    case tcp::kRst | tcp::kAck: {
      const Proof proof = guard_.sources.find(s.source, guard_.time.seconds);
      return proof == Proof::kNone ? Verdict::drop(Outcome::forged_rst) : Verdict::forward(Outcome::passed_proven);
    }
    case tcp::kAck:
    case tcp::kAck | tcp::kFin:
      return take_other(s);
    default:  // SYN with FIN or RST, RST with FIN, or none of them and no ACK
      return Verdict::drop(Outcome::bad_flags);
  }
}

Verdict Auth::take_syn(Segment& s) {
  if (!is_unicast(s)) return Verdict::drop(Outcome::not_unicast);
  switch (learning_.count_syn(s)) {
    case Learning::Whose::kProven:
      return Verdict::forward(Outcome::passed_proven);
    case Learning::Whose::kAboveLimit:
      return Verdict::drop(Outcome::source_capped);
    case Learning::Whose::kUnknown:
      break;
  }
  if (s.is_segmented) return Verdict::drop(Outcome::mbuf_segmented);
  if (!passes_checksums(s, guard_.settings.checksums)) return Verdict::drop(Outcome::bad_checksum);
  if (!guard_.replies.take(guard_.time.milliseconds)) return Verdict::drop(Outcome::reply_capped);
  ServerLine& line = guard_.line(s);
  if (!turn_round(s, {.acknowledgment = s.has_cookie ? s.cookie : guard_.jar.rst_cookie(s.tuple)}))
    return Verdict::drop(Outcome::no_buffer);
  line.challenged.add(1);
  return Verdict::reply(Outcome::challenged_rst);
}

// The cookie is looked at first: a known source, too, answers a challenge of the time before it was known.
Verdict Auth::take_rst(const Segment& s) {
  if (s.has_cookie ? CookieJar::are_same_rst_cookies(s.cookie, s.tcp.sequence)
                   : guard_.jar.is_rst_cookie(s.tuple, s.tcp.sequence)) {
    if (s.is_segmented) return Verdict::drop(Outcome::mbuf_segmented);
    if (!passes_checksums(s, guard_.settings.checksums)) return Verdict::drop(Outcome::bad_checksum);
    if (!guard_.prove(s, Proof::kCookie)) return Verdict::drop(Outcome::sources_full);
    guard_.line(s).proved.add(1);
    return Verdict::consume(Outcome::proved_rst);
  }
  const Proof proof = guard_.sources.find(s.source, guard_.time.seconds);
  return proof == Proof::kNone ? Verdict::drop(Outcome::forged_rst) : Verdict::forward(Outcome::passed_proven);
}

Verdict Auth::take_other(const Segment& s) {
  if (guard_.sources.find(s.source, guard_.time.seconds) != Proof::kNone)
    return Verdict::forward(Outcome::passed_proven);
  return guard_.server(s).unproven.take(guard_.time.milliseconds) ? Verdict::forward(Outcome::passed_unproven)
                                                                  : Verdict::drop(Outcome::unproven);
}

}  // namespace splitplane::guard
