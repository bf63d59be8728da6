// What `splitplane power replay` and `splitplane power tune` have in common on the command line: the arrivals and the
// simulated core.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/expected.h"
#include "power/replay/arrivals.h"
#include "power/replay/sim_core.h"
#include "power/settings.h"

namespace splitplane::app {

struct ReplayOptions {
  std::string trace, kind = "poisson", pattern = "DDDSU";
  double rate = 10'000, duration_s = 0, speed = 1, slot_us = 500, window_us = 50, low = 0.1;  // duration 0: not given
  std::uint32_t burst_packets = 32;
  std::uint64_t seed = 1, tolerance_packets = 32;
  bool no_interrupts = false, no_c6 = false, json = false;
  std::vector<std::string> settings, costs, policies{"all"};
  power::replay::CoreSettings core;

  // Filled by prepare().
  power::Settings policy;
  std::vector<std::uint64_t> arrivals;
  std::uint64_t duration_ns = 0;
};

void add_replay_options(CLI::App& command, ReplayOptions& options);

// Reads the words and makes the arrivals. Error: one sentence.
[[nodiscard]] Expected<void> prepare(ReplayOptions& options);

// "poisson, 10000 packets/s, seed 1": what was replayed.
[[nodiscard]] std::string describe_arrivals(const ReplayOptions& options);

}  // namespace splitplane::app
