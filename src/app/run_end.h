// How `run` and `nic` end: the sums on standard error, the statistics in a file, and the exit code.
#pragma once

#include "app/commands.h"
#include "app/control_backend.h"

namespace splitplane::app {

// Once the loops have stopped. 0: every packet is accounted for.
[[nodiscard]] int finish_run(ControlBackend& backend, const RunOptions& options);

}  // namespace splitplane::app
