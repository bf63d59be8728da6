// `splitplane guard`: protection of TCP servers against SYN floods.
#pragma once

#include "cli/command/run_options.h"
#include "guard/config/config.h"

namespace splitplane::app {

[[nodiscard]] int guard_command(const GuardConfig& config, const RunOptions& options);

}  // namespace splitplane::app
