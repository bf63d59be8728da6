// `splitplane ctl air`: set.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/ctl/tap.h"

namespace splitplane::app {

void add_air_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
