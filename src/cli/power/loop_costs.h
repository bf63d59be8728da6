// Costs of a running worker's packet loop for the simulated core, from two looks at the instance.
#pragma once

#include <string>
#include <vector>

#include "control/params.h"
#include "power/calibrate/costs.h"

namespace splitplane::app {

// Answers of power.show and of stats.
struct LoopLook {
  Json power, stats;
};
// packet, if packets came between the looks; else poll, and round with 0. `worker`: its name; empty: the one with most
// rounds between them. Error: there is no such worker, or it made no round.
[[nodiscard]] Expected<std::vector<power::calibrate::Cost>> loop_costs(const LoopLook& before, const LoopLook& now,
                                                                       const std::string& worker);

}  // namespace splitplane::app
