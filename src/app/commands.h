// The subcommands that run packets. The command line has read and checked the configuration, set the log level and
// taken the instance lock before it calls them.
#pragma once

#include <optional>
#include <string>

#include "app/config.h"

namespace splitplane::app {

struct RunOptions {
  std::optional<double> duration_s;  // absent: until stopped
  bool fresh = false;                // run: forgets the journal of bearers
  std::string stats_json;            // write final stats JSON to this file on exit; empty: do not
};

// All return the process's exit code: 0 after a normal end, 1 after a failure (said on standard error).
[[nodiscard]] int run_command(const Config& config, const RunOptions& options);
[[nodiscard]] int ue_command(const Config& config, const RunOptions& options);
[[nodiscard]] int nic_command(const Config& config, const RunOptions& options);

}  // namespace splitplane::app
