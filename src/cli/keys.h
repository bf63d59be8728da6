// The subcommand `keys`, for config/generate.py: the rows of keys as JSON schema and as tables of the docs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"

namespace splitplane::app {

void add_keys(CLI::App& app, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
