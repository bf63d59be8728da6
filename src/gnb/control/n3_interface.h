// One N3 interface as the control thread keeps it: our addresses, the workers that send there, its neighbors, and its
// GTP-U paths with the limits of what is answered, and counters.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "gnb/config/config.h"
#include "gnb/control/worker.h"
#include "n3/answer_limit.h"
#include "n3/counters.h"
#include "n3/neighbor.h"
#include "n3/neighbor_table.h"
#include "n3/path.h"

namespace splitplane::gnb {

// What each peer may have answered, and all together may make us check, each second.
inline constexpr unsigned kEchoAnswersPerS = 100, kUplinkChecksPerS = 10;

struct GtpuRuntime {
  explicit GtpuRuntime(const N3Config& config)
      : paths({.interval = std::chrono::seconds{config.echo.interval_s},
               .timeout = std::chrono::seconds{config.echo.timeout_s},
               .retries = config.echo.retries}),
        error_indications(config.error_indications_per_s),
        extension_notifications(config.error_indications_per_s) {}

  void count(GtpuCounter counter) { ++counters[static_cast<std::size_t>(counter)]; }
  void count(NeighborCounter counter) { ++neighbor_counters[static_cast<std::size_t>(counter)]; }

  datapath::PathSupervisor paths;
  datapath::AnswerLimit error_indications, extension_notifications;
  datapath::AnswerLimit echo_responses{kEchoAnswersPerS};
  datapath::AnswerLimit uplink_checks{kUplinkChecksPerS};  // begun, for each UPF
  datapath::AnswerLimit log_lines{1};                      // what any peer can cause is logged once a second for each
  std::unordered_map<std::uint32_t, Time> released;        // TEIDs that are silent until then
  std::deque<std::pair<Time, std::uint32_t>> released_in_order;  // all stay so for the same time
  std::array<std::uint64_t, kGtpuCounterCount> counters{};
  std::array<std::uint64_t, kNeighborCounterCount> neighbor_counters{};
};

struct N3Interface {
  N3Config config;
  datapath::OwnAddresses own;
  std::vector<WorkerRuntime*> workers;  // gnb workers that send on this port
  datapath::NeighborTable neighbors;
  GtpuRuntime gtpu;
};

}  // namespace splitplane::gnb
