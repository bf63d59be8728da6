// How `run`, `card`, `ue` and `phy` end: the sums for the user, the statistics in a file, and the exit code.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/expected.h"
#include "cli/command/run_options.h"

namespace splitplane::app {

// The sums of all workers in one line on standard error.
void print_totals(const nlohmann::json& stats);

// With the statistics of loops that have stopped. 0: every packet is accounted for.
[[nodiscard]] int finish_run(const Expected<nlohmann::json>& stats, const RunOptions& options,
                             void (*print)(const nlohmann::json& stats) = print_totals);

// A file that says nothing was lost on its way to the disk, or false, and that on standard error as the fault of `what`
// (a flag or a key).
[[nodiscard]] bool write_result(const char* what, const std::string& path, const std::string& text);

}  // namespace splitplane::app
