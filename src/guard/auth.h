// Mode `auth` (RST cookie). An unknown client's SYN is answered by a SYN-ACK whose acknowledgment number is a cookie
// instead of the client's number plus one. A TCP of a real client answers with a RST whose sequence number is that
// cookie (RFC 9293 3.5.2), and sends its SYN again. The RST proves the source; no connection has any state here.
//
//   client               guard                server
//   SYN            --->
//                  <---  SYN-ACK, ack = cookie            challenged_rst
//   RST seq=cookie --->                                   proved_rst
//   SYN again      --->  ------------------>  SYN         passed_proven
#pragma once

#include "guard/guard_context.h"
#include "guard/learning.h"
#include "guard/verdict.h"

namespace splitplane::guard {

// What a client sends never prolongs a proof, because any machine can send in its name. What servers send to it does.
class Auth {
 public:
  Auth(WorkerGuard& guard, Learning& learning) : guard_(guard), learning_(learning) {}

  // A segment to a server whose guard acts. A SYN that is answered becomes its answer in its frame.
  [[nodiscard]] Verdict from_client(Segment& s);

 private:
  [[nodiscard]] Verdict take_syn(Segment& s);
  [[nodiscard]] Verdict take_rst(const Segment& s);
  // A segment of a connection that may be older than the guard's acting.
  [[nodiscard]] Verdict take_other(const Segment& s);

  WorkerGuard& guard_;
  Learning& learning_;
};

}  // namespace splitplane::guard
