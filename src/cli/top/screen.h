// The terminal of `splitplane top`: ncurses, a line above and below, and a page between them that scrolls.
#pragma once

#include <chrono>
#include <ostream>

#include "cli/top/source.h"

namespace splitplane::app {

// Shows the live view until its user ends it. Returns 0, or 1 with a sentence on the error stream if the terminal
// cannot do it.
[[nodiscard]] int run_top_screen(TopSource& source, TopState& state, TopPage page, std::chrono::milliseconds interval,
                                 std::ostream& err);

}  // namespace splitplane::app
