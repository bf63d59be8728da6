// Counters as JSON, the same for `run` and `card`. The names are those of the lists of stages, drop reasons and
// counters.
#pragma once

#include <nlohmann/json.hpp>

#include "observe/observation.h"

namespace splitplane::app {

// Packets that ended at the worker, by kind: punts, RLC control, copies; in full mode what RLC took.
[[nodiscard]] std::uint64_t consumed_by(const WorkerObservation& worker);
// Full mode: RLC PDUs that MAC took out of transport blocks, and SDUs that RLC made of them. No port received these.
[[nodiscard]] std::uint64_t made_by_radio(const WorkerSnapshot& worker);
// Packets to the air, to N3, and back to a card.
[[nodiscard]] std::uint64_t transmitted_by(const WorkerSnapshot& worker);
[[nodiscard]] nlohmann::json to_json(const WorkerObservation& worker);
[[nodiscard]] nlohmann::json to_json(const PortObservation& port);

}  // namespace splitplane::app
