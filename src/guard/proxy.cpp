#include "guard/proxy.h"

#include <algorithm>

#include "guard/segment/checks.h"
#include "guard/segment/icmp.h"
#include "guard/segment/reply.h"
#include "guard/segment/rewrite.h"
#include "guard/segment/translate.h"
#include "guard/syn_plan.h"

namespace splitplane::guard {

namespace tcp = wire::tcp;

namespace {

// A receiver has at most 2^30 octets of window (RFC 7323 2.3), so no good sequence number is further ahead.
constexpr std::uint32_t kMaxWindowBytes = 1U << 30;

// Our TSval is up to a second behind the clock, and a restarted guard's clock differs by less than this.
constexpr std::uint32_t kClockSkewMs = 10'000;

bool has(const Flow& flow, std::uint8_t flag) {
  return (flow.flags & flag) != 0;
}
void set(Flow& flow, std::uint8_t flag, bool on = true) {
  flow.flags = static_cast<std::uint8_t>(on ? flow.flags | flag : flow.flags & ~flag);
}

bool has_both_fins(const Flow& flow) {
  return has(flow, Flow::kClientFin) && has(flow, Flow::kServerFin);
}
// A FIN of one side more.
void take_fin(Flow& flow, std::uint8_t of) {
  set(flow, of);
  if (has_both_fins(flow) && flow.state == FlowState::kEstablished) flow.state = FlowState::kClosing;
}

// What a cookie is made of: the connection, and a bit that no VLAN has, for the kind.
FourTuple cookie_tuple(const Segment& s, std::uint8_t kind) {
  FourTuple tuple = s.tuple;
  tuple.vlan = static_cast<std::uint16_t>(tuple.vlan | kind << 15);
  return tuple;
}
std::uint8_t other_kind(const Flow& flow) {
  return flow.cookie_kind == 0 ? 1 : 0;
}

struct OptionOctets {
  std::array<std::uint8_t, tcp::kMaxSynOptionBytes> octets;
  std::size_t bytes = 0;

  explicit OptionOctets(const tcp::SynOptions& options) : bytes(tcp::write_syn_options(octets, options)) {}
  [[nodiscard]] wire::Octets span() const { return {octets.data(), bytes}; }
};

}  // namespace

Proxy::Proxy(WorkerGuard& guard, const GuardClock& clock)
    : guard_(guard), learning_(guard), again_(clock.ticks_per_ms()) {
  guard.flows.on_gone(
      [](void* with, const Flow& flow) {
        static_cast<WorkerGuard*>(with)->sources.give_flow(SourceTable::key_of(tuple_of(flow)));
      },
      &guard);
}

bool Proxy::has_good_checksums(const Segment& s) const {
  return passes_checksums(s, guard_.settings.checksums);
}

void Proxy::let_go(Flow& flow) {
  if (flow.state == FlowState::kConnecting) again_.forget(handle_of(flow), tuple_of(flow));
  guard_.flows.remove(&flow);
}

Verdict Proxy::from_client(Segment& s, Flow* flow, Outbox&) {
  // A SYN gets a cookie whatever the flow of its tuple is. A client that knows of the connection answers the SYN-ACK
  // with an ACK that is right for it (RFC 9293 3.10.7.4), so an old or a forged SYN does no harm. A client that has
  // begun anew, or uses its port again, returns the cookie, and that alone ends the older flow.
  if ((s.tcp.flags & Learning::kKindOfSegment) == tcp::kSyn) return challenge(s, flow);
  if (flow == nullptr) return from_unknown(s);
  return flow->state == FlowState::kConnecting ? from_held_client(s, *flow) : from_connected_client(s, *flow);
}

Verdict Proxy::from_server(Segment& s, Flow& flow, Outbox& out) {
  return flow.state == FlowState::kConnecting ? from_asked_server(s, flow, out) : from_connected_server(s, flow);
}

Verdict Proxy::icmp_error(const Segment& s, Side from, const Flow& flow) {
  // Our SYN to the server has the client's own number, so an error about it needs no translation.
  if (flow.state == FlowState::kConnecting) return Verdict::forward(Outcome::passed);
  translate_quoted(s, from, flow);
  return Verdict::forward(Outcome::translated);
}

Verdict Proxy::challenge(Segment& s, Flow* flow) {
  if (!is_unicast(s)) return Verdict::drop(Outcome::not_unicast);
  learning_.count_syn(s);
  if (!has_good_checksums(s)) return Verdict::drop(Outcome::bad_checksum);
  // The stage before made most cookies. It does not know of flows, which have one of their own.
  const ProtectedServer& server = guard_.server(s);
  if (!s.has_cookie && !plan_syn_cookie(s, server)) return Verdict::drop(Outcome::bad_options);
  if (!guard_.replies.take(guard_.time.milliseconds)) return Verdict::drop(Outcome::reply_capped);

  const bool is_v6 = s.tuple.is_v6 != 0;
  const CookieOptions& kept = s.kept;
  const auto clock = static_cast<std::uint32_t>(guard_.time.milliseconds);
  CookieJar::SynCookie cookie;
  if (s.has_cookie && flow == nullptr) {
    cookie = {s.cookie, CookieJar::syn_ts_value(kept, clock)};
  } else {
    cookie = guard_.jar.syn_cookie(flow == nullptr ? s.tuple : cookie_tuple(s, other_kind(*flow)), s.tcp.sequence, kept,
                                   clock);
  }

  tcp::SynOptions told;
  told.mss = server.mss != 0 ? server.mss : is_v6 ? kDefaultMss6 : kDefaultMss4;
  told.has_timestamps = kept.has_timestamps;
  told.ts_value = cookie.ts_value;
  told.ts_echo = s.client_ts;
  told.sack_permitted = kept.sack_permitted;
  if (kept.window_scale) told.window_scale = kept.told_scale;
  Reply reply{.sequence = cookie.sequence, .acknowledgment = s.tcp.sequence + 1};
  if (kept.ecn) reply.flags |= tcp::kEce;
  const OptionOctets options(told);
  reply.options = options.span();
  if (!turn_round(s, reply)) {
    // A SYN without an MSS of its own is too short for ours: the client takes the smallest one.
    told.mss = 0;
    const OptionOctets fewer(told);
    reply.options = fewer.span();
    if (!turn_round(s, reply)) return Verdict::drop(Outcome::no_buffer);
  }
  if (flow != nullptr) set(*flow, Flow::kChallenged);
  guard_.line(s).challenged.add(1);
  return Verdict::reply(Outcome::challenged_syn);
}

Verdict Proxy::from_unknown(Segment& s) {
  const auto is_proven = [&] { return guard_.sources.find(s.source, guard_.time.seconds) != Proof::kNone; };
  switch (s.tcp.flags & Learning::kKindOfSegment) {
    case tcp::kAck:
    case tcp::kAck | tcp::kFin:
      if (const auto proven = open_cookie(s, 0)) return connect(s, *proven, nullptr);
      if (is_proven()) {
        // Its tuple may have had a flow when the SYN came.
        if (const auto proven = open_cookie(s, 1)) return connect(s, *proven, nullptr);
        // A connection that is older than the guard's acting.
        return Verdict::forward(Outcome::passed_proven);
      }
      return guard_.server(s).unproven.take(guard_.time.milliseconds) ? Verdict::forward(Outcome::passed_unproven)
                                                                      : Verdict::drop(Outcome::forged_ack);
    case tcp::kRst:
    case tcp::kRst | tcp::kAck:
      return is_proven() ? Verdict::forward(Outcome::passed_proven) : Verdict::drop(Outcome::forged_rst);
    case tcp::kSyn | tcp::kAck:  // as in Auth::from_client()
      return is_proven() ? Verdict::forward(Outcome::passed_proven) : Verdict::drop(Outcome::bad_flags);
    default:
      return Verdict::drop(Outcome::bad_flags);
  }
}

// The client's first ACK; or, when that is lost, a probe of the closed window: with the octet that follows, or with
// none and the number before it (RFC 9293 3.8.6.1 asks for one octet, Linux sends none). A client that had data on its
// SYN sends it again with the ACK, whatever the window is (RFC 7413 4.1.3).
std::optional<Proxy::Proven> Proxy::open_cookie(const Segment& s, std::uint8_t kind) const {
  const auto places = tcp::find_options(s.header_octets(), s.tcp);
  if (!places) return std::nullopt;
  Proven proven{.kind = kind};
  std::optional<std::uint32_t> echo;
  if (places->timestamps != 0) {
    const std::uint8_t* const at = s.tcp_header() + places->timestamps;
    proven.client_ts = wire::load_be32(at);
    proven.our_ts = wire::load_be32(at + 4);
    echo = proven.our_ts;
    // No key lives longer than twice its time. Most segments of other connections are told apart by that alone.
    const std::uint32_t age_ms = static_cast<std::uint32_t>(guard_.time.milliseconds) - proven.our_ts + kClockSkewMs;
    if (age_ms > 2 * 1000 * guard_.settings.key_seconds + 2 * kClockSkewMs) return std::nullopt;
  }
  proven.our_isn = s.tcp.acknowledgment - 1;
  const FourTuple tuple = cookie_tuple(s, kind);
  const auto is_cookie_of = [&](std::uint32_t isn) {
    const auto options = guard_.jar.open(tuple, isn, proven.our_isn, echo);
    if (!options) return false;
    proven.options = *options;
    proven.client_isn = isn;
    return true;
  };
  if (is_cookie_of(s.tcp.sequence - 1)) return proven;
  if (s.payload_bytes() == 0 && is_cookie_of(s.tcp.sequence)) return proven;
  return std::nullopt;
}

Verdict Proxy::connect(Segment& s, const Proven& proven, Flow* earlier) {
  if (!has_good_checksums(s)) return Verdict::drop(Outcome::bad_checksum);
  if (!guard_.prove(s, Proof::kCookie)) return Verdict::drop(Outcome::sources_full);
  guard_.line(s).proved.add(1);
  if (earlier != nullptr) let_go(*earlier);
  if (!guard_.sources.take_flow(s.source, guard_.time.seconds)) return Verdict::drop(Outcome::source_capped);
  Flow* const made = guard_.flows.insert(s.tuple, s.flow_hash, guard_.time.seconds);
  if (made == nullptr) {
    guard_.sources.give_flow(s.source);
    return Verdict::drop(Outcome::flows_full);
  }
  Flow& flow = *made;
  const CookieOptions& options = proven.options;
  flow.cookie_kind = proven.kind & 1;
  flow.mss_index = cookie_mss_index(options.mss) & 7;
  set(flow, Flow::kHasTimestamps, options.has_timestamps);
  set(flow, Flow::kSackPermitted, options.sack_permitted);
  set(flow, Flow::kEcn, options.ecn);
  set(flow, Flow::kHasScale, options.window_scale.has_value());
  if (options.window_scale) {
    flow.client_scale = *options.window_scale & 0xF;
    flow.told_scale = options.told_scale & 0xF;
  }
  flow.sequence_delta = proven.our_isn;
  flow.ts_delta = proven.our_ts;
  flow.client_next = proven.client_isn + 1;
  const std::uint16_t window = s.tcp.window;
  hold(flow, SynAgain::kNone, window);
  if (!make_syn(s, flow, proven.client_ts)) {
    guard_.flows.remove(&flow);
    return Verdict::drop(Outcome::no_buffer);
  }
  hold(flow, again_.keep(s.tuple, {s.frame(), s.mbuf->data_len}, s.mbuf->pool, guard_.time.ticks), window);
  guard_.line(s).connected.add(1);
  return Verdict::forward(Outcome::connected);
}

bool Proxy::make_syn(Segment& s, const Flow& flow, std::uint32_t client_ts) const {
  tcp::SynOptions asked;
  asked.mss = kCookieMss[flow.mss_index];
  asked.has_timestamps = has(flow, Flow::kHasTimestamps);
  asked.ts_value = client_ts;
  asked.sack_permitted = has(flow, Flow::kSackPermitted);
  if (has(flow, Flow::kHasScale)) asked.window_scale = flow.client_scale;
  const OptionOctets options(asked);
  const auto flags = static_cast<std::uint8_t>(tcp::kSyn | (has(flow, Flow::kEcn) ? kAskForEcn : 0));
  return rewrite(s, {.sequence = flow.client_next - 1,
                     .flags = flags,
                     .window = rescaled_window(held_window(flow), flow.client_scale, 0),
                     .options = options.span()});
}

// The client is held, and the server has not answered.
Verdict Proxy::from_held_client(Segment& s, Flow& flow) {
  const std::uint8_t kind = s.tcp.flags & Learning::kKindOfSegment;
  if (kind == tcp::kRst || kind == (tcp::kRst | tcp::kAck)) {
    // The client gives up. In this state it can have sent nothing, so only one number is right (RFC 5961 3.2).
    if (s.tcp.sequence != flow.client_next) return Verdict::drop(Outcome::outside_window);
    if (!has_good_checksums(s)) return Verdict::drop(Outcome::bad_checksum);
    // Without ACK, because nothing of the server is known yet that could be acknowledged.
    if (!rewrite(s, {.sequence = flow.client_next, .flags = tcp::kRst})) return Verdict::drop(Outcome::no_buffer);
    let_go(flow);
    return Verdict::forward(Outcome::translated);
  }
  if (kind != tcp::kAck && kind != (tcp::kAck | tcp::kFin)) return Verdict::drop(Outcome::bad_flags);
  const std::uint32_t ahead = s.tcp.sequence - (flow.client_next - 1);
  if (s.tcp.acknowledgment - 1 != flow.sequence_delta || ahead > 1) {
    if (const auto proven = open_cookie(s, other_kind(flow))) return connect(s, *proven, &flow);
    return Verdict::drop(Outcome::forged_ack);
  }
  if (!has_good_checksums(s)) return Verdict::drop(Outcome::bad_checksum);
  // What it sends is cut: the window is closed, so it sends it again.
  const auto places = tcp::find_options(s.header_octets(), s.tcp);
  if (!places || (places->timestamps == 0 && has(flow, Flow::kHasTimestamps)))
    return Verdict::drop(Outcome::bad_options);
  const std::uint32_t client_ts = places->timestamps == 0 ? 0 : wire::load_be32(s.tcp_header() + places->timestamps);
  hold(flow, handle_of(flow), s.tcp.window);
  return make_syn(s, flow, client_ts) ? Verdict::forward(Outcome::reconnected) : Verdict::drop(Outcome::no_buffer);
}

Verdict Proxy::from_connected_client(Segment& s, Flow& flow) {
  const std::uint8_t flags = s.tcp.flags;
  // No connection has segments with SYN and more, or without ACK and RST (RFC 9293 3.10.7.4).
  if ((flags & tcp::kSyn) != 0 || (flags & (tcp::kAck | tcp::kRst)) == 0) return Verdict::drop(Outcome::bad_flags);
  const std::size_t payload = s.payload_bytes();
  if (has(flow, Flow::kChallenged) && (flags & tcp::kRst) == 0) [[unlikely]] {
    if (const auto proven = open_cookie(s, other_kind(flow))) return connect(s, *proven, &flow);
    // A client that sends data and no cookie has not begun anew: its window would be closed.
    if (payload > 1) set(flow, Flow::kChallenged, false);
  }
  const std::uint32_t begin = s.tcp.sequence;
  const std::uint32_t end = begin + static_cast<std::uint32_t>(payload) + ((flags & tcp::kFin) != 0 ? 1 : 0);
  if ((flags & tcp::kRst) != 0) [[unlikely]] {
    if (begin - flow.client_next > kMaxWindowBytes) return Verdict::drop(Outcome::outside_window);
    if (!translate_to_server(s.tcp_header(), s.tcp, flow)) return Verdict::drop(Outcome::bad_options);
    // The server takes a RST at the next octet that it expects (RFC 5961 3.2). That is what it acknowledged last, or
    // the end of what the client has sent. A forged segment may have moved that end, so a RST there only brings the end
    // of the flow nearer. Another one may be forged: the server challenges it, and nothing ends here.
    if (begin == flow.client_next) {
      flow.seen = guard_.time.seconds;
      flow.state = FlowState::kClosed;
    } else if (begin == flow.client_sent && flow.state == FlowState::kEstablished) {
      flow.seen = guard_.time.seconds;
      flow.state = FlowState::kClosing;
    }
    return Verdict::forward(Outcome::translated);
  }
  if (!translate_to_server(s.tcp_header(), s.tcp, flow)) return Verdict::drop(Outcome::bad_options);
  if (end - flow.client_next <= kMaxWindowBytes) {
    // The client goes on, so the RST before was not its own.
    if (flow.state == FlowState::kClosing && !has_both_fins(flow)) [[unlikely]]
      flow.state = FlowState::kEstablished;
    if (tcp::is_before(flow.client_sent, end)) flow.client_sent = end;
    if ((flags & tcp::kFin) != 0) take_fin(flow, Flow::kClientFin);
  }
  if (flow.seen != guard_.time.seconds && flow.state != FlowState::kClosed) {
    flow.seen = guard_.time.seconds;
    (void)guard_.sources.touch(s.source, guard_.time.seconds);  // a proof does not end while its connection lives
  }
  return Verdict::forward(Outcome::translated);
}

// The server has our SYN.
Verdict Proxy::from_asked_server(Segment& s, Flow& flow, Outbox& out) {
  const std::uint8_t flags = s.tcp.flags;
  const bool is_for_us = (flags & tcp::kAck) != 0 && s.tcp.acknowledgment == flow.client_next;
  if ((flags & tcp::kRst) != 0) {
    if (!is_for_us) return Verdict::drop(Outcome::outside_window);
    if (!has_good_checksums(s)) return Verdict::drop(Outcome::bad_checksum);
    // The client has its connection already: it is reset where it expects the next octet.
    const Reply reset{
        .sequence = flow.sequence_delta + 1, .acknowledgment = flow.client_next, .flags = tcp::kRst | tcp::kAck};
    if (!rewrite(s, reset)) return Verdict::drop(Outcome::no_buffer);
    let_go(flow);
    return Verdict::forward(Outcome::refused_by_server);
  }
  if ((flags & tcp::kAck) == 0) return Verdict::forward(Outcome::passed_server);
  if ((flags & tcp::kSyn) != 0 && is_for_us) return handshake(s, flow, out);
  // The server still has an older connection of this tuple, and challenges our SYN. A client in SYN-SENT ends it by a
  // RST (RFC 9293 3.10.7.3), after which the SYN is sent again.
  if (!has_good_checksums(s)) return Verdict::drop(Outcome::bad_checksum);
  if (!turn_round(s, {.sequence = s.tcp.acknowledgment, .flags = tcp::kRst})) return Verdict::drop(Outcome::no_buffer);
  return Verdict::reply(Outcome::older_reset);
}

Verdict Proxy::handshake(Segment& s, Flow& flow, Outbox& out) {
  if (!has_good_checksums(s)) return Verdict::drop(Outcome::bad_checksum);
  const auto options = tcp::parse_syn_options(s.header_octets(), s.tcp);
  if (!options) return Verdict::drop(Outcome::bad_options);
  learn(s, flow, *options);
  again_.forget(handle_of(flow), s.tuple);

  const std::uint16_t client_window = held_window(flow);
  if (!options->has_timestamps) set(flow, Flow::kHasTimestamps, false);
  if (has(flow, Flow::kHasScale)) {
    flow.server_scale = options->window_scale.value_or(0);
    // Scaling needs both ends (RFC 7323 2.2). The client has been told of it already.
    set(flow, Flow::kServerUnscaled, !options->window_scale);
  }
  flow.sequence_delta -= s.tcp.sequence;
  flow.ts_delta -= options->ts_value;
  flow.client_sent = flow.client_next;
  flow.seen = guard_.time.seconds;
  flow.state = FlowState::kEstablished;

  tell_window(s, flow, *options, out);
  tcp::SynOptions stamps;
  stamps.has_timestamps = has(flow, Flow::kHasTimestamps);
  stamps.ts_value = options->ts_echo;
  stamps.ts_echo = options->ts_value;
  const OptionOctets stamped(stamps);
  const std::uint16_t window =
      has(flow, Flow::kServerUnscaled) ? rescaled_window(client_window, flow.client_scale, 0) : client_window;
  if (!turn_round(s, {.sequence = flow.client_next,
                      .acknowledgment = s.tcp.sequence + 1,
                      .flags = tcp::kAck,
                      .window = window,
                      .options = stamped.span()})) {
    return Verdict::drop(Outcome::no_buffer);
  }
  return Verdict::reply(Outcome::handshake);
}

// Opens the client's window. If that is lost, the client probes its closed window, and the server itself answers.
void Proxy::tell_window(const Segment& s, const Flow& flow, const tcp::SynOptions& options, Outbox& out) {
  rte_mbuf* const m = rte_pktmbuf_alloc(s.mbuf->pool);
  if (m == nullptr) [[unlikely]] {
    guard_.stats.made_no_buffer.add(1);
    return;
  }
  const auto header_bytes = static_cast<std::uint16_t>(
      s.ip_offset + (s.tuple.is_v6 != 0 ? wire::ipv6::kHeaderBytes : wire::ipv4::kMinHeaderBytes));
  Segment update = s;
  update.mbuf = m;
  tcp::SynOptions stamps;
  stamps.has_timestamps = has(flow, Flow::kHasTimestamps);
  stamps.ts_value = options.ts_value + flow.ts_delta;
  stamps.ts_echo = options.ts_echo;
  const OptionOctets stamped(stamps);
  const char* const room = rte_pktmbuf_append(m, header_bytes);
  if (room != nullptr) std::memcpy(update.frame(), s.frame(), header_bytes);
  if (room == nullptr ||
      !rewrite(update, {.sequence = s.tcp.sequence + 1 + flow.sequence_delta,
                        .acknowledgment = flow.client_next,
                        .flags = tcp::kAck,
                        .window = rescaled_window(s.tcp.window, 0, flow.told_scale),
                        .options = stamped.span()}) ||
      !out.make(m, Side::kClient, Made::window_update)) {
    guard_.stats.made_no_buffer.add(1);
    rte_pktmbuf_free(m);
  }
}

// An option that was asked for and is absent is one that the server does not have.
void Proxy::learn(const Segment& s, const Flow& flow, const tcp::SynOptions& options) {
  learning_.from_server(s);
  ProtectedServer& server = guard_.server(s);
  if (has(flow, Flow::kHasTimestamps)) server.has_timestamps = options.has_timestamps;
  if (has(flow, Flow::kHasScale)) server.has_scale = options.window_scale.has_value();
  if (has(flow, Flow::kSackPermitted)) server.has_sack = options.sack_permitted;
  if (has(flow, Flow::kEcn)) server.has_ecn = (s.tcp.flags & kAskForEcn) == tcp::kEce;
}

Verdict Proxy::from_connected_server(Segment& s, Flow& flow) {
  const std::uint8_t flags = s.tcp.flags;
  if ((flags & (tcp::kSyn | tcp::kAck)) == tcp::kSyn && flow.state != FlowState::kEstablished) {
    // The server itself opens a connection between the same ports.
    guard_.flows.remove(&flow);
    learning_.from_server(s);
    return Verdict::forward(Outcome::passed_server);
  }
  // The server's SYN-ACK again, because our ACK was lost: the client answers it with an ACK that has its window.
  if (!translate_to_client(s.tcp_header(), s.tcp, flow)) return Verdict::drop(Outcome::bad_options);
  if ((flags & tcp::kAck) != 0 && tcp::is_before(flow.client_next, s.tcp.acknowledgment))
    flow.client_next = s.tcp.acknowledgment;
  if ((flags & tcp::kFin) != 0) take_fin(flow, Flow::kServerFin);
  if ((flags & tcp::kRst) != 0) [[unlikely]] {
    flow.seen = guard_.time.seconds;
    flow.state = FlowState::kClosed;
    set(flow, Flow::kClientFin);  // it sends no more, so nothing brings the flow back
    set(flow, Flow::kServerFin);
    return Verdict::forward(Outcome::translated);
  }
  if (flow.state == FlowState::kClosed && (flags & tcp::kAck) != 0 && !has_both_fins(flow)) [[unlikely]] {
    // It has not taken the RST that came in the client's name, or not yet. What the client says next decides.
    flow.state = FlowState::kClosing;
  }
  if (flow.seen != guard_.time.seconds && flow.state != FlowState::kClosed) {
    flow.seen = guard_.time.seconds;
    learning_.vouch(s, Proof::kVouched);
  }
  return Verdict::forward(Outcome::translated);
}

void Proxy::serve(Outbox& out) {
  const std::uint64_t now = guard_.time.ticks;
  for (SynAgain::Handle handle = again_.due(now); handle != SynAgain::kNone; handle = again_.due(now)) {
    const SynAgain::Syn& syn = again_.at(handle);
    Flow* const flow = guard_.flows.find(syn.tuple, guard_.flows.hash_of(syn.tuple), guard_.time.seconds);
    if (flow == nullptr || flow->state != FlowState::kConnecting || handle_of(*flow) != handle) {
      again_.forget(handle, syn.tuple);
      continue;
    }
    if (out.room(Side::kServer) == 0) return;
    rte_mbuf* const m = rte_pktmbuf_alloc(syn.pool);
    char* const at = m == nullptr ? nullptr : rte_pktmbuf_append(m, syn.frame_bytes);
    if (at == nullptr) {
      guard_.stats.made_no_buffer.add(1);
      rte_pktmbuf_free(m);
    } else {
      std::memcpy(at, syn.frame.data(), syn.frame_bytes);
      if (!out.make(m, Side::kServer, Made::syn_again)) rte_pktmbuf_free(m);
    }
    again_.again(handle, now);
  }
}

}  // namespace splitplane::guard
