#include "guard/guard_context.h"

namespace splitplane::guard {

Expected<std::uint16_t> WorkerGuard::put_server(const ServerRule& rule) {
  const bool is_new = servers.find(rule.name) == ServerList::kNone;
  const auto index = servers.put(rule);
  if (index && is_new) {
    ServerLine& line = stats.servers[*index];
#define SPLITPLANE_GUARD_BEGIN_AT_0(field, unit, help) line.field.set(0);
    SPLITPLANE_GUARD_SERVER_COUNTERS(SPLITPLANE_GUARD_BEGIN_AT_0)
    SPLITPLANE_GUARD_SERVER_GAUGES(SPLITPLANE_GUARD_BEGIN_AT_0)
#undef SPLITPLANE_GUARD_BEGIN_AT_0
  }
  return index;
}

}  // namespace splitplane::guard
