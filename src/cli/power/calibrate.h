// `splitplane power calibrate` measures what the simulated core assumes, and fits a power profile where a sensor is.
// `splitplane power sensors` says what this machine has: sensors, frequencies, idle states. Both need no instance.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"

namespace splitplane::app {

// Adds them to `power`. Parsing one of them sets `action` to what it does.
void add_power_calibrate(CLI::App& power, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
