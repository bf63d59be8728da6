// `splitplane gpu run --gpu`: the engines are kernels, in the CUDA program; the soft NIC and its traffic are on the
// CPU. Not run on a GPU so far.
#pragma once

#include "cli/command/output.h"
#include "cli/gpu/run_options.h"

namespace splitplane::app {

// The scenario is checked. Returns the exit code.
[[nodiscard]] int gpu_run_on_gpu(const GpuRunOptions& options, const bypass::Scenario& scenario, CliOutput& output);

}  // namespace splitplane::app
