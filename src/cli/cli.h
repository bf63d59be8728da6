// The command line: subcommands, options, help with an example each, and what every failure looks like.
#pragma once

#include <ostream>

#include "cli/launch.h"

namespace splitplane::app {

// Returns the exit code; nothing escapes.
[[nodiscard]] int cli_main(int argc, const char* const* argv, const Commands& commands, std::ostream& out,
                           std::ostream& err);

}  // namespace splitplane::app
