// What one worker of the guard counts. Only the worker writes it; any thread may read it (Counter).
#pragma once

#include <array>
#include <cstdint>

#include "base/counter.h"
#include "guard/rules/servers.h"
#include "guard/segment/outcome.h"
#include "guard/verdict.h"

namespace splitplane::guard {

// Of one protected server: field, unit, help. From these lists come the fields, `splitplane ctl guard` and the metrics.
// clang-format off
#define SPLITPLANE_GUARD_SERVER_COUNTERS(X)                                                  \
  X(syns, "packets", "SYNs of clients")                                                      \
  X(unknown_syns, "packets", "SYNs of sources that had not proven themselves")               \
  X(new_sources, "sources", "sources that proved themselves, by a cookie or by the server's own answers") \
  X(challenged, "packets", "SYNs that were answered with a cookie")                          \
  X(proved, "sources", "proofs by a cookie")                                                 \
  X(connected, "connections", "proxied connections whose client returned a cookie")          \
  X(dropped, "packets", "packets of clients that were dropped")                              \
  X(armings, "", "times that the server's guard began to act")

// Not sums: as they are now.
#define SPLITPLANE_GUARD_SERVER_GAUGES(X)                                                    \
  X(armed, "", "1 while the server's guard acts")                                            \
  X(syns_per_second, "packets/s", "SYNs of unknown sources a second, in the last window")    \
  X(half_open_percent, "percent", "unknown SYNs of the last window that led to no new source") \
  X(hold_seconds, "s", "how long the rate must be low before the guard rests again")         \
  X(mss, "bytes", "MSS that the server announces, from its rule or its SYN-ACKs; 0: not known") \
  X(window_scale, "", "window scale that the server announces; 255: not known, or none")

#define SPLITPLANE_GUARD_COUNTERS(X)                                                         \
  X(made_lost, "packets", "packets of the guard's own that their port did not take")         \
  X(made_no_buffer, "packets", "packets of the guard's own for which no buffer was free")    \
  X(key_rotations, "", "new keys of the cookies")                                            \
  X(sources_inserted, "sources", "sources that entered the allow-list")                      \
  X(sources_evicted, "sources", "sources that left the allow-list before their time, for others") \
  X(sources_refused, "sources", "sources for which the allow-list had no room")              \
  X(flows_inserted, "connections", "connections that entered the flow table")                \
  X(flows_refused, "connections", "connections for which the flow table had no room")        \
  X(flows_expired, "connections", "connections whose time was over")

#define SPLITPLANE_GUARD_GAUGES(X)                                                           \
  X(source_entries, "sources", "places of the allow-list")                                   \
  X(sources_live, "sources", "sources that count as proven, some seconds old")               \
  X(flow_entries, "connections", "places of the flow table")                                 \
  X(flows_used, "connections", "connections in the flow table")                              \
  X(servers_armed, "servers", "servers whose guard acts")
// clang-format on
#define SPLITPLANE_GUARD_COUNTER_FIELD(field, unit, help) Counter field;

struct ServerLine {
  SPLITPLANE_GUARD_SERVER_COUNTERS(SPLITPLANE_GUARD_COUNTER_FIELD)
  SPLITPLANE_GUARD_SERVER_GAUGES(SPLITPLANE_GUARD_COUNTER_FIELD)
};

struct GuardStats {
  // One outcome for every packet that a side received. So for each side received = sum of outcomes.
  std::array<std::array<Counter, kOutcomeCount>, 2> outcomes;  // by Side
  std::array<Counter, kMadeCount> made;                        // packets of the guard's own that a port took
  SPLITPLANE_GUARD_COUNTERS(SPLITPLANE_GUARD_COUNTER_FIELD)
  SPLITPLANE_GUARD_GAUGES(SPLITPLANE_GUARD_COUNTER_FIELD)
  std::array<ServerLine, kMaxServers> servers;  // by index in the ServerList

  [[nodiscard]] std::array<Counter, kOutcomeCount>& of(Side side) { return outcomes[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const Counter& of(Side side, Outcome outcome) const {
    return outcomes[static_cast<std::size_t>(side)][static_cast<std::size_t>(outcome)];
  }
  void add(Side side, Outcome outcome, std::uint64_t n = 1) {
    outcomes[static_cast<std::size_t>(side)][static_cast<std::size_t>(outcome)].add(n);
  }
  [[nodiscard]] std::uint64_t sum(Side side) const {
    std::uint64_t all = 0;
    for (const Counter& counter : outcomes[static_cast<std::size_t>(side)]) all += counter.get();
    return all;
  }
};

}  // namespace splitplane::guard
