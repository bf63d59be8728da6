// GTP-U path management of one N3 interface, as the control thread keeps it: supervised paths, limits of what is sent
// unasked, counters. What a bearer saw of it stands beside its configuration.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>

#include "app/config.h"
#include "base/outcome_list.h"
#include "datapath/answer_limit.h"
#include "datapath/n3_path.h"

namespace splitplane::app {

// clang-format off
#define SPLITPLANE_GTPU_COUNTERS(X)                                                                            \
  X(echo_requests_received, "Echo Requests received")                                                          \
  X(echo_responses_sent, "Echo Responses sent")                                                                \
  X(echo_requests_sent, "Echo Requests sent, repetitions too")                                                 \
  X(echo_responses_received, "Echo Responses to an open request")                                              \
  X(echo_responses_unasked, "Echo Responses that nobody waited for")                                           \
  X(error_indications_sent, "Error Indications sent for unknown TEIDs")                                        \
  X(error_indications_withheld, "Error Indications not sent: the peer had its share, or the TEID is just gone") \
  X(error_indications_received, "Error Indications that stopped a bearer's uplink")                            \
  X(error_indications_unmatched, "Error Indications that stopped none: of no bearer or another host's, a stopped one, " \
                                 "one that is being changed, or a silent worker's")                            \
  X(end_markers_received, "End Markers of a bearer")                                                           \
  X(end_markers_unmatched, "End Markers for a TEID without a bearer")                                          \
  X(extension_notifications_sent, "Supported Extension Headers Notifications sent")                            \
  X(extension_notifications_withheld, "Supported Extension Headers Notifications not sent: the peer had its share") \
  X(extension_notifications_received, "Supported Extension Headers Notifications received")                    \
  X(malformed, "messages that could not be read")
// clang-format on

SPLITPLANE_OUTCOMES(GtpuCounter, SPLITPLANE_GTPU_COUNTERS)

struct GtpuRuntime {
  explicit GtpuRuntime(const N3Config& config)
      : paths({.interval = std::chrono::seconds{config.echo.interval_s},
               .timeout = std::chrono::seconds{config.echo.timeout_s},
               .retries = config.echo.retries}),
        error_indications(config.error_indications_per_s),
        extension_notifications(config.error_indications_per_s) {}

  void count(GtpuCounter counter) { ++counters[static_cast<std::size_t>(counter)]; }

  using Time = std::chrono::steady_clock::time_point;

  datapath::PathSupervisor paths;
  datapath::AnswerLimit error_indications, extension_notifications;
  datapath::AnswerLimit log_lines{1};                // what any peer can cause is logged once a second for each
  std::unordered_map<std::uint32_t, Time> released;  // TEIDs that are silent until then
  std::deque<std::pair<Time, std::uint32_t>> released_in_order;  // all stay so for the same time
  std::array<std::uint64_t, kGtpuCounterCount> counters{};
};

// What GTP-U messages did to one bearer.
struct BearerGtpu {
  bool uplink_stopped = false;  // by an Error Indication, until the bearer is modified
  std::uint64_t error_indications = 0, end_markers = 0;
};

}  // namespace splitplane::app
