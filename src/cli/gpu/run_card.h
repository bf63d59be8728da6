// `splitplane gpu run --nic`: the ring driver on CPU threads with a real 82599 and the frames of its link. Not tried on
// hardware: no machine of the project has had such a card.
#pragma once

#include "cli/command/output.h"
#include "cli/gpu/run_options.h"

namespace splitplane::app {

// The scenario is checked. Returns the exit code.
[[nodiscard]] int gpu_run_on_card(const GpuRunOptions& options, const bypass::Scenario& scenario, CliOutput& output);

}  // namespace splitplane::app
