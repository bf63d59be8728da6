// DPDK's example l3fwd-power in its legacy mode, as of 22.11, for comparison. It is the ancestor of Algorithm 1. This
// class has its thresholds and its defects (docs/operate/power.md lists them), except those that would crash.
#pragma once

#include <algorithm>
#include <utility>

#include "power/policy.h"
#include "power/settings.h"

namespace splitplane::power {

class L3fwd {
 public:
  static constexpr bool kLooks = true;

  L3fwd(const L3fwdSettings& settings, const Machine& machine)
      : us_(machine.ticks_per_us),
        wait_(Ticks{settings.wait_ms} * 1000 * us_),
        interrupts_(machine.interrupts),
        slowest_(std::clamp<int>(static_cast<int>(machine.p_states), 1, static_cast<int>(machine.speed.size())) - 1) {}

  Action after(const Round& round) {
    if (!begun_) {
      begun_ = true;
      scaling_timer_ = round.now + kScalingPeriodUs * us_;
      asked_ = slowest_ == 0 ? 0 : Action::kKeep;
    }
    // After a suspension `goto start_rx` skips the timers and the loop counter, so an idle core never steps down.
    if (!std::exchange(skip_timers_, false)) {
      ++loops_;
      if (round.now >= scaling_timer_) scale_down(round.now);
    }
    processed_ += round.packets;

    const std::size_t count = std::min<std::size_t>(round.queues.size(), queues_.size());
    std::size_t idle = 0;
    Ticks idle_hint = kSuspendThreshold;
    Frequency highest = Frequency::current;
    for (std::size_t i = 0; i < count; ++i) {
      Queue& queue = queues_[i];
      if (round.queues[i].packets == 0) {
        queue.empty_polls = std::min(queue.empty_polls + 1, kSuspendThreshold);
        if (queue.empty_polls > kMinZeroPollCount) {
          ++idle;
          idle_hint = std::min<Ticks>(idle_hint, queue.empty_polls < kSuspendThreshold ? 1 : kSuspendThreshold);
        }
      } else {
        queue.empty_polls = 0;
        queue.hint = frequency_hint(round.queues[i].waiting);
      }
      // Only a packet writes the hint, so an old hint counts again in every round.
      highest = std::max(highest, queue.hint);
    }

    if (idle != count || count == 0) {
      if (highest == Frequency::highest) p_state_ = 0;
      if (highest == Frequency::higher) p_state_ = std::max(0, p_state_ - 1);
      return {.p_state = request()};
    }
    return rest(idle_hint, round);
  }

  // For SkipsEmpty: until a queue's count reaches a threshold or the scaling timer expires.
  std::uint64_t skip_empty(const Round& first, Ticks period, std::uint64_t most) {
    if (first.next_timer != kNever) return 0;
    const std::size_t count = std::min<std::size_t>(first.queues.size(), queues_.size());
    bool idle = true, suspended = true;  // of all queues
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned seen = queues_[i].empty_polls;
      idle = idle && seen > kMinZeroPollCount;
      suspended = suspended && seen == kSuspendThreshold;
      if (seen <= kMinZeroPollCount) most = std::min<std::uint64_t>(most, kMinZeroPollCount - seen);
      if (seen < kSuspendThreshold) most = std::min<std::uint64_t>(most, kSuspendThreshold - 1 - seen);
    }
    if (suspended) return most;  // without interrupts it polls and no longer counts
    for (std::size_t i = 0; i < count && !idle; ++i) {
      if (queues_[i].hint != Frequency::current) return 0;
    }
    if (skip_timers_) return 0;
    most = std::min(most, rounds_before(scaling_timer_, first.now, period));
    for (std::size_t i = 0; i < count; ++i) {
      unsigned& seen = queues_[i].empty_polls;
      seen = static_cast<unsigned>(std::min<std::uint64_t>(seen + most, kSuspendThreshold));
    }
    loops_ += most;
    if (idle) slept_us_ += most;
    return most;
  }

  template <class Show>
  void show(Show&& show) const {
    show("p_state", static_cast<double>(p_state_));
    show("trend", static_cast<double>(trend_));
    show("slept_us", static_cast<double>(slept_us_));
  }

 private:
  // Names and values of l3fwd-power.
  static constexpr unsigned kMinZeroPollCount = 10, kSuspendThreshold = 300, kMaxPktBurst = 32;
  static constexpr unsigned kGear1 = kMaxPktBurst, kGear2 = 2 * kMaxPktBurst, kGear3 = 3 * kMaxPktBurst;
  static constexpr unsigned kTrend1 = 1, kTrend2 = 100, kUpThreshold = 10000;
  static constexpr Ticks kScalingPeriodUs = 100'000;

  enum class Frequency : std::uint8_t { current, higher, highest };
  struct Queue {
    unsigned empty_polls = 0;
    Frequency hint = Frequency::current;
  };

  // power_freq_scaleup_heuristic. The trend belongs to the core, so queues add up.
  Frequency frequency_hint(std::uint32_t waiting) {
    if (waiting > kGear3) {
      trend_ = 0;
      return Frequency::highest;
    }
    if (waiting > kGear2) {
      trend_ += kTrend2;
    } else if (waiting > kGear1) {
      trend_ += kTrend1;
    }
    if (trend_ <= kUpThreshold) return Frequency::current;
    trend_ = 0;
    return Frequency::higher;
  }

  // power_timer_cb, ten times a second. It steps down by one if the core paused a quarter of the time, or took less
  // than a full burst a loop. Without saturation the latter is always true.
  void scale_down(Ticks now) {
    scaling_timer_ = now + kScalingPeriodUs * us_;
    if (slept_us_ * 4 >= kScalingPeriodUs || processed_ / loops_ < kMaxPktBurst)
      p_state_ = std::min(slowest_, p_state_ + 1);
    processed_ = loops_ = slept_us_ = 0;
  }

  // Keeps the contract of the loop, although l3fwd-power knows only its own timers: work that is due, or will be,
  // bounds the idle time.
  Action rest(Ticks hint, const Round& round) {
    Action action{.p_state = request()};
    const bool suspend = hint >= kSuspendThreshold;
    skip_timers_ = suspend;
    if (!suspend) slept_us_ += hint;
    if (round.next_timer <= round.now || (suspend && (!interrupts_ || wait_ == 0))) return action;
    action.rest = suspend ? Rest::interrupt : Rest::pause;
    action.length = std::min(suspend ? wait_ : hint * us_, round.next_timer - round.now);
    return action;
  }

  int request() { return std::exchange(asked_, p_state_) == p_state_ ? Action::kKeep : p_state_; }

  Ticks us_, wait_;
  bool interrupts_;
  int slowest_;
  bool begun_ = false, skip_timers_ = false;
  int p_state_ = 0, asked_ = 0;
  unsigned trend_ = 0;
  std::uint64_t loops_ = 0, processed_ = 0;
  Ticks slept_us_ = 0, scaling_timer_ = 0;
  std::array<Queue, kMaxQueues> queues_{};
};
static_assert(Policy<L3fwd>);

}  // namespace splitplane::power
