// For the tests of this folder: a worker of one queue in simulated time that executes a policy's actions exactly. The
// costs of polling, working and waking are arguments. Users have power/replay.
#pragma once

#include <algorithm>
#include <deque>

#include "power/policy.h"

namespace splitplane::power {

struct SimulatedCosts {
  Ticks poll = 100;
  Ticks packet = 500;         // at P0
  Ticks sleep_overshoot = 0;  // of this machine now, whatever Machine says
  Ticks interrupt_latency = 0;
  Ticks sleep_cpu = 0, interrupt_cpu = 0;  // CPU time of a sleep, if it is metered; 0: not reported
};

template <class Policy>
class SimulatedWorker {
 public:
  SimulatedWorker(Policy& policy, const Machine& machine, const SimulatedCosts& its_costs)
      : costs(its_costs), policy_(policy), machine_(machine) {}

  void arrive(Ticks at) { arrivals_.push_back(at); }
  [[nodiscard]] Ticks now() const { return now_; }

  // Executes one round and the idle time after it, up to `until`.
  Action round(Ticks until) {
    const double speed = p_state > 0 ? static_cast<double>(machine_.speed[static_cast<unsigned>(p_state)]) : 1.0;
    Round seen{.next_timer = kNever, .rested = rested_, .rest_cpu = rest_cpu_, .woken = woken_};
    QueueRound queue;
    longest_backlog = std::max<std::uint64_t>(
        longest_backlog,
        static_cast<std::uint64_t>(std::upper_bound(arrivals_.begin(), arrivals_.end(), now_) - arrivals_.begin()));
    while (!arrivals_.empty() && arrivals_.front() <= now_ && queue.packets < machine_.burst) {
      longest_rest_wait = std::max(longest_rest_wait, now_ - std::max(arrivals_.front(), rest_began_));
      arrivals_.pop_front();
      ++queue.packets;
    }
    const Ticks took =
        queue.packets == 0 ? costs.poll : static_cast<Ticks>(static_cast<double>(costs.packet) * queue.packets / speed);
    if (queue.packets == machine_.burst) {  // looked at before the burst is processed; a ring has no more entries
      const auto waiting = std::upper_bound(arrivals_.begin(), arrivals_.end(), now_) - arrivals_.begin();
      queue.waiting = std::min(static_cast<std::uint32_t>(waiting), machine_.ring - queue.packets);
    }
    now_ += took;
    seen.now = now_;
    seen.packets = queue.packets;
    seen.busy = queue.packets != 0 ? took : 0;
    seen.queues = {&queue, 1};
    packets += queue.packets;
    const Action action = policy_.after(seen);
    rest(action, until);
    if (action.p_state != Action::kKeep && action.p_state != p_state) {
      ++steps;
      last_step = now_;
      p_state = action.p_state;
    }
    return action;
  }

  SimulatedCosts costs;
  int p_state = Action::kKeep;
  unsigned steps = 0;
  Ticks last_step = 0;
  std::uint64_t packets = 0;
  std::uint64_t longest_backlog = 0;  // packets that waited when a round began
  Ticks longest_rest_wait = 0;        // of any packet: from its arrival or the sleep's beginning to the sleep's end
  Ticks slept = 0, sleeps = 0, interrupts = 0;

 private:
  void rest(const Action& action, Ticks until) {
    rest_began_ = now_;
    woken_ = false;
    rest_cpu_ = 0;
    Ticks end = now_ + action.length;
    if (action.rest == Rest::none) end = now_;
    if (action.rest == Rest::sleep) {
      end += costs.sleep_overshoot;
      ++sleeps;
      if (action.metered) rest_cpu_ = costs.sleep_cpu;
    }
    if (action.rest == Rest::interrupt) {
      ++interrupts;
      if (action.metered) rest_cpu_ = costs.interrupt_cpu;
      if (!arrivals_.empty() && std::max(arrivals_.front(), now_) + costs.interrupt_latency < end) {
        end = std::max(arrivals_.front(), now_) + costs.interrupt_latency;
        woken_ = true;
      }
    }
    rested_ = std::min(end, std::max(until, now_)) - now_;
    if (action.rest >= Rest::sleep) slept += rested_;
    now_ += rested_;
  }

  Policy& policy_;
  Machine machine_;
  Ticks now_ = 1'000'000, rested_ = 0, rest_began_ = 0, rest_cpu_ = 0;
  bool woken_ = false;
  std::deque<Ticks> arrivals_;
};

}  // namespace splitplane::power
