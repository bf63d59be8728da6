// One policy over given arrivals: how the core spent its time, and what became of the packets, as named numbers. The
// table, the JSON and docs/operate/power.md use the same names.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "power/replay/sim_core.h"
#include "power/settings.h"

namespace splitplane::power::replay {

struct Replayed {
  Settings settings;
  CoreResult core;
  std::uint64_t duration_ns = 0;
  double wall_s = 0;  // of this run of the simulation

  [[nodiscard]] double share(State state) const;  // share of the time, over all P-states
  [[nodiscard]] double p_state_share(unsigned p_state) const;
  // Share of the time awake (is_awake), each part weighted with the speed of its clock.
  [[nodiscard]] double active(const CoreSettings& core_settings) const;
  [[nodiscard]] double per_second(std::uint64_t count) const;
  // The number of queued packets, itself included, that the packet of this rank found when it was taken.
  [[nodiscard]] std::uint64_t queued(double percent) const;
};

[[nodiscard]] Replayed replay(const Settings& settings, const CoreSettings& core,
                              std::span<const std::uint64_t> arrivals, std::uint64_t duration_ns);

// A column for each run.
[[nodiscard]] std::string table(std::span<const Replayed> runs, const CoreSettings& core);
[[nodiscard]] nlohmann::ordered_json to_json(const Replayed& run, const CoreSettings& core);

}  // namespace splitplane::power::replay
