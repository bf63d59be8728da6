// `splitplane ctl`: asks a running instance over its control socket and prints the answer.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "cli/command/output.h"

namespace splitplane::app {

// Adds `ctl` and its subcommands to `app`. Parsing a ctl command sets `action` to what it does.
void add_ctl(CLI::App& app, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
