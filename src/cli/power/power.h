// `splitplane power`: what can be asked and tried about how workers spend their time without packets.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"

namespace splitplane::app {

// Adds `power` and its subcommands to `app`. Parsing one of them sets `action` to what it does.
void add_power(CLI::App& app, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
