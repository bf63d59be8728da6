// Which frequencies a core can have, from its cpufreq directory: the driver's list if there is one, else steps between
// its limits.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::governor {

inline constexpr std::size_t kMaxPStates = 16;

struct Frequencies {
  std::string driver;
  std::vector<unsigned> khz;  // highest first, at least two
  bool turbo = false;         // khz[0] asks for the turbo range: the core's speed then depends on its neighbors
  bool userspace = false;     // a frequency can be set directly; otherwise both limits are set to it
};

// `directory`: .../cpuN/cpufreq. The error says why there is nothing to choose.
[[nodiscard]] Expected<Frequencies> read_frequencies(const std::string& directory);

}  // namespace splitplane::governor
