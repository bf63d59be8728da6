// `splitplane gpu run`: the ring driver on CPU threads against the soft NIC, with live counters and a summary. A GPU, a
// card or a wire in place of the traffic peer have their own ways: run_device.h, run_card.h, run_wire.h.
#pragma once

#include "cli/command/output.h"
#include "cli/gpu/run_options.h"

namespace splitplane::app {

// Returns the exit code; 2 for settings that cannot be, with one line on `output.err`.
[[nodiscard]] int gpu_run(const GpuRunOptions& options, CliOutput& output);

}  // namespace splitplane::app
