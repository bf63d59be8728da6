// `splitplane gpu bench`: chosen runs, or the matrix, as a table and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bypass/scenario.h"
#include "cli/command/output.h"

namespace splitplane::app {

struct GpuBenchOptions {
  bypass::Scenario base;
  std::vector<std::uint32_t> rings{1, 2, 4, 8}, sizes;  // none: the smallest and 1500
  std::vector<std::string> modes{"bypass"}, functions{"echo"};
  std::vector<double> mpps{0};
  bool matrix = false;
  bool cpu_only = false;  // leave a GPU alone
  double scale = 1;
  unsigned repeats = 0;       // none said: 5 of the matrix, 1 of chosen runs
  double within_seconds = 0;  // no run begins after this time; 0: no limit
  bool resume = false;        // rows of an earlier run with the same --json stay ...
  bool retry = false;         // ... but those of runs that failed
  std::string json;
};

// Returns the exit code; 2 for settings that cannot be, with one line on `output.err`.
[[nodiscard]] int gpu_bench(const GpuBenchOptions& options, CliOutput& output);

}  // namespace splitplane::app
