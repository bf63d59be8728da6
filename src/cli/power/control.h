// `splitplane power status`, `set` and `restore`: the policies of a running instance, and what a crash left of them.
// `splitplane power kinds` lists policies and settings.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"

namespace splitplane::app {

// Adds them to `power`. Parsing one of them sets `action` to what it does.
void add_power_control(CLI::App& power, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
