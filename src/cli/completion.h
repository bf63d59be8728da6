// `splitplane completion SHELL`: a completion script made from the command line itself, so that it knows every command
// and option that there is.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/cli.h"

namespace splitplane::app {

// For bash 4 or later; needs no other package. Words that no list knows complete to file names.
[[nodiscard]] std::string bash_completion(const CLI::App& app);

// `app` is asked when the command runs, so it may get more commands after this.
void add_completion(CLI::App& app, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
