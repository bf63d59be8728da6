// Finds Algorithm 1's thresholds for given arrivals as its authors did: queue occupancy compared with busy-wait. A
// threshold is rejected if queues fill more than on a busy core. Of the others the least active core wins.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "power/replay/replay.h"

namespace splitplane::power::replay {

struct TuneSettings {
  PaperSettings start;                   // values that are not searched stay as they are here
  std::uint64_t tolerance_packets = 32;  // how far the p99 of the packets queued may exceed that of busy
};

struct Tried {
  PaperSettings settings;
  double active = 0, asleep = 0;  // Replayed::active; C1 and C6, share of the time
  std::uint64_t queued_p99 = 0, added_p99_ns = 0, lost = 0, p_transitions = 0;
  bool good = false;  // occupancy within the tolerance, and no packet dropped that busy did not drop
};

struct Tuned {
  Tried busy;
  std::vector<Tried> tried;  // in the order of the search, the printed thresholds first
  std::size_t best = 0;      // index into tried; if none is good, the nearest one
};

// Deterministic: the same arrivals, core and settings give the same answer.
[[nodiscard]] Tuned tune(const TuneSettings& settings, const CoreSettings& core,
                         std::span<const std::uint64_t> arrivals, std::uint64_t duration_ns);

// The candidates, one line each.
[[nodiscard]] std::string table(const Tuned& tuned);
[[nodiscard]] nlohmann::ordered_json to_json(const Tuned& tuned);
// The best as a worker's `policy` in a configuration file.
[[nodiscard]] std::string yaml(const PaperSettings& settings);

}  // namespace splitplane::power::replay
