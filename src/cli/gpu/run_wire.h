// `splitplane gpu run` with captures or a DPDK port at the soft NIC's link instead of the traffic peer.
#pragma once

#include "cli/command/output.h"
#include "cli/gpu/run_options.h"

namespace splitplane::app {

// The scenario is checked. Returns the exit code.
[[nodiscard]] int gpu_run_on_wire(const GpuRunOptions& options, const bypass::Scenario& scenario, CliOutput& output);

}  // namespace splitplane::app
