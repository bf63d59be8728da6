// `splitplane power replay` and `splitplane power tune`: power policies on a simulated core, over recorded or generated
// arrivals. They need no DPDK device, no privilege and no running instance.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"

namespace splitplane::app {

// Adds both to `power`. Parsing one of them sets `action` to what it does.
void add_power_replay(CLI::App& power, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
