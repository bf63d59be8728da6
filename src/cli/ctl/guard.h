// `splitplane ctl guard`: the servers that a guard protects, its clients, connections, keys and events.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/command/output.h"
#include "cli/ctl/tap.h"

namespace splitplane::app {

// Answers of the methods guard.* for people.
[[nodiscard]] std::string render_guard(const Json& guard);
[[nodiscard]] std::string render_guard_server(const Json& answer);
[[nodiscard]] std::string render_guard_sources(const Json& sources);
[[nodiscard]] std::string render_guard_flows(const Json& flows);
[[nodiscard]] std::string render_guard_events(const Json& events);

// `ask` sends a request and prints the answer.
void add_guard_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action);

}  // namespace splitplane::app
