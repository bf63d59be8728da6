#include "explain/running.h"

#include <limits>

#include "ran/control/bearer_json.h"
#include "ran/control/session_json.h"

namespace splitplane::app {

Expected<ExplainPlane::Neighbors> take_from_running(ControlClient& client, GnbConfig& config) {
  std::vector<ran::BearerGroup> bearers;
  std::vector<Json> of_sessions;
  Expected<void> good;
  const auto listed = client.for_each_bearer(0, std::numeric_limits<std::size_t>::max(), [&](const Json& row) {
    if (row.contains("session")) return of_sessions.push_back(row);
    const auto bearer = bearer_from_json(row);
    if (!bearer && good) good = tl::unexpected(bearer.error());
    if (bearer) bearers.push_back({.count = 1, .first = *bearer, .shard = std::nullopt});
  });
  if (!listed) return tl::unexpected(listed.error());
  if (!good) return tl::unexpected(good.error());
  auto sessions = sessions_from_json(of_sessions);
  if (!sessions) return tl::unexpected(sessions.error());
  config.sessions = *std::move(sessions);
  config.bearers = std::move(bearers);
  const auto answer = client.call("peer.list");
  if (!answer) return tl::unexpected(answer.error());
  ExplainPlane::Neighbors neighbors;
  const auto rows = answer->find("peers");
  for (const auto& row : rows == answer->end() ? Json::array() : *rows) {
    const auto text = [&](const char* key) {
      const auto at = row.find(key);
      return at != row.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    const auto upf = IpAddress::parse(text("name"));
    const auto mac = MacAddress::parse(text("mac"));
    if (upf && mac) neighbors.insert_or_assign(*upf, *mac);
  }
  return neighbors;
}

}  // namespace splitplane::app
