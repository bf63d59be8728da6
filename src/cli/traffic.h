// The subcommands `gen` and `sink` on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/cli.h"

namespace splitplane::app {

// Adds both to `app`. Parsing one of them fills `request` and sets `action` to what it does.
void add_traffic(CLI::App& app, LaunchRequest& request, const Commands& commands,
                 std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
