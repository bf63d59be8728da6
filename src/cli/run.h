// `splitplane run`: starts the user plane and stays on the control thread until it is told to stop.
#pragma once

#include "cli/command/run_options.h"
#include "gnb/config/config.h"

namespace splitplane::app {

// `launch()` has read and checked the configuration, set the log level and taken the instance lock. Returns the exit
// code: 0 after a normal end, 1 after a failure, which standard error names.
[[nodiscard]] int run_command(const GnbConfig& config, const RunOptions& options);

}  // namespace splitplane::app
