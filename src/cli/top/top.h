// `splitplane top`: rates of a running instance, live in a terminal or as plain text.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"

namespace splitplane::app {

// Adds `top` to `app`. Parsing it sets `action` to what it does.
void add_top(CLI::App& app, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
