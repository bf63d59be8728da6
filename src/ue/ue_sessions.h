// The sessions with several bearers of the UE side, by TEID, and the end markers that wait to be sent. The worker owns
// them, and changes them with its bearers.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "ue/ue_session.h"

namespace splitplane::ue {

class UeSessions {
 public:
  // `rule_lifetime`: of derived QoS rules, in ticks.
  explicit UeSessions(UeSession::Ticks rule_lifetime) : rule_lifetime_(rule_lifetime) {}

  // A bearer was established: it belongs to that session, or to none.
  void join(UeBearer& bearer, const std::optional<app::InSession>& place);
  // A bearer goes on, maybe with other rules.
  void follow(UeBearer& bearer, const std::optional<app::InSession>& place);
  // A bearer ends. A session ends with its last bearer.
  void leave(UeBearer& bearer);

  [[nodiscard]] std::size_t size() const { return sessions_.size(); }
  // End markers in the order in which they must be sent.
  UeEndMarkers due;

 private:
  UeSession::Ticks rule_lifetime_;
  std::unordered_map<std::uint32_t, std::unique_ptr<UeSession>> sessions_;
};

}  // namespace splitplane::ue
