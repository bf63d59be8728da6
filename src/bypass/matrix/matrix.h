// The matrix of `splitplane gpu bench --matrix`: which runs make the figures of the GPU paper and the comparisons
// around them, and in which order. Every run is repeated, and the repeats of a section are interleaved. So changes of
// the machine affect all rows alike, and two rows of one repeat can be compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bypass/matrix/row_log.h"

namespace splitplane::bypass {

// Runs a scenario: run_on_cpu, or the CUDA program.
using Runner = std::function<Expected<Json>(const Scenario&)>;

// If a direction holds in all pairs of 5 repeats, that is chance once in 32 times. With 4 repeats it would be once in
// 16, which is too often.
inline constexpr unsigned kRepeats = 5;

struct MatrixOptions {
  std::vector<Mode> modes = {Mode::bypass, Mode::plain, Mode::staging};
  double scale = 1;  // of the time of each run; 1 is under 12 minutes for the modes above
  unsigned repeats = kRepeats;
};

struct MatrixEvents {
  std::function<void(const std::string& section, std::size_t runs)> section;
  std::function<void(const Json& row)> row;
  std::function<bool()> stop;  // true: no more runs
  std::function<bool()> cut;   // true: the last run was cut off and makes no row
};

// Makes each scenario `repeats` times, one repeat of all after the other. It does not repeat a run that `log` has. Rows
// are to_json(Result) with "section" and "repeat"; a run that fails is a row with "error". The error says that the log
// cannot be written.
[[nodiscard]] Expected<Json> run_rows(const std::string& section, const std::vector<Scenario>& scenarios,
                                      unsigned repeats, RowLog& log, const Runner& runner, const MatrixEvents& events);

// {"tab2": [rows], "throughput": [rows], ...}. The error says that the log cannot be written.
[[nodiscard]] Expected<Json> run_matrix(const MatrixOptions& options, RowLog& log, const Runner& runner,
                                        const MatrixEvents& events);

}  // namespace splitplane::bypass
