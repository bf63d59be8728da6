// What the control path says about one PDU session with several bearers: which QoS flows each bearer carries. A session
// with one bearer is that bearer, and needs none of this (docs/design/sessions.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ran/bearer_config.h"
#include "ran/sdap/drb.h"

namespace splitplane::ran {

// As many bearers as a session line has room for.
inline constexpr std::size_t kMaxSessionBearers = 8;

struct SessionBearer {
  sdap::DrbId drb;          // of this session, 1 to 32
  BearerConfig config;      // UPF, uplink TEID, and UE addresses are those of the session, the same at each bearer
  std::vector<Qfi> flows;   // downlink flows with a rule for this bearer (TS 37.324 5.2.1)
  bool reflective = false;  // RDI = 1 in each downlink PDU: the UE sends these flows on this bearer (5.3.2)

  friend bool operator==(const SessionBearer&, const SessionBearer&) = default;
};

struct SessionConfig {
  // The first bearer's identity is the session's: the TEID that the UPF sends to.
  std::vector<SessionBearer> bearers;
  sdap::DrbId default_drb{};  // of flows without a rule, and of G-PDUs without a PDU Session Container
  // An identity of the session's shard that no bearer has. The first bearer's downlink line stands at its place,
  // because the session line stands at the place of the TEID.
  BearerId spare{};

  [[nodiscard]] Teid teid() const { return Teid{bearers.empty() ? 0 : bearers.front().config.id.value}; }
  // The bearer with that identity; nullptr if the session has none.
  [[nodiscard]] const SessionBearer* find(BearerId id) const;
  // The bearer of a downlink flow, by rule or by default. There is one in a session that refuse() accepts.
  [[nodiscard]] const SessionBearer* bearer_of(Qfi qfi) const;

  friend bool operator==(const SessionConfig&, const SessionConfig&) = default;
};

// A session that a file or a request asks for. The gNB chooses the identities.
struct WantedSession {
  SessionConfig config;
  std::optional<unsigned> shard;  // absent: the gNB chooses
};

// Gives a flow of the session to that bearer; false: the session has no such DRB.
[[nodiscard]] bool set_flow(SessionConfig& config, Qfi qfi, sdap::DrbId drb);

// One sentence that says what is wrong and what is allowed; nothing if a session line can be made from it.
[[nodiscard]] std::optional<std::string> refuse(const SessionConfig& config);
// The same without the identities, which are not chosen yet. A session with one bearer is refused, because it needs no
// session line.
[[nodiscard]] std::optional<std::string> refuse_wanted(const SessionConfig& config);

}  // namespace splitplane::ran
