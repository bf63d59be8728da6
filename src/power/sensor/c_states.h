// How long a core was in which idle state, by the kernel's count (cpuidle in sysfs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::sensor {

// What a state of the kernel is to a power profile. A core that polls in the idle loop runs.
enum class Depth : std::uint8_t { polls, c1, deeper, unknown };

struct CState {
  std::string name;           // POLL, C1, C1E, C6, haltpoll ...
  std::uint64_t time_us = 0;  // since the machine's start
  std::uint64_t usage = 0;    // how often it was entered
  std::uint64_t above = 0;    // ... and left sooner than it pays; 0 where the kernel does not count it
  std::uint64_t below = 0;    // ... where a deeper one had paid
  unsigned latency_us = 0;    // to leave it, as the driver says
  bool disabled = false;

  // By its name: C1 and its variants are C1, C2 and more are deeper. Names of other kinds are unknown.
  [[nodiscard]] Depth depth() const;
};

// The states of a core, the shallowest first. Error: why there are none.
[[nodiscard]] Expected<std::vector<CState>> read_c_states(const std::string& root, unsigned core);
// What was added since `before`. Empty if the states are not the same ones.
[[nodiscard]] std::vector<CState> since(const std::vector<CState>& before, const std::vector<CState>& now);

}  // namespace splitplane::sensor
