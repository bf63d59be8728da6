// `splitplane gpu info`: what this machine has for host bypass, and what stands in its way.
#pragma once

#include "cli/command/output.h"

namespace splitplane::app {

// Returns the exit code. `open_cards`: opens each 82599 that it finds, as root.
[[nodiscard]] int gpu_info(bool open_cards, CliOutput& output);

}  // namespace splitplane::app
