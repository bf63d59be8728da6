// Where a core's time went between two looks, as a power profile takes it: from what its loop counted, the kernel's
// idle states and its frequency.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "power/model/profile.h"
#include "power/sensor/c_states.h"

namespace splitplane::app {

// What a loop counted since its start, in cycles of one clock.
struct LoopTime {
  unsigned core = 0;
  bool timed_pause = false;  // its pauses are TPAUSE
  std::uint64_t busy = 0;
  std::uint64_t idle = 0;    // rounds without packets, with the pauses
  std::uint64_t paused = 0;  // of them
  std::uint64_t asleep = 0;
  std::uint64_t packets = 0;  // that it received
};

// What is known of the core besides.
struct CoreFacts {
  double mhz = 0;  // while it ran; 0: not known
  unsigned package = 0;
  bool second_thread = false;
  std::vector<sensor::CState> idle;  // since the look before; empty: the kernel does not say
};

// Nothing: the loop counted nothing between the looks. A sleep counts as C1 and deeper as the kernel's idle states
// share the time; where it does not say, or only by names that are not known, as C1, which is the most that it can
// take.
[[nodiscard]] std::optional<power::model::Residency> residency_between(const LoopTime& before, const LoopTime& now,
                                                                       const CoreFacts& facts);

}  // namespace splitplane::app
