// The subcommands that run packets. The command line has read and checked the configuration, set the log level and
// taken the instance lock before it calls them.
#pragma once

#include "cli/command/run_options.h"
#include "config/config.h"

namespace splitplane::app {

// All return the process's exit code: 0 after a normal end, 1 after a failure (said on standard error).
[[nodiscard]] int run_command(const Config& config, const RunOptions& options);
[[nodiscard]] int ue_command(const Config& config, const RunOptions& options);
[[nodiscard]] int nic_command(const Config& config, const RunOptions& options);

}  // namespace splitplane::app
