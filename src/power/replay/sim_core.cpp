#include "power/replay/sim_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace splitplane::power::replay {
namespace {

float speed_of(const CoreSettings& settings, unsigned p_state) {
  if (settings.p_states < 2) return 1;
  return static_cast<float>(1 - (1 - settings.slowest) * p_state / (settings.p_states - 1));
}

}  // namespace

Machine machine_of(const CoreSettings& settings) {
  const Costs& costs = settings.costs;
  // The median of short sleeps, as the worker measures it.
  const Ticks late = costs.system_call + costs.timer_late + costs.c1_exit +
                     static_cast<Ticks>(std::log(2.0) * static_cast<double>(costs.timer_late_mean));
  Machine machine{.ticks_per_us = 1000,
                  .queues = settings.queues,
                  .ring = settings.ring,
                  .burst = settings.burst,
                  .interrupts = settings.interrupts,
                  .timed_pause = settings.timed_pause,
                  .sleep_overshoot = late,
                  .interrupt_latency = late,
                  .p_states = settings.p_states,
                  .prices = settings.prices};
  for (unsigned p = 0; p < settings.p_states; ++p) machine.speed[p] = speed_of(settings, p);
  return machine;
}

SimCore::SimCore(const CoreSettings& settings, std::span<const std::uint64_t> arrivals, std::uint64_t end)
    : settings_(settings),
      arrivals_(arrivals),
      end_(end),
      queues_(settings.queues),
      random_(settings.seed ^ 0x51f0c0deULL) {
  for (Queue& queue : queues_) queue.times.resize(std::bit_ceil(settings.ring));
  const auto slowed = [](std::uint64_t cost, float speed) {
    return static_cast<Ticks>(std::llround(static_cast<double>(cost) / static_cast<double>(speed)));
  };
  for (unsigned p = 0; p < settings.p_states; ++p) {
    const float speed = speed_of(settings, p);
    poll_cost_[p] = slowed(settings.costs.poll, speed);
    packet_cost_[p] = slowed(settings.costs.packet, speed);
    round_cost_[p] = poll_cost_[p] * settings.queues + slowed(settings.costs.round, speed);
  }
  result_.queued_counts.resize(settings.ring + 1);
}

void SimCore::spend(State state, Ticks length) {
  const Ticks from = std::max(now_, settings_.settle_ns), until = std::min(now_ + length, end_);
  if (from < until) result_.time[static_cast<std::size_t>(p_state_)][static_cast<std::size_t>(state)] += until - from;
  now_ += length;
  if (is_awake(state)) awake_ += length;
}

// Counts begin anew; times have begun at that moment exactly.
void SimCore::settle() {
  settled_ = true;
  CoreResult anew{.time = result_.time};
  anew.queued_counts.resize(settings_.ring + 1);
  result_ = std::move(anew);
  before_ = next_ - queued_;
}

// Packets are spread over the queues as RSS would spread many flows: by a hash of their number.
unsigned SimCore::queue_of(std::uint64_t packet) const {
  if (settings_.queues == 1) return 0;
  return Random(packet).below(settings_.queues);
}

void SimCore::admit_until(Ticks time) {
  for (; next_ < arrivals_.size() && arrivals_[next_] <= time; ++next_) {
    Queue& queue = queues_[queue_of(next_)];
    if (queue.size() == settings_.ring) {
      ++result_.lost;
      continue;
    }
    queue.times[queue.tail++ & (queue.times.size() - 1)] = arrivals_[next_];
    ++queued_;
  }
}

void SimCore::change_clock(bool asleep) {
  if (now_ < effective_) [[likely]]
    return;
  p_state_ = wanted_;
  effective_ = kNever;
  ++result_.p_transitions;
  if (!asleep) spend(State::halted, settings_.costs.p_halt);
}

unsigned SimCore::run_round(std::span<QueueRound> queues, bool look) {
  if (!settled_ && now_ >= settings_.settle_ns) settle();
  change_clock(false);
  ++result_.rounds;
  const auto p = static_cast<std::size_t>(p_state_);
  Ticks at = now_;
  unsigned packets = 0;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[i];
    admit_until(at);
    const std::uint64_t queued = queue.size();
    const auto taken = static_cast<unsigned>(std::min<std::uint64_t>(queued, settings_.burst));
    queues[i] = {.packets = taken};
    at += poll_cost_[p];
    if (taken == 0) continue;
    if (look && taken == settings_.burst) queues[i].waiting = static_cast<std::uint32_t>(queued - taken);
    result_.most_queued = std::max(result_.most_queued, queued);
    result_.queued_counts[queued] += taken;
    for (unsigned n = 0; n < taken; ++n) {
      at += packet_cost_[p];
      const std::uint64_t arrived = queue.times[queue.head++ & (queue.times.size() - 1)];
      result_.added.record(at - arrived - settings_.costs.packet);
    }
    packets += taken;
    result_.served += taken;
    queued_ -= taken;
  }
  at += round_cost_[p] - poll_cost_[p] * settings_.queues;
  spend(packets != 0 ? State::busy : State::polling, at - now_);
  return packets;
}

Ticks SimCore::pause_cost(Ticks length) const {
  if (length == 0) return 0;
  if (settings_.timed_pause) return length + settings_.costs.tpause_exit;
  const Ticks step = std::max<Ticks>(settings_.costs.pause_step, 1);
  return (length + step - 1) / step * step;
}

Ticks SimCore::pause(Ticks length) {
  ++result_.pauses;
  const Ticks took = pause_cost(length);
  spend(settings_.timed_pause ? State::tpause : State::pause, took);
  return took;
}

void SimCore::spend_idle(Ticks idle) {
  const bool deep = settings_.deep_idle && idle >= settings_.costs.c6_after;
  spend(deep ? State::c6 : State::c1, idle);
  change_clock(true);
  spend(State::waking, deep ? settings_.costs.c6_exit : settings_.costs.c1_exit);
}

Ticks SimCore::lateness() {
  const double late = -std::log(random_.unit()) * static_cast<double>(settings_.costs.timer_late_mean);
  return settings_.costs.timer_late + static_cast<Ticks>(late);
}

Ticks SimCore::sleep(Ticks length) {
  const Costs& costs = settings_.costs;
  const Ticks began = now_;
  ++result_.sleeps;
  ++result_.wakes;
  spend(State::entering, costs.system_call);
  spend_idle(length + lateness());
  return now_ - began;
}

void SimCore::arm(Armed wanted) {
  if (wanted == Armed::interrupts) spend(State::entering, settings_.costs.arm * settings_.queues);
  armed_ = wanted;
}

void SimCore::disarm(bool looked) {
  if (armed_ == Armed::nothing) return;
  if (looked) ++result_.rechecks;
  if (armed_ == Armed::interrupts) spend(State::entering, settings_.costs.arm * settings_.queues);
  armed_ = Armed::nothing;
}

Ticks SimCore::wait_for_interrupt(Ticks length, bool& woken) {
  const Ticks began = now_;
  spend(State::entering, settings_.costs.system_call);
  ++result_.sleeps;
  ++result_.wakes;
  // A packet that came after the look at its queue has raised the interrupt already.
  Ticks packet = next_ < arrivals_.size() ? arrivals_[next_] : kNever;
  if (queued_ != 0) packet = now_;
  woken = packet <= now_ + length;
  spend_idle(woken ? std::max(packet, now_) - now_ : length + lateness());
  if (woken) {
    ++result_.interrupts;
    spend(State::waking, settings_.costs.interrupt);
  }
  return now_ - began;
}

void SimCore::request(int p_state) {
  if (p_state == wanted_ || p_state < 0 || p_state >= static_cast<int>(settings_.p_states)) return;
  spend(State::entering, settings_.costs.p_request);
  wanted_ = p_state;
  effective_ = wanted_ == p_state_ ? kNever : now_ + settings_.costs.p_effective;
}

std::uint64_t SimCore::empty_rounds(Ticks length) const {
  if (queued_ != 0) return 0;  // packets came after the look at their queue
  Ticks until = std::min(end_, effective_);
  if (next_ < arrivals_.size()) until = std::min<Ticks>(until, arrivals_[next_]);
  // Each round, with its pause, ends before anything happens.
  return until <= now_ ? 0 : (until - now_) / empty_period(length);
}

void SimCore::spend_empty(std::uint64_t rounds, Ticks length) {
  result_.rounds += rounds;
  spend(State::polling, rounds * round_cost_[static_cast<std::size_t>(p_state_)]);
  if (length == 0) return;
  result_.pauses += rounds;
  spend(settings_.timed_pause ? State::tpause : State::pause, rounds * pause_cost(length));
}

CoreResult SimCore::finish() {
  admit_until(end_);
  result_.arrivals = next_ - before_;
  result_.queued = queued_;
  return std::move(result_);
}

}  // namespace splitplane::power::replay
