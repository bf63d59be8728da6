#include "gnb/journal/sessions.h"

#include <algorithm>

namespace splitplane::app {

JournalSession in_journal(const ran::SessionConfig& session, BearerId bearer) {
  const ran::SessionBearer& one = *session.find(bearer);
  return {.teid = session.teid(),
          .spare = session.spare,
          .bearers = static_cast<std::uint8_t>(session.bearers.size()),
          .number = static_cast<std::uint8_t>(&one - session.bearers.data() + 1),
          .drb = one.drb,
          .default_drb = session.default_drb,
          .reflective = one.reflective,
          .flows = one.flows};
}

std::vector<FoundSession> sessions_in(const JournalBearers& bearers) {
  std::map<std::uint32_t, std::vector<JournalBearer>> by_teid;
  for (const auto& [id, bearer] : bearers) {
    if (bearer.session) by_teid[bearer.session->teid.value].push_back(bearer);
  }
  std::vector<FoundSession> found;
  for (auto& [teid, members] : by_teid) {
    std::ranges::sort(members, {}, [](const JournalBearer& one) { return one.session->number; });
    FoundSession session{.config = {}, .bearers = std::move(members)};
    session.config.default_drb = session.bearers.front().session->default_drb;
    session.config.spare = session.bearers.front().session->spare;
    for (const JournalBearer& one : session.bearers) {
      session.config.bearers.push_back({one.session->drb, one.config, one.session->flows, one.session->reflective});
    }
    const bool has_all = session.bearers.size() == session.bearers.front().session->bearers;
    session.is_whole = has_all && session.config.teid().value == teid && !ran::refuse(session.config);
    found.push_back(std::move(session));
  }
  return found;
}

}  // namespace splitplane::app
