// `splitplane ctl baas`: the buffering service of a gNB, as the gNB sees it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"
#include "cli/ctl/tap.h"

namespace splitplane::app {

// `ask` sends a request and prints the answer.
void add_baas_command(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action);

// The answer to baas.show as tables.
[[nodiscard]] std::string render_service(const Json& service);

}  // namespace splitplane::app
