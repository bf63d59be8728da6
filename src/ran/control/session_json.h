// Sessions with several bearers in the control protocol.
#pragma once

#include "control/params.h"
#include "ran/bearer_view.h"

namespace splitplane::app {

[[nodiscard]] Json to_json(const ran::SessionConfig& session);
[[nodiscard]] Json to_json(const SessionView& view);
// The part of a bearer's answer that names its session.
[[nodiscard]] Json to_json(const InSession& place);
// The session of a bearer that a running gNB has shown; nothing: the bearer is a session by itself.
[[nodiscard]] Expected<std::optional<InSession>> session_of(const Json& bearer);
// The answer's key `flows_counted`.
[[nodiscard]] Json flows_counted(const std::vector<FlowView>& flows);
// Reads what a request says of a session; what is wrong stays in `params`.
[[nodiscard]] ran::WantedSession read_session(Params& params);
// The sessions of bearers that a running gNB has shown. Error: a bearer is no such, or a session lacks one.
[[nodiscard]] Expected<std::vector<ran::WantedSession>> sessions_from_json(const std::vector<Json>& bearers);

}  // namespace splitplane::app
