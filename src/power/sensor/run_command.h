// Runs a program to its end and returns what it printed. For tools that read a meter; it waits at most a given time.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::sensor {

// `words`: the program, looked for in $PATH, and its arguments. Standard input is empty, standard error is read, too.
// Error: it cannot be started, ended with a status other than 0 (with its last line), or runs longer than `limit_ms`,
// in which case it and its children are killed. Output beyond 64 KiB is left out.
[[nodiscard]] Expected<std::string> run_command(const std::vector<std::string>& words, unsigned limit_ms);

}  // namespace splitplane::sensor
