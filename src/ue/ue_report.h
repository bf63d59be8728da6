// The UE side's counters, copied between two rounds of its worker so that they add up.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ue/ue_worker.h"

namespace splitplane::ue {

struct DirectionReport {
  std::uint64_t received = 0;  // counted by the queue
  std::uint64_t good = 0;      // delivered to the kernel, or accepted by the port
  std::uint64_t consumed = 0;  // RLC control; in full mode what UEs without the TUN device received
  std::uint64_t dropped = 0;
  std::uint64_t held = 0;                                         // by PDCP of secured bearers, now
  std::vector<std::pair<std::string_view, std::uint64_t>> drops;  // by reason, none with 0

  [[nodiscard]] bool balanced() const { return received == good + consumed + dropped + held; }
};

// Without `held`. RLC control and `sunk` are `consumed`.
[[nodiscard]] DirectionReport direction_report(const std::array<Counter, kUeOutcomeCount>& outcomes,
                                               std::uint64_t received);

struct AirReport : phy::AirCounters {
  phy::Impairments impairments;  // those in force
};

struct UeReport {
  DirectionReport downlink, uplink;
  std::uint64_t end_markers = 0;  // of sessions with several bearers
  std::uint64_t status_sent = 0, status_lost = 0, no_buffer = 0;
  std::uint64_t arq_status = 0, arq_retransmitted = 0, arq_sent = 0, arq_lost = 0;  // of acknowledged bearers
  std::uint64_t arq_status_stale = 0, arq_status_malformed = 0, arq_max_retx = 0, arq_unacked = 0;
  std::uint64_t received_air = 0, transmitted_air = 0;  // counted by the port: before and behind the air
  std::optional<AirReport> air_downlink, air_uplink;    // absent: no air between port and UE side
  std::uint64_t busy_cycles = 0, idle_cycles = 0, asleep_cycles = 0, cpu_cycles = 0, rounds = 0, sleeps = 0;
  std::size_t bearer_count = 0;
  std::vector<UeBearer> bearers;  // bearers that had packets: the first `limit` by identity
  // Sums over all bearers.
  std::uint64_t polls = 0, rlc_missing = 0, rlc_late = 0, rlc_duplicates = 0;
  std::uint64_t pdcp_missing = 0, pdcp_late = 0, pdcp_duplicates = 0;
  std::uint64_t other_qfi = 0, other_destination = 0;

  // True if all frames that the air passes on are received by the UE side, and all that it sends enter the air.
  [[nodiscard]] bool balanced() const {
    const std::uint64_t sent = uplink.good + end_markers + status_sent + arq_sent;
    const bool down = !air_downlink || (air_downlink->balanced() && air_downlink->passed == downlink.received);
    const bool up = air_uplink ? air_uplink->balanced() && air_uplink->received == sent : transmitted_air == sent;
    return downlink.balanced() && uplink.balanced() && down && up;
  }
};

// Returns an error if the worker does not answer.
[[nodiscard]] Expected<UeReport> take_report(UeWorker& worker, std::size_t bearer_limit);

}  // namespace splitplane::ue
