// The configuration of `splitplane guard` as plain data. read.h reads it from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guard/rules/servers.h"
#include "guard/state/flow_table.h"
#include "guard/state/source_table.h"
#include "power/settings.h"
#include "runtime/config/config.h"
#include "runtime/config/schedule.h"

namespace splitplane::app {

inline constexpr std::size_t kMaxGuardWorkers = 16;

// One packet loop: it has a receive and a transmit queue of each port.
struct GuardWorkerConfig {
  unsigned core = 0;
  power::Settings policy;
  ScheduleConfig schedule;
  double slow_clock = 1;  // emulates a core of so much of the clock, for measurements
};

// What a worker may let through or send.
struct GuardLimits {
  // Segments that are no SYN, of sources that have not proven themselves, to each armed server.
  std::uint32_t unproven_per_second = 10'000;
  std::uint32_t replies_per_second = 20'000'000;  // of a worker: SYN-ACKs with cookies
};

// A bump in the wire between two ports: the section `guard`, and what every file says.
struct GuardConfig : ProgramConfig {
  std::string client, server;  // ports: towards the clients, and towards the servers that are protected
  std::vector<GuardWorkerConfig> workers{1};
  std::vector<guard::ServerRule> servers;
  guard::SourceTable::Settings sources;  // of each worker
  guard::FlowTable::Settings flows;      // of each worker
  GuardLimits limits;
  unsigned key_seconds = 64;  // a cookie key is the newer one for so long, and the older one for as long again
  std::string state_file;     // tables and keys survive a restart; empty: they do not
};

}  // namespace splitplane::app
