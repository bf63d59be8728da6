// What the ways of `splitplane gpu run` print alike: the first line, a line each second, the end.
#pragma once

#include <ostream>
#include <string>

#include "bypass/wire_run.h"
#include "cli/command/output.h"

namespace splitplane::app {

// Says on `output.err` why a run ended; returns `code`.
int end_gpu_run(int code, CliOutput& output, const std::string& sentence);
// The first line of a run with the soft NIC, and what that line says of our own traffic.
[[nodiscard]] std::string soft_nic_line(const bypass::Scenario& scenario, const std::string& traffic);
[[nodiscard]] std::string own_traffic(const bypass::Scenario& scenario);
// A line each second: with our own traffic, and with frames of others; then their end.
void show_live(const bypass::Live& now, const bypass::Live& before, std::ostream& out);
[[nodiscard]] std::string wire_line(const bypass::Live& now);
[[nodiscard]] std::string wire_summary(const bypass::WireRunResult& result);

}  // namespace splitplane::app
