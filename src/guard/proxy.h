// Mode `proxy` (SYN cookie). The guard answers a SYN in the server's name, without any state: its sequence number is a
// cookie. Only the ACK that returns the cookie makes a flow and reaches the server, as a SYN with the client's own ISN.
// From the server's SYN-ACK on, numbers are translated (translate.h).
//
//   client                    guard                             server
//   SYN seq=c          --->
//                      <---   SYN-ACK seq=cookie win=0                       challenged_syn
//   ACK ack=cookie+1   --->   kConnecting   -----------------> SYN seq=c     connected
//   segments, if any   --->                 -----------------> SYN again     reconnected; by time: syn_again
//                             kEstablished  <----------------- SYN-ACK seq=s handshake
//                      <---   window          ACK -----------> ack=s+1
//   data               <--->  seq + (cookie - s), ack - (cookie - s)         translated
//
//   SYN-ACK of the server ----> kEstablished --- FINs of both ---> kClosing --- closing_seconds --->
//   kConnecting <---------------'     '----------- RST ----------> kClosed ---- closed_seconds ---->
//        ^      an ACK with a cookie for the same tuple, from any state
//
// The client is held by a window of 0 until the server has answered, so nothing that it sends is lost here.
//
// A SYN for the tuple of a flow gets a cookie of the other kind than the flow was made by. Otherwise a client's ACK
// that repeats its first one would look like the beginning of a new connection, after an old SYN that was late.
#pragma once

#include <optional>

#include "guard/guard_context.h"
#include "guard/learning.h"
#include "guard/segment/segment.h"
#include "guard/syn_again.h"
#include "guard/verdict.h"
#include "wire/tcp_options.h"

namespace splitplane::guard {

class Proxy {
 public:
  // What a server is taken to announce before its first SYN-ACK was seen.
  static constexpr std::uint16_t kDefaultMss4 = 1460, kDefaultMss6 = 1440;

  Proxy(WorkerGuard& guard, const GuardClock& clock);

  // A segment to a server that acts in mode proxy, or of a flow in the table. `flow` is nullptr if it has none. Packets
  // of the guard's own go to `out`.
  [[nodiscard]] Verdict from_client(Segment& s, Flow* flow, Outbox& out);
  // A segment of a flow.
  [[nodiscard]] Verdict from_server(Segment& s, Flow& flow, Outbox& out);
  // An ICMP error that quotes a segment of a flow.
  [[nodiscard]] Verdict icmp_error(const Segment& s, Side from, const Flow& flow);

  // Sends SYNs again whose time has come, as far as `out` has room.
  void serve(Outbox& out);
  // When serve() has something to do, in ticks.
  [[nodiscard]] std::uint64_t next_work(std::uint64_t /*ticks*/) const { return again_.next(); }

 private:
  // What a client's segment says that returned a cookie.
  struct Proven {
    CookieOptions options;
    std::uint8_t kind = 0;
    std::uint32_t client_isn = 0, our_isn = 0;
    std::uint32_t client_ts = 0, our_ts = 0;
  };

  // A flow's client_sent while it is connecting: the client's window as on the wire, and its place in again_.
  [[nodiscard]] static std::uint16_t held_window(const Flow& flow) {
    return static_cast<std::uint16_t>(flow.client_sent);
  }
  [[nodiscard]] static SynAgain::Handle handle_of(const Flow& flow) {
    return static_cast<SynAgain::Handle>(flow.client_sent >> 16);
  }
  static void hold(Flow& flow, SynAgain::Handle handle, std::uint16_t window) {
    flow.client_sent = (std::uint32_t{handle} << 16) | window;
  }

  [[nodiscard]] Verdict challenge(Segment& s, Flow* flow);
  [[nodiscard]] Verdict from_unknown(Segment& s);
  [[nodiscard]] std::optional<Proven> open_cookie(const Segment& s, std::uint8_t kind) const;
  [[nodiscard]] Verdict connect(Segment& s, const Proven& proven, Flow* earlier);
  [[nodiscard]] Verdict from_held_client(Segment& s, Flow& flow);
  [[nodiscard]] Verdict from_connected_client(Segment& s, Flow& flow);
  [[nodiscard]] Verdict from_asked_server(Segment& s, Flow& flow, Outbox& out);
  [[nodiscard]] Verdict from_connected_server(Segment& s, Flow& flow);
  [[nodiscard]] Verdict handshake(Segment& s, Flow& flow, Outbox& out);
  // The client's segment becomes the SYN to the server.
  [[nodiscard]] bool make_syn(Segment& s, const Flow& flow, std::uint32_t client_ts) const;
  void tell_window(const Segment& s, const Flow& flow, const wire::tcp::SynOptions& options, Outbox& out);
  void learn(const Segment& s, const Flow& flow, const wire::tcp::SynOptions& options);
  [[nodiscard]] bool has_good_checksums(const Segment& s) const;
  void let_go(Flow& flow);

  WorkerGuard& guard_;
  Learning learning_;
  SynAgain again_;
};

}  // namespace splitplane::guard
