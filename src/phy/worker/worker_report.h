// What `splitplane phy` counted, copied between two rounds of its thread so that it adds up.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "phy/worker/phy_worker.h"
#include "ue/ue_report.h"

namespace splitplane::phy {

using Numbers =
    std::vector<std::pair<std::string_view, std::uint64_t>>;  // counters by name, in the order of their list

struct WorkerReport {
  ue::DirectionReport downlink, uplink;  // packets: what RLC completed, and what the kernel sent
  bool balanced = false;                 // these, the PDUs, grants and blocks below them, and those of the air
  std::size_t bearers = 0;
  fapi::PhyState state = fapi::PhyState::kIdle;
  bool l2_is_away = false;
  AirLoss loss;                                      // in force
  Numbers air, refused;                              // EmulatorCounters and slots_missed, MappingCounters
  Numbers peer, p5, p7, p5_datagrams, p7_datagrams;  // of nFAPI
  Numbers blocks, grants, pdus, drops, radio;        // TerminalStats
  std::uint64_t busy_cycles = 0, asleep_cycles = 0, cpu_cycles = 0, rounds = 0, waits = 0;
};

// Error: the worker does not answer.
[[nodiscard]] Expected<WorkerReport> take_report(PhyWorker& worker);

}  // namespace splitplane::phy
