// Runs a policy, the same object that a real worker would hold, on the simulated core. The loop is that of
// engine/worker.h, except that rounds without packets that cannot change the policy's answer are executed at once.
#pragma once

#include "power/replay/sim_core.h"

namespace splitplane::power::replay {

template <Policy P>
[[nodiscard]] CoreResult simulate(const CoreSettings& settings, std::span<const std::uint64_t> arrivals,
                                  std::uint64_t end, P& policy) {
  SimCore core(settings, arrivals, end);
  std::array<QueueRound, kMaxQueues> seen{};
  const std::span<QueueRound> queues(seen.data(), settings.queues);
  Round round{.queues = queues};
  while (!core.ended()) {
    const Ticks began = core.now();
    round.packets = core.run_round(queues, P::kLooks);
    round.now = core.now();
    round.busy = round.packets != 0 ? round.now - began : 0;

    const Action action = policy.after(round);
    if (action.p_state != Action::kKeep) core.request(action.p_state);
    round.rested = 0;
    round.rest_cpu = 0;
    round.woken = false;
    if (action.rest == Rest::interrupt || action.rest == Rest::sleep) {
      const bool interrupt = action.rest == Rest::interrupt && settings.interrupts;
      const auto wanted = interrupt ? SimCore::Armed::interrupts : SimCore::Armed::kicks;
      if (core.armed() < wanted) {
        core.arm(wanted);
        continue;
      }
      const Ticks cpu = core.cpu_time();
      round.rested = interrupt ? core.wait_for_interrupt(action.length, round.woken) : core.sleep(action.length);
      if (action.metered) round.rest_cpu = core.cpu_time() - cpu;
      core.disarm();
      continue;
    }
    core.disarm(round.packets != 0);
    const Ticks length = action.rest == Rest::pause ? action.length : 0;
    if (length != 0) round.rested = core.pause(length);
    if constexpr (SkipsEmpty<P>) {
      if (round.packets != 0) continue;
      const std::uint64_t most = core.empty_rounds(length);
      if (most == 0) continue;
      const Ticks period = core.empty_period(length);
      round.now = core.now() + period - round.rested;
      core.spend_empty(policy.skip_empty(round, period, most), length);
    }
  }
  return core.finish();
}

}  // namespace splitplane::power::replay
