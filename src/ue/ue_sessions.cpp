#include "ue/ue_sessions.h"

#include <algorithm>

namespace splitplane::ue {

void UeSessions::join(UeBearer& bearer, const std::optional<app::InSession>& place) {
  leave(bearer);
  if (!place) return;
  auto& session = sessions_[place->teid.value];
  if (!session) session = std::make_unique<UeSession>(rule_lifetime_);
  session->join(bearer, *place);
}

void UeSessions::follow(UeBearer& bearer, const std::optional<app::InSession>& place) {
  const bool is_same = place && bearer.session != nullptr && bearer.drb == place->drb &&
                       bearer.session->place_of(bearer).teid == place->teid;
  if (!is_same) return join(bearer, place);
  bearer.session->follow(bearer, *place, due);
}

void UeSessions::leave(UeBearer& bearer) {
  std::erase_if(due, [&](const UeEndMarker& one) { return one.bearer == bearer.config.id; });
  UeSession* const session = std::exchange(bearer.session, nullptr);
  if (session == nullptr) return;
  session->leave(bearer);
  if (session->empty()) std::erase_if(sessions_, [&](const auto& one) { return one.second.get() == session; });
}

}  // namespace splitplane::ue
