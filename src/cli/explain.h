// `splitplane explain`: what the user plane of a configuration would do with given packets, in words.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/cli.h"

namespace splitplane::app {

// Adds the command to `app`. Parsing it sets `action` to what it does.
void add_explain(CLI::App& app, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
