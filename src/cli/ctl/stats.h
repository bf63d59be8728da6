// `splitplane ctl stats`: what an instance counted, as records that fit 80 columns, all of it or one part by name.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/command/output.h"
#include "control/client.h"

namespace splitplane::app {

// Of the answer to `stats` what `section` names (a plural `s` may be missing), and of that the record `name`; empty
// words leave nothing out. Error: no such section or name, and which there are.
[[nodiscard]] Expected<Json> part_of_stats(const Json& stats, const std::string& section, const std::string& name);

// No line of more than 80 characters, unless one word is longer. Counters that are 0 share a line.
[[nodiscard]] std::string render_stats(const Json& stats);

using CtlTalk = std::function<int(CliOutput& output, const std::function<Expected<std::string>(ControlClient&)>& talk)>;
// `json`: whether the answer is for machines, known once the command line is read.
void add_stats_command(CLI::App& ctl, const CtlTalk& talk, const bool& json, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
