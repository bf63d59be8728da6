// GTP-U path management of one N3 interface, as the control thread keeps it: supervised paths, limits of what is sent
// unasked, counters. What a bearer saw of it stands beside its configuration.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "config/config.h"
#include "n3/answer_limit.h"
#include "n3/counters.h"
#include "n3/path.h"
#include "n3/uplink_check.h"

namespace splitplane::app {

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

  using Time = std::chrono::steady_clock::time_point;

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

// What GTP-U messages did to one bearer.
struct BearerGtpu {
  datapath::UplinkCheck uplink;
  datapath::UplinkCheck::Time looked{};  // at an Error Indication
  std::uint64_t error_indications = 0, end_markers = 0, uplink_stops = 0;

  [[nodiscard]] bool uplink_stopped() const { return uplink.state() == datapath::UplinkState::stopped; }
};

}  // namespace splitplane::app
