// The guard as a worker's function: a bump in the wire between two ports. Frames pass unchanged, unless they concern a
// protected server whose guard acts.
//
//   client side -> parse, hash and prefetch all -> cookies of all -> decide and edit -> server side
//                                                             |-> reply: back to the client side
//                                                             '-> drop
//   server side -> the same, the other way round; what a server sends vouches for its clients
//
// A burst goes through each step as a whole, so that the lines of the tables arrive meanwhile. There is no allocation,
// lock, system call or virtual call.
#pragma once

#include <rte_cycles.h>

#include <array>
#include <cstdint>
#include <utility>

#include "engine/burst.h"
#include "engine/endpoints.h"
#include "guard/auth.h"
#include "guard/cookie_stage.h"
#include "guard/guard_context.h"
#include "guard/learning.h"
#include "guard/proxy.h"
#include "guard/segment/checks.h"
#include "guard/segment/reply.h"
#include "guard/segment/segment_parser.h"
#include "guard/upkeep.h"

namespace splitplane::guard {

// Ticks of the TSC. Tests step a clock of their own.
struct TscTicks {
  [[nodiscard]] std::uint64_t operator()() const { return rte_rdtsc(); }
};

template <class Source, class Sink, class Ticks = TscTicks>
class GuardFunction {
 public:
  // One receive queue of a side.
  class Queue : public datapath::Lookahead<Source> {
   public:
    Queue(Source source, Side side) : datapath::Lookahead<Source>(source), side_(side) {}
    [[nodiscard]] Side side() const { return side_; }

   private:
    Side side_;
  };
  struct Ends {
    Source client_in, server_in;
    Sink client_out, server_out;
  };

  GuardFunction(WorkerGuard& guard, const GuardClock& clock, const Ends& ends, Ticks ticks = {})
      : queues_{Queue(ends.client_in, Side::kClient), Queue(ends.server_in, Side::kServer)},
        sinks_{ends.client_out, ends.server_out},
        ticks_(ticks),
        clock_(clock),
        guard_(guard),
        parser_(guard.servers),
        cookies_(guard.jar),
        learning_(guard),
        auth_(guard, learning_),
        proxy_(guard, clock),
        upkeep_(guard, clock.at(ticks())) {
    guard_.time = clock_.at(ticks_());
  }

  std::array<Queue, 2>& queues() { return queues_; }

  void process(Queue& queue, datapath::Burst& burst) {
    guard_.time = clock_.at(ticks_());
    const Side side = queue.side();
    look_at(burst, side);
    for (unsigned i = 0; i < burst.size; ++i) settle(segments_[i], side, decide(segments_[i], side));
    send(side);
  }

  // Work by time, once per round.
  void flush() {
    const std::uint64_t ticks = ticks_();
    if (ticks < next_look_) [[likely]]
      return;
    next_look_ = ticks + clock_.ticks_per_ms();
    guard_.time = clock_.at(ticks);
    if (upkeep_.is_due(guard_.time)) upkeep_.run(guard_.time);
    if (proxy_.next_work(ticks) <= ticks) {
      proxy_.serve(outbox_);
      send(Side::kClient);
    }
  }

  // In ticks; a time up to `now` means now.
  [[nodiscard]] std::uint64_t next_work(std::uint64_t now) const {
    std::uint64_t next = proxy_.next_work(now);
    if (const std::uint64_t ms = upkeep_.next_ms(); ms != Upkeep::kNever) {
      const std::uint64_t left = ms > guard_.time.milliseconds ? ms - guard_.time.milliseconds : 0;
      next = std::min(next, guard_.time.ticks + (left + 1) * clock_.ticks_per_ms());
    }
    return next;
  }

  // After a command has changed rules.
  void show_servers() { upkeep_.show_servers(); }

 private:
  using Burst = datapath::Burst;

  void look_at(const Burst& burst, Side side) {
    const bool has_flows = guard_.flows.used() != 0;
    // Headers of more than a cache line: what follows them in the queue is likely to have such ones, too.
    bool& are_long = has_long_headers_[static_cast<std::size_t>(side)];
    const bool prefetches_second = std::exchange(are_long, false);
    for (unsigned i = 0; i < burst.size; ++i) {
      burst.prefetch_mbuf_ahead(i);
      Segment& s = segments_[i];
      parser_.parse(burst.mbuf[i], side, s);
      burst.prefetch_octets_ahead(i);
      if (prefetches_second) burst.prefetch_octets_ahead(i, RTE_CACHE_LINE_SIZE);
      s.has_flow_hash = s.has_cookie = false;
      if (s.kind == Kind::kOther || s.kind == Kind::kUnsound) continue;
      const ProtectedServer& server = guard_.server(s);
      const bool acts_as_proxy = server.acts && server.mode == Mode::kProxy;
      s.has_flow_hash = s.kind != Kind::kFragment && (acts_as_proxy || has_flows);
      // Who has no flow and gets no cookie with options is judged by the fixed header.
      const unsigned reads = s.has_flow_hash ? s.tcp.header_bytes : std::uint8_t{wire::tcp::kMinHeaderBytes};
      are_long = are_long || s.tcp_offset + reads > RTE_CACHE_LINE_SIZE;
      if (server.acts && side == Side::kClient && s.kind == Kind::kTcp) ask_for_cookie(s, server);
      if (server.mode != Mode::kBypass) {
        s.source = SourceTable::key_of(s.tuple);
        guard_.sources.prefetch(s.source);
      }
      if (s.has_flow_hash) {
        s.flow_hash = guard_.flows.hash_of(s.tuple);
        guard_.flows.prefetch(s.flow_hash);
      }
    }
    cookies_.finish();
    if (!has_flows) return;
    for (unsigned i = 0; i < burst.size; ++i) {
      if (segments_[i].has_flow_hash) guard_.flows.prefetch_flow(segments_[i].flow_hash);
    }
  }

  void ask_for_cookie(Segment& s, const ProtectedServer& server) {
    const std::uint8_t kind = s.tcp.flags & Learning::kKindOfSegment;
    if (server.mode == Mode::kAuth && (kind == wire::tcp::kSyn || kind == wire::tcp::kRst)) cookies_.add_for_auth(s);
    if (server.mode == Mode::kProxy && kind == wire::tcp::kSyn) cookies_.add_for_proxy(s, server);
  }

  [[nodiscard]] Verdict decide(Segment& s, Side side) {
    if (s.kind == Kind::kOther) return Verdict::forward(Outcome::passed);
    return side == Side::kClient ? from_client(s) : from_server(s);
  }

  // Connections that were proxied go on, whatever mode their server has now.
  [[nodiscard]] Flow* flow_of(const Segment& s) {
    if (!s.has_flow_hash) return nullptr;
    return guard_.flows.find(s.tuple, s.flow_hash, guard_.time.seconds);
  }

  [[nodiscard]] Verdict from_client(Segment& s);
  [[nodiscard]] Verdict from_server(Segment& s);
  [[nodiscard]] bool is_for_nobody(const Segment& s) const;
  [[nodiscard]] Verdict reset_half_open(Segment& s);
  [[nodiscard]] Verdict about_connection(Segment& s, Side side);

  void settle(Segment& s, Side side, Verdict verdict) {
    switch (verdict.way) {
      case Way::kForward:
        outbox_.add(s.mbuf, other(side), verdict.outcome);
        return;
      case Way::kReply:
        outbox_.add(s.mbuf, side, verdict.outcome);
        return;
      case Way::kDrop:
        if (side == Side::kClient && s.kind != Kind::kOther) guard_.line(s).dropped.add(1);
        break;
      case Way::kConsume:
        break;
    }
    guard_.stats.add(side, verdict.outcome);
    freed_[freed_size_++] = s.mbuf;
  }

  void send(Side from);
  void send_list(Side from, Side to);

  std::array<Queue, 2> queues_;
  std::array<Sink, 2> sinks_;
  [[no_unique_address]] Ticks ticks_;
  GuardClock clock_;
  WorkerGuard& guard_;
  SegmentParser parser_;
  CookieStage cookies_;
  Learning learning_;
  Auth auth_;
  Proxy proxy_;
  Upkeep upkeep_;
  std::uint64_t next_look_ = 0;
  std::array<bool, 2> has_long_headers_{};  // of a side's last burst
  std::array<Segment, datapath::kBurst> segments_;
  Outbox outbox_;
  std::array<rte_mbuf*, datapath::kBurst> freed_;
  unsigned freed_size_ = 0;
};

template <class Source, class Sink, class Ticks>
Verdict GuardFunction<Source, Sink, Ticks>::from_client(Segment& s) {
  const ProtectedServer& server = guard_.server(s);
  switch (s.kind) {
    case Kind::kTcp:
      break;
    case Kind::kUnsound:
      if (server.acts) return Verdict::drop(outcome_of(s.reason));
      if (server.mode != Mode::kBypass) learning_.count_hidden(s, false);
      return Verdict::forward(Outcome::passed_unarmed);
    case Kind::kFragment:
      if (!server.acts) {
        if (server.mode != Mode::kBypass) learning_.count_hidden(s, true);
        return Verdict::forward(Outcome::passed_unarmed);
      }
      return guard_.sources.find(s.source, guard_.time.seconds) != Proof::kNone
                 ? Verdict::forward(Outcome::passed_proven)
                 : Verdict::drop(Outcome::fragment);
    default:
      return about_connection(s, Side::kClient);
  }
  if (Flow* const flow = flow_of(s); flow != nullptr) {
    return s.is_segmented ? Verdict::drop(Outcome::mbuf_segmented) : proxy_.from_client(s, flow, outbox_);
  }
  if (!server.acts) {
    if (server.mode != Mode::kBypass) learning_.from_client(s);
    return Verdict::forward(Outcome::passed_unarmed);
  }
  if (server.mode == Mode::kAuth) return auth_.from_client(s);
  return s.is_segmented ? Verdict::drop(Outcome::mbuf_segmented) : proxy_.from_client(s, nullptr, outbox_);
}

template <class Source, class Sink, class Ticks>
Verdict GuardFunction<Source, Sink, Ticks>::from_server(Segment& s) {
  if (s.kind == Kind::kIcmpError) return about_connection(s, Side::kServer);
  if (s.kind != Kind::kTcp) return Verdict::forward(Outcome::passed_server);
  if (Flow* const flow = flow_of(s); flow != nullptr) {
    return s.is_segmented ? Verdict::drop(Outcome::mbuf_segmented) : proxy_.from_server(s, *flow, outbox_);
  }
  const ProtectedServer& server = guard_.server(s);
  if (server.mode != Mode::kBypass) learning_.from_server(s);
  return server.acts && is_for_nobody(s) ? reset_half_open(s) : Verdict::forward(Outcome::passed_server);
}

// A server's SYN-ACK to a source that has not proven itself: to a SYN that passed before the guard acted. Such a
// connection fills the server's backlog for as long as the server sends its SYN-ACK again, a minute and longer.
template <class Source, class Sink, class Ticks>
bool GuardFunction<Source, Sink, Ticks>::is_for_nobody(const Segment& s) const {
  return (s.tcp.flags & Learning::kKindOfSegment) == (wire::tcp::kSyn | wire::tcp::kAck) &&
         guard_.sources.find(s.source, guard_.time.seconds) == Proof::kNone;
}

// A RST at the number that the server expects ends it (RFC 9293 3.10.7.4). A real client sends its SYN again.
template <class Source, class Sink, class Ticks>
Verdict GuardFunction<Source, Sink, Ticks>::reset_half_open(Segment& s) {
  if (s.is_segmented) return Verdict::drop(Outcome::mbuf_segmented);
  if (!passes_checksums(s, guard_.settings.checksums)) return Verdict::drop(Outcome::bad_checksum);
  const Reply reset{.sequence = s.tcp.acknowledgment, .flags = wire::tcp::kRst};
  return turn_round(s, reset) ? Verdict::reply(Outcome::half_open_reset) : Verdict::drop(Outcome::no_buffer);
}

// An ICMP error: if it is about a proxied connection, the numbers that it quotes are translated.
template <class Source, class Sink, class Ticks>
Verdict GuardFunction<Source, Sink, Ticks>::about_connection(Segment& s, Side side) {
  Flow* const flow = flow_of(s);
  if (flow == nullptr) return Verdict::forward(Outcome::passed);
  return s.is_segmented ? Verdict::drop(Outcome::mbuf_segmented) : proxy_.icmp_error(s, side, *flow);
}

template <class Source, class Sink, class Ticks>
void GuardFunction<Source, Sink, Ticks>::send(Side from) {
  send_list(from, Side::kClient);
  send_list(from, Side::kServer);
  if (freed_size_ != 0) rte_pktmbuf_free_bulk(freed_.data(), freed_size_);
  freed_size_ = 0;
}

template <class Source, class Sink, class Ticks>
void GuardFunction<Source, Sink, Ticks>::send_list(Side from, Side to) {
  Outbox::List& list = outbox_.list(to);
  if (list.size == 0) return;
  const unsigned sent = sinks_[static_cast<std::size_t>(to)].send(list.mbuf.data(), list.size);
  GuardStats& stats = guard_.stats;
  // Most packets of a burst have the same outcome, so each run of them is counted at once.
  for (unsigned i = 0, run = 0; i < sent; i += run) {
    const std::uint8_t tag = list.tag[i];
    for (run = 1; i + run < sent && list.tag[i + run] == tag; ++run) {
    }
    if ((tag & Outbox::kMadeTag) == 0) {
      stats.add(from, static_cast<Outcome>(tag), run);
    } else {
      stats.made[tag & ~Outbox::kMadeTag].add(run);
    }
  }
  for (unsigned i = sent; i < list.size; ++i) {
    if ((list.tag[i] & Outbox::kMadeTag) == 0) {
      stats.add(from, Outcome::tx_full);
    } else {
      stats.made_lost.add(1);
    }
  }
  if (sent < list.size) [[unlikely]]
    rte_pktmbuf_free_bulk(list.mbuf.data() + sent, list.size - sent);
  list.size = 0;
}

}  // namespace splitplane::guard
