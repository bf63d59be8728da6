// `splitplane ctl card`: a card at a glance.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/command/output.h"
#include "cli/ctl/tap.h"

namespace splitplane::app {

// `ask` sends a request and prints the answer.
void add_card_command(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action);

// The answer to card.show as tables.
[[nodiscard]] std::string render_card(const Json& card);

}  // namespace splitplane::app
