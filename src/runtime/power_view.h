// A worker's power policy as JSON for power.show: the settings, its state, what the machine offers, and where the time
// went.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/stats.h"
#include "engine/worker_power.h"
#include "power/governor/governor.h"
#include "power/settings_json.h"

namespace splitplane::app {

// Call it on the worker's thread.
[[nodiscard]] nlohmann::json view_of(const datapath::WorkerPower& power, const datapath::WorkerStats& stats);
// What sets the core's frequency; null if nothing does.
[[nodiscard]] nlohmann::json view_of(const governor::Governor* governor);

}  // namespace splitplane::app
