// `splitplane gen` and `splitplane sink`: what their command lines say beside the configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace splitplane::app {

struct Config;

struct TrafficOptions {
  std::optional<double> duration_s;      // instead of the file's
  std::optional<std::uint32_t> rate;     // instead of the file's
  std::optional<std::uint64_t> packets;  // instead of the file's
  std::string json;                      // results to this file; empty: none
  bool loop = false;                     // gen: a sink on the generator's own port
  bool strict = false;                   // exit code 1 unless every packet came, once and in order
  bool quiet = false;                    // no progress
};

// Return the process's exit code: 0 after a normal end, 1 after a failure (said on standard error). gen_command also
// runs the configuration's sink; sink_command only that.
[[nodiscard]] int gen_command(const Config& config, const TrafficOptions& options);
[[nodiscard]] int sink_command(const Config& config, const TrafficOptions& options);
// No configuration: memory ports. 1 if counts or percentiles were not exact.
[[nodiscard]] int self_test_command(const TrafficOptions& options);

}  // namespace splitplane::app
