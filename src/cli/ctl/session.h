// `splitplane ctl session`: add, release, show, list.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/ctl/tap.h"

namespace splitplane::app {

void add_session_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action);
// A line for each bearer: which flows it carries, and what it sent.
[[nodiscard]] std::string render_sessions(const std::vector<Json>& sessions);
// Everything about one session; a line for each flow that counted something.
[[nodiscard]] std::string render_session(const Json& session);

}  // namespace splitplane::app
