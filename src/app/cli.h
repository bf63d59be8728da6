// The command line: subcommands, options, help with an example each, and what every failure looks like. Exit codes: 0
// all went well, 1 it failed while running, 2 bad usage or configuration (one line on standard error).
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "app/commands.h"
#include "app/traffic_command.h"

namespace splitplane::app {

inline constexpr int kExitGood = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitBadUsage = 2;

// The commands that run packets, as functions, so that a test of the command line needs no packet path.
struct Commands {
  int (*run)(const Config&, const RunOptions&);
  int (*ue)(const Config&, const RunOptions&);
  int (*gen)(const Config&, const TrafficOptions&);
  int (*sink)(const Config&, const TrafficOptions&);
  int (*self_test)(const TrafficOptions&);
  int (*nic)(const Config&, const RunOptions&);
};

// Returns the exit code; nothing escapes.
[[nodiscard]] int cli_main(int argc, const char* const* argv, const Commands& commands, std::ostream& out,
                           std::ostream& err);

// Where a command writes, and whether for machines.
struct CliOutput {
  std::ostream& out;
  std::ostream& err;
  bool json = false;
};

struct LaunchRequest {
  enum class Command { kRun, kUe, kNic, kGen, kSink };
  Command command = Command::kRun;
  std::string file;
  std::string log_level;   // empty: the file's
  std::string log_format;  // empty: the file's
  RunOptions options;      // run, ue, nic
  TrafficOptions traffic;  // gen, sink
};

// Reads and checks the file and this machine, takes the instance lock, and runs.
[[nodiscard]] int launch(const LaunchRequest& request, const Commands& commands, std::ostream& err);
// Reads and checks the file, and this machine unless `file_only`.
[[nodiscard]] int check(const std::string& file, bool file_only, const CliOutput& output);

}  // namespace splitplane::app
