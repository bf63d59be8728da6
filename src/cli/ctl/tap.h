// `splitplane ctl tap`: on, off, list.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/command/output.h"
#include "control/params.h"

namespace splitplane::app {

// Sends one request and prints the answer, rendered for people unless JSON is wanted; returns the exit code.
using CtlAsk = std::function<int(CliOutput& output, const std::string& method, const Json& params,
                                 const std::function<std::string(const Json&)>& for_people)>;

void add_tap_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
