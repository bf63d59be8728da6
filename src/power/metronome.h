// Metronome (Faltelli et al., CoNEXT 2020; arXiv 2103.13263) for one thread a queue, to compare with. The worker
// empties its queues, sleeps, and looks again: a vacation. The paper chooses the vacation from the load for a target
// mean latency; with M threads that share a queue by trylock it is M V (1 - u) / (1 - u^M), where u is the load and V
// the target of the mean vacation. With one thread that is V, whatever the load. So here the load enters by what
// packets wait for each other: a packet waits V / 2 + u S / 2 (1 - u) on average (M/D/1 with vacations, S a packet's
// service).
#pragma once

#include <algorithm>
#include <utility>

#include "power/policy.h"
#include "power/settings.h"

namespace splitplane::power {

class Metronome {
 public:
  static constexpr bool kLooks = true;

  Metronome(const MetronomeSettings& settings, const Machine& machine)
      : us_(static_cast<double>(machine.ticks_per_us)),
        target_(settings.latency_us * us_),
        over_(static_cast<double>(machine.sleep_overshoot)) {}

  Action after(const Round& round) {
    const Ticks asked = std::exchange(asked_, 0);
    if (asked != 0 && round.rested != 0) {
      vacation_ += static_cast<double>(round.rested);
      if (!round.woken && round.rested >= asked)
        over_ += (static_cast<double>(round.rested - asked) - over_) * (1 - kAlpha);
    }
    if (round.packets != 0) {
      busy_ += static_cast<double>(round.busy);
      packets_ += round.packets;
      return {};
    }
    if (vacation_ > 0) end_cycle();
    // Work that is due comes first, and a sleep ends before the next timer.
    if (round.next_timer <= round.now) return {};
    const double free = static_cast<double>(round.next_timer - round.now);
    const double length = std::min(wanted() - over_, free - over_);
    if (length < kLeastUs * us_) {  // the sleep itself takes as long as the vacation may
      const auto pause = static_cast<Ticks>(std::min(us_, free));
      return pause == 0 ? Action{} : Action{.rest = Rest::pause, .length = pause};
    }
    asked_ = static_cast<Ticks>(length);
    return {.rest = Rest::sleep, .length = asked_};
  }

  template <class Show>
  void show(Show&& show) const {
    show("load", load_);
    show("vacation_us", wanted() / us_);
    show("overshoot_us", over_ / us_);
  }

 private:
  static constexpr double kAlpha = 0.75;  // of the moving averages, as in the authors' program
  static constexpr double kLeastUs = 1;

  // A vacation and the packets after it.
  void end_cycle() {
    load_ = kAlpha * load_ + (1 - kAlpha) * busy_ / (busy_ + vacation_);
    if (packets_ != 0) service_ = kAlpha * service_ + (1 - kAlpha) * busy_ / static_cast<double>(packets_);
    busy_ = vacation_ = 0;
    packets_ = 0;
  }

  // The vacation that keeps the target of the mean latency.
  [[nodiscard]] double wanted() const {
    const double load = std::min(load_, 0.99);
    return std::max(0.0, 2 * (target_ - load * service_ / (2 * (1 - load))));
  }

  double us_, target_, over_;
  double load_ = 0, service_ = 0;
  double busy_ = 0, vacation_ = 0;  // of this cycle
  std::uint64_t packets_ = 0;
  Ticks asked_ = 0;
};
static_assert(Policy<Metronome>);

}  // namespace splitplane::power
