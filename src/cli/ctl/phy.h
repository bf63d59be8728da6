// `splitplane ctl phy`: the PHYs of a gNB's workers in full mode, as the gNB sees them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"
#include "cli/ctl/tap.h"

namespace splitplane::app {

// `ask` sends a request and prints the answer.
void add_phy_command(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action);

// The answer to phy.show as tables.
[[nodiscard]] std::string render_phys(const Json& phys);

}  // namespace splitplane::app
