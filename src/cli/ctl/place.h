// `splitplane ctl place`: show, move, pin, unpin, ratio, park, wake, set.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/command/output.h"
#include "cli/ctl/tap.h"

namespace splitplane::app {

// `ask` sends a request and prints the answer.
void add_place_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action);

// The answer to place.show as tables: settings, where bearers live, what has moved; then a line for each bearer that
// was asked for.
[[nodiscard]] std::string render_placement(const Json& placement);
// What place.set changed: of its answer the keys that were given, a line each.
[[nodiscard]] std::string render_settings(const Json& given, const Json& now);
// The answer to place.move in sentences.
[[nodiscard]] std::string render_moves(const Json& moves);

}  // namespace splitplane::app
