// One policy over given arrivals: how the core spent its time, and what became of the packets.
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace splitplane::power::replay
