// `splitplane phy`: an emulated PHY and its UEs until it is stopped, and what it says at its end.
#pragma once

#include "cli/command/run_options.h"
#include "phy/config/config.h"

namespace splitplane::app {

// `launch()` has read and checked the configuration, set the log level and taken the instance lock. Returns the exit
// code: 0 after a normal end, 1 after a failure, which standard error names.
[[nodiscard]] int phy_command(const PhyProgramConfig& config, const RunOptions& options);

}  // namespace splitplane::app
