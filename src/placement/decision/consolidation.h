// Decides on how many cores the workers run: the loop of a worker with little load becomes the guest of another
// worker's core, and its own core sleeps. It goes home when the core that both share becomes too busy. Facts go in, one
// step comes out. It reads no clock and carries nothing out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "placement/decision/facts.h"
#include "placement/decision/settings.h"

namespace splitplane::placement {

// One worker's loop.
struct LoopFacts {
  double busy = 0;     // what its packets took of a core's time since the last look, at the fastest P-state; 0 to 1
  std::size_t on = 0;  // the worker on whose core it runs; its own number: at home
  bool takes_part = false;  // it serves bearers, its thread makes rounds, and it was not parked by hand
  // Loops share a core only with those of the same group: NUMA node, power policy and schedule are the same.
  std::size_t group = 0;
  unsigned queues = 0;
};

// How many loops and queues one thread can look at beside its own loop, and in all.
inline constexpr std::size_t kMostGuests = 15;
inline constexpr unsigned kMostQueues = 128;

struct ConsolidationStep {
  enum class Kind : std::uint8_t { kPark, kWake };
  Kind kind{};
  std::size_t guest = 0, host = 0;  // kPark: the guest's core sleeps from now on; kWake: it leaves this host
  double load = 0;                  // kPark: of the host's core then; kWake: as it was

  friend bool operator==(const ConsolidationStep&, const ConsolidationStep&) = default;
};

class Consolidation {
 public:
  explicit Consolidation(const ConsolidationSettings& settings) : settings_(settings) {}
  void set(const ConsolidationSettings& settings);

  // One look. If it is off, guests go home one by one. `loops`: by worker; a core's load is that of the loops on it.
  [[nodiscard]] std::optional<ConsolidationStep> decide(Time now, std::span<const LoopFacts> loops);

 private:
  [[nodiscard]] std::optional<ConsolidationStep> wake_one(std::span<const LoopFacts> loops) const;
  [[nodiscard]] std::optional<ConsolidationStep> park_one(std::span<const LoopFacts> loops) const;

  ConsolidationSettings settings_;
  Time fits_since_ = kNever;
};

}  // namespace splitplane::placement
