// The subcommand `gpu` on the command line: info, run and bench of host bypass (docs/design/gpu.md).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"

namespace splitplane::app {

// Adds `gpu` and its subcommands to `app`. Parsing one of them sets `action` to what it does.
void add_gpu(CLI::App& app, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
