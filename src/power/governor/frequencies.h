// Which frequencies a core can be asked for, from its cpufreq directory: the list of the driver where it has one, else
// steps between its limits.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::governor {

inline constexpr std::size_t kMaxPStates = 16;

struct Frequencies {
  std::string driver;
  std::vector<unsigned> khz;  // highest first, at least two
  bool turbo = false;         // khz[0] asks for the turbo range: how fast the core then is depends on its neighbours
  bool userspace = false;     // a frequency can be set as such; else both limits are set to it
};

// `directory`: .../cpuN/cpufreq. Error: why there is nothing to choose.
[[nodiscard]] Expected<Frequencies> read_frequencies(const std::string& directory);

}  // namespace splitplane::governor
