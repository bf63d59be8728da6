// The matrix of `splitplane gpu bench --matrix`: which runs make the figures of the GPU paper and the comparisons
// around them, in which order, within a budget of time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bypass/result_json.h"

namespace splitplane::bypass {

// Runs a scenario: run_on_cpu, or the CUDA program.
using Runner = std::function<Expected<Json>(const Scenario&)>;

struct MatrixOptions {
  std::vector<Mode> modes = {Mode::bypass, Mode::plain, Mode::staging};
  double scale = 1;  // of the time of each run; 1 is under 8 minutes for the modes above
};

struct MatrixEvents {
  std::function<void(const std::string& section, std::size_t runs)> section;
  std::function<void(const Json& row)> row;
  std::function<bool()> stop;  // true: no more runs
};

// {"throughput": [rows], "load": [...], ...}; rows as to_json(Result). A run that cannot be made is a row with "error".
[[nodiscard]] Json run_matrix(const MatrixOptions& options, const Runner& runner, const MatrixEvents& events);

}  // namespace splitplane::bypass
