// The keys of a session with several bearers, beside those of ran/bearer_fields.h: what file and control protocol know
// of them comes from here.
#pragma once

#include "fields/field.h"
#include "ran/session_config.h"

namespace splitplane::ran {

[[nodiscard]] fields::Fields<WantedSession> session_fields();         // beside bearer_fields(kOfSession)
[[nodiscard]] fields::Fields<SessionBearer> session_bearer_fields();  // beside bearer_fields(kOfDrb)

// Gives each bearer what belongs to the tunnel: the keys of bearer_fields(kOfSession). Its security gets its DRB.
void share_tunnel(SessionConfig& session, const BearerConfig& tunnel);

}  // namespace splitplane::ran
