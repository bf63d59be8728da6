#include "power/replay/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "power/any_policy.h"
#include "power/replay/simulate.h"

namespace splitplane::power::replay {

double Replayed::share(State state) const {
  std::uint64_t sum = 0;
  for (const auto& of_p_state : core.time) sum += of_p_state[static_cast<std::size_t>(state)];
  return static_cast<double>(sum) / static_cast<double>(duration_ns);
}

double Replayed::p_state_share(unsigned p_state) const {
  std::uint64_t sum = 0;
  for (const std::uint64_t time : core.time[p_state]) sum += time;
  return static_cast<double>(sum) / static_cast<double>(duration_ns);
}

double Replayed::active(const CoreSettings& core_settings) const {
  const Machine machine = machine_of(core_settings);
  double sum = 0;
  for (unsigned p = 0; p < machine.p_states; ++p) {
    for (std::size_t state = 0; state < kStates; ++state) {
      if (is_awake(static_cast<State>(state)))
        sum += static_cast<double>(machine.speed[p]) * static_cast<double>(core.time[p][state]);
    }
  }
  return sum / static_cast<double>(duration_ns);
}

double Replayed::per_second(std::uint64_t count) const {
  return static_cast<double>(count) * 1e9 / static_cast<double>(duration_ns);
}

std::uint64_t Replayed::queued(double percent) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(static_cast<double>(core.served) * percent / 100));
  std::uint64_t below = 0;
  for (std::size_t n = 0; n < core.queued_counts.size(); ++n) {
    below += core.queued_counts[n];
    if (below >= std::max<std::uint64_t>(rank, 1)) return n;
  }
  return 0;
}

Replayed replay(const Settings& settings, const CoreSettings& core, std::span<const std::uint64_t> arrivals,
                std::uint64_t duration_ns) {
  const auto began = std::chrono::steady_clock::now();
  AnyPolicy any = make_policy(settings, machine_of(core));
  Replayed run{.settings = settings, .duration_ns = duration_ns - core.settle_ns};
  run.core = std::visit([&](auto& policy) { return simulate(core, arrivals, duration_ns, policy); }, any);
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return run;
}

}  // namespace splitplane::power::replay
