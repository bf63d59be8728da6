// `run`, `baas`, `ue`, `phy`, `card`, `guard`, `gen`, `sink` and `check`: everything before the first packet.
#pragma once

#include <ostream>
#include <string>

#include "cli/command/output.h"
#include "cli/command/run_options.h"
#include "cli/config/any_config.h"
#include "cli/traffic_command.h"

namespace splitplane::app {

// The commands that run packets, as functions, so that a test of the command line needs no packet path.
struct Commands {
  int (*run)(const GnbConfig&, const RunOptions&);
  int (*ue)(const UeConfig&, const RunOptions&);
  int (*gen)(const TrafficConfig&, const TrafficOptions&);
  int (*sink)(const TrafficConfig&, const TrafficOptions&);
  int (*self_test)(const TrafficOptions&);
  int (*nic)(const CardConfig&, const RunOptions&);
  int (*baas)(const GnbConfig&, const RunOptions&);
  int (*phy)(const PhyProgramConfig&, const RunOptions&);
  int (*guard)(const GuardConfig&, const RunOptions&);
};

struct LaunchRequest {
  enum class Command { kRun, kUe, kCard, kGen, kSink, kBaas, kPhy, kGuard };
  Command command = Command::kRun;
  std::string file;
  std::string log_level;   // empty: the file's
  std::string log_format;  // empty: the file's
  RunOptions options;      // run, ue, phy, nic, guard
  TrafficOptions traffic;  // gen, sink
};

// Reads and checks the file and this machine, takes the instance lock, and runs.
[[nodiscard]] int launch(const LaunchRequest& request, const Commands& commands, std::ostream& err);
// Reads and checks the file, and this machine unless `file_only`.
[[nodiscard]] int check(const std::string& file, bool file_only, const CliOutput& output);

}  // namespace splitplane::app
