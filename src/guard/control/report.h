// What a guard answers to guard.show, guard.flows and `stats`, made of what was seen of its workers, and its last
// words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/params.h"
#include "guard/control/seen.h"

namespace splitplane::app {

// A server, summed over the workers that have a rule of this name.
[[nodiscard]] Json server_json(const guard::ServerRule& rule, std::span<const GuardSeen> seen);
// Clients, connections, keys and servers, summed over the workers.
[[nodiscard]] Json guard_json(std::span<const guard::ServerRule> rules, std::span<const GuardSeen> seen,
                              unsigned key_seconds);
// "192.0.2.7:50000", "[2001:db8::1]:443", state and options of a connection; `now` in the table's seconds.
[[nodiscard]] Json flow_json(const guard::Flow& flow, std::uint32_t now);

// `guard`: as guard_json() made it.
[[nodiscard]] Json stats_json(std::span<const GuardSeen> seen, std::span<const PortObservation> ports, Json guard);
// For people, of what stats_json() made.
[[nodiscard]] std::string guard_summary(const Json& stats);

}  // namespace splitplane::app
