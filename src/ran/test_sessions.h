// For tests only: a session with three bearers, which refuse() accepts.
#pragma once

#include "ran/session_config.h"

namespace splitplane::ran::test {

// DRB 1 is the default and has the session's identity, `first`. DRB 2 carries flows 1 and 63, DRB 5 flow 2 alone. Their
// identities are the next ones, and the spare one is after them.
inline SessionConfig make_session_config(std::uint32_t first) {
  SessionConfig session;
  for (std::uint32_t i = 0; i < 3; ++i) {
    SessionBearer bearer;
    bearer.config.id = BearerId{first + i};
    bearer.config.uplink_teid = Teid{0xdeadbeef};
    bearer.config.upf = IpAddress::v4({10, 100, 0, 2});
    session.bearers.push_back(bearer);
  }
  session.bearers[0].drb = sdap::DrbId{1};
  session.bearers[1].drb = sdap::DrbId{2};
  session.bearers[1].flows = {Qfi{1}, Qfi{63}};
  session.bearers[2].drb = sdap::DrbId{5};
  session.bearers[2].flows = {Qfi{2}};
  session.default_drb = sdap::DrbId{1};
  session.spare = BearerId{first + 3};
  return session;
}

}  // namespace splitplane::ran::test
