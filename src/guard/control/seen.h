// What one look at a guard's worker found, as plain numbers: copied between two rounds, so that they add up.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/port.h"
#include "guard/guard_context.h"
#include "observe/observation.h"

namespace splitplane::app {

// What became of a received packet, by its outcome.
enum class GuardFate : std::uint8_t { kSent, kConsumed, kDropped };
[[nodiscard]] GuardFate fate_of(guard::Outcome outcome);

struct GuardServerSeen {
  guard::ServerRule rule;
  SPLITPLANE_GUARD_SERVER_COUNTERS(SPLITPLANE_NUMBER_FIELD)
  SPLITPLANE_GUARD_SERVER_GAUGES(SPLITPLANE_NUMBER_FIELD)
};

struct GuardSeen {
  std::string name;
  unsigned core = 0;
  WorkerSnapshot loop;
  std::uint64_t cpu_cycles = 0;
  std::uint64_t silent_s = 0;               // 0: it answered
  std::array<std::uint64_t, 2> received{};  // by guard::Side
  std::array<std::array<std::uint64_t, guard::kOutcomeCount>, 2> outcomes{};
  std::array<std::uint64_t, guard::kMadeCount> made{};
  SPLITPLANE_GUARD_COUNTERS(SPLITPLANE_NUMBER_FIELD)
  SPLITPLANE_GUARD_GAUGES(SPLITPLANE_NUMBER_FIELD)
  std::vector<GuardServerSeen> servers;

  [[nodiscard]] std::uint64_t sum(guard::Side side, GuardFate fate) const;
  [[nodiscard]] std::uint64_t sum(GuardFate fate) const {
    return sum(guard::Side::kClient, fate) + sum(guard::Side::kServer, fate);
  }
  [[nodiscard]] std::uint64_t received_total() const { return received[0] + received[1]; }
  // Packets that the port of this side took, of both sides and of the guard's own.
  [[nodiscard]] std::uint64_t sent_to(guard::Side side) const;
  // Every packet that a queue gave has one outcome.
  [[nodiscard]] bool balanced() const;
};

// Call it on the worker's thread.
[[nodiscard]] GuardSeen look_at(const guard::WorkerGuard& guard, const datapath::WorkerStats& loop);
// Beside a worker that does not answer: its counters as they stand, which may not add up, and no servers.
[[nodiscard]] GuardSeen look_beside(const guard::GuardStats& stats, const datapath::WorkerStats& loop);

}  // namespace splitplane::app
