// As few watts as a latency budget allows. The policy estimates the arrival rate, the cost of a packet and the cost of
// a wake-up. From these it chooses the slowest sufficient P-state and the cheapest way to be idle: pause, timed sleep
// or interrupt.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "power/p_state_ladder.h"
#include "power/policy.h"
#include "power/rate_estimate.h"
#include "power/settings.h"
#include "power/sleep_overshoot.h"
#include "power/wake_cost.h"

namespace splitplane::power {

class Budget {
 public:
  static constexpr bool kLooks = true;

  Budget(const BudgetSettings& settings, const Machine& machine)
      : machine_(machine),
        us_(machine.ticks_per_us),
        latency_(settings.latency_us * us_),
        spin_(settings.spin_us * us_),
        max_sleep_(Ticks{settings.max_sleep_ms} * 1000 * us_),
        dwell_(Ticks{settings.dwell_ms} * 1000 * us_),
        utilisation_(settings.utilisation),
        p_state_(machine, dwell_, kPatience),
        rate_(8 * kWindowUs * us_),
        fastest_(kFloodUs * us_),
        // Events and timers end the same sleep, so what the worker learns of one holds for the other.
        overshoot_(std::max(machine.sleep_overshoot, machine.interrupts ? machine.interrupt_latency : 0), latency_,
                   us_) {}

  // A round with packets costs a few additions only. All else happens at the end of a window of time, after a full
  // burst or before a sleep.
  Action after(const Round& round) {
    const Rest rested = std::exchange(rest_, Rest::none);
    if (round.rested != 0) learn(round, rested);
    if (round.packets != 0) {
      packets_ += round.packets;
      busy_ += round.busy;
      last_packet_ = round.now;
      burst_ = std::max<std::uint64_t>(burst_, round.packets);
      backlog_ = 0;
      if (round.packets >= machine_.burst) {
        look_at_backlog(round);
      } else {
        late_bursts_ = 0;
      }
    }
    if (round.now >= window_end_) end_window(round.now);
    Action action{.p_state = p_state_.request()};
    if (round.packets == 0 && round.next_timer > round.now) rest(round, action);
    return action;
  }

  // For SkipsEmpty: until the window ends, or until the silence is long enough for another kind of sleep.
  std::uint64_t skip_empty(const Round& first, Ticks period, std::uint64_t most) const {
    if (first.next_timer != kNever) return 0;
    Ticks quiet = kNever - last_packet_;  // the answer changes after this time without a packet
    if (first.rested == 0) {
      quiet = spin_;
    } else {
      if (interrupts_) quiet = gap_ > break_even_ ? 0 : std::min(quiet, overdue_ + 1);
      if (machine_.timed_pause) quiet = std::min(quiet, longest_rest_ + 1);
    }
    return std::min(most, rounds_before(std::min(window_end_, last_packet_ + quiet), first.now, period));
  }

  template <class Show>
  void show(Show&& show) const {
    const double us = static_cast<double>(us_);
    show("rate_pps", rate_.mean() * us * 1e6);
    show("rate_high_pps", rate_.high() * us * 1e6);
    show("cycles_per_packet", cost_ / p_state_.speed(p_state_.current()));
    show("utilisation", used_);
    show("p_state", static_cast<double>(p_state_.current()));
    show("gap_us", static_cast<double>(gap_) / us);
    show("sleep_us", static_cast<double>(sleep_) / us);
    show("fastest_pps", fastest_.rate() * us * 1e6);
    show("overshoot_us", static_cast<double>(overshoot_.high()) / us);
    show("sleep_cpu_us", timed_.mean() / us);
    show("interrupt_cpu_us", evented_.mean() / us);
    show("break_even_us", static_cast<double>(break_even_) / us);
    show("interrupts", interrupts_ ? 1 : 0);
  }

 private:
  static constexpr Ticks kWindowUs = 1000;
  static constexpr Ticks kLeastSleepUs = 4;          // below that, the system call takes most of it
  static constexpr Ticks kPauseUs = 1;               // without tpause: a spin of PAUSE instructions between polls
  static constexpr unsigned kPatience = 16;          // the most dwells to wait if steps down are taken back
  static constexpr double kFirmDown = 0.9;           // a step down needs some room, or noise would undo it
  static constexpr Ticks kLongestGapUs = 1'000'000;  // without a rate yet: a second
  static constexpr Ticks kFloodUs = 60'000'000;      // how long a flood is remembered, while it fades
  static constexpr Ticks kTriedGapUs = 1000;         // at longer gaps interrupts are better without a trial
  static constexpr unsigned kFloodedRetry = 32;      // windows between two trials
  static constexpr double kFilled = 0.75;            // the most of a ring that may fill in a sleep at fastest rate
  static constexpr double kWorth = 0.75;             // of the time awake for interrupts; above it pauses are as good

  // Learns from the last sleep. Its length counts only if its time ended it.
  void learn(const Round& round, Rest rested) {
    if (round.packets != 0 && round.rested >= kLeastSleepUs * us_) learn_fill(round);
    if (rested == Rest::none) return;
    if (trial_) trials_.take();
    if (rested == Rest::interrupt) {
      evented_.learn(round.rest_cpu);
    } else {
      timed_.learn(round.rest_cpu);
      if (round.woken) return;
      overshoot_.learn(asked_, round.rested);
      plan();
    }
  }

  // All packets in the queue came during the sleep.
  void learn_fill(const Round& round) {
    std::uint64_t most = 0;
    for (const QueueRound& queue : round.queues) most = std::max<std::uint64_t>(most, queue.packets + queue.waiting);
    fastest_.see(most, round.rested);
  }

  // Uses queueing delay instead of packet counts. It asks for P0 at once when a quarter of a ring waits. It also does
  // so when, after two full bursts in a row, more waits than the budget allows to process.
  void look_at_backlog(const Round& round) {
    std::uint64_t all = 0, longest = 0;
    for (const QueueRound& queue : round.queues) {
      all += queue.waiting;
      longest = std::max<std::uint64_t>(longest, queue.waiting);
    }
    // A driver may not report its ring's length; then it is at least as long as the longest queue seen. (With several
    // queues the shortest counts, and it is unknown which that is.)
    if (machine_.queues == 1) machine_.ring = std::max(machine_.ring, static_cast<unsigned>(longest));
    burst_ = std::max<std::uint64_t>(burst_, round.packets + all);
    backlog_ = all;
    const double delay = static_cast<double>(all) * cost_ / p_state_.speed(p_state_.current());
    late_bursts_ = delay > static_cast<double>(latency_) ? late_bursts_ + 1 : 0;
    if (longest > machine_.ring / 4 || late_bursts_ >= 2) climb_to(0, round.now);
  }

  void end_window(Ticks now) {
    if (!begun_) {
      begun_ = true;
      dwell_end_ = now + dwell_;
      last_packet_ = now;
      p_state_.begin(now);
    } else {
      const Ticks length = now - window_began_;
      rate_.add_window(packets_, length);
      fastest_.forget(length);
      // Counts packets that came, not packets that were taken: a window may begin with a backlog from the sleep before
      // it.
      const std::uint64_t with_backlog = packets_ + backlog_;
      fastest_.see(with_backlog - std::min(with_backlog, backlog_before_), length);
      trials_.end_window();
      used_ = static_cast<double>(busy_) / static_cast<double>(std::max<Ticks>(1, length));
      learn_cost();
      choose_p_state(now);
      // While only the estimate prevents sleeping.
      const unsigned seldom =
          longest_rest_ < latency_ ? kFloodedRetry : 1;  // a ring that overflowed is worse than a delay
      if (sleep_ < least_sleep() && longest_rest_ >= least_sleep() && ++forbidden_ % seldom == 0)
        overshoot_.forget_a_little();
    }
    packets_ = busy_ = burst_ = 0;
    backlog_before_ = backlog_;
    window_began_ = now;
    window_end_ = now + kWindowUs * us_;
    const double longest = static_cast<double>(kLongestGapUs * us_);
    gap_ = static_cast<Ticks>(rate_.mean() * longest > 1 ? 1 / rate_.mean() : longest);
    plan();
  }

  // The cost is stored as if at P0. A slower clock does not slow memory, so the value is too small for P0. It is never
  // too small for a P-state below the present one.
  void learn_cost() {
    if (packets_ == 0) return;
    const double count = static_cast<double>(packets_);
    const double seen = static_cast<double>(busy_) * p_state_.speed(p_state_.current()) / count;
    cost_ = cost_ == 0 ? seen : cost_ + (seen - cost_) * count / (count + 256);
  }

  // Chooses the slowest P-state that keeps the utilisation and processes the largest burst within the budget. It steps
  // up at once. It steps down by one if nothing within the last dwell would have needed more.
  void choose_p_state(Ticks now) {
    bursts_.end_period();
    bursts_.add(static_cast<double>(burst_));
    held_burst_.add(static_cast<double>(burst_));
    held_rate_.add(rate_.high());
    int needed = p_state_.slowest();
    while (needed > 0 && !suffices(needed, rate_.high(), bursts_.value(), 1)) --needed;
    const int below = p_state_.current() + 1;
    if (needed < p_state_.current()) {
      climb_to(needed, now);
    } else if (needed >= below && suffices(below, held_rate_.value(), held_burst_.value(), kFirmDown)) {
      p_state_.step_down(now);
    }
    if (now < dwell_end_) return;
    dwell_end_ = now + dwell_;
    held_burst_.end_period();
    held_rate_.end_period();
  }

  [[nodiscard]] bool suffices(int state, double rate, double burst, double part) const {
    const double cost = cost_ / p_state_.speed(state);
    return rate * cost <= utilisation_ * part && burst * cost <= static_cast<double>(latency_) * part;
  }

  void climb_to(int state, Ticks now) {
    const double before = p_state_.speed(p_state_.current());
    if (!p_state_.climb_to(state, now)) return;
    // The rest of this window runs at another speed, so its cost is converted to ticks of the new state.
    busy_ = static_cast<Ticks>(static_cast<double>(busy_) * before / p_state_.speed(state));
  }

  // Computes how long a sleep may be, after each window and each sleep.
  void plan() {
    const Ticks over = overshoot_.high();
    // The ring must hold what comes meanwhile, even if it comes at the fastest rate seen, from the first moment on.
    const Ticks flooded = fastest_.rate() > 0 ? ticks(kFilled * machine_.ring / fastest_.rate()) : kNever;
    const Ticks careful = overshoot_.careful();
    longest_rest_ = std::min(latency_, flooded);
    // Interrupts are not usable if a wake-up takes longer than the budget and the ring allow.
    interrupts_ = machine_.interrupts && latency_ > 0 && max_sleep_ > 0 && overshoot_.known() &&
                  overshoot_.mean() <= static_cast<double>(latency_) && careful <= flooded;
    // Above this utilisation, even at P0, there is little to save, and a sleep that is too long could cost packets.
    crowded_ = rate_.high() * cost_ > utilisation_;
    sleep_ = std::min(latency_ > over ? latency_ - over : 0, flooded > careful ? flooded - careful : 0);
    if (rate_.high() > 0) {
      const Ticks fill = ticks(machine_.ring / 4 / rate_.high());  // time to fill a quarter of it at the known rate
      longest_rest_ = std::min(longest_rest_, fill);
      sleep_ = std::min({sleep_, fill, 2 * fill > over ? 2 * fill - over : 0});
    }
    break_even_ = break_even();
    overdue_ = std::max(break_even_, sleep_ + ticks(overshoot_.mean()));
  }

  // The gap from which an interrupt takes less CPU time than timed sleeps. An interrupt costs a wake-up and a spin for
  // each packet, or for all packets that come within the wake-up. A timed sleep costs one wake-up each time.
  [[nodiscard]] Ticks break_even() const {
    const bool sleeps = sleep_ >= least_sleep();
    const double latency = overshoot_.mean(), spin = static_cast<double>(spin_);
    const double sleep = static_cast<double>(sleep_) + latency;
    if (evented_.known() && (timed_.known() || !sleeps)) {
      const double share = sleeps ? timed_.mean() / sleep : kWorth;
      // At a rate at which the worker does not spin, it collects packets.
      return std::max(spin_, ticks(std::max(0.0, (evented_.mean() + spin) / share - latency - spin)));
    }
    // The cost of either kind is taken as a wake-up. No gap shorter than two wake-ups is worth one.
    const double wake = std::max(latency, static_cast<double>(us_));
    return ticks(std::max(2 * latency, sleeps ? (latency + spin) * sleep / wake : 0));
  }

  // The shortest sleep that is worth its system call. If wake-ups are costly it is at most half of the longest sleep;
  // otherwise no sleep would ever show that they have become cheaper.
  [[nodiscard]] Ticks least_sleep() const {
    return std::max(kLeastSleepUs * us_, std::min(ticks(overshoot_.mean() / 4), longest_rest_ / 2));
  }

  static Ticks ticks(double value) {
    return value < 1e18 ? static_cast<Ticks>(value) : std::numeric_limits<Ticks>::max() / 4;
  }

  // The ladder: poll a while (a burst has gaps), pause, sleep for a time, sleep until a packet comes.
  void rest(const Round& round, Action& action) {
    const Ticks quiet = round.now - last_packet_;
    // At a mean gap shorter than the spin there are no gaps within bursts to spin through, so packets are collected in
    // sleeps.
    if (crowded_ || (quiet < spin_ && gap_ > spin_)) return;
    const Ticks free = round.next_timer - round.now;
    const Ticks over = overshoot_.high();  // a timed sleep ends this much later, and the timer would wait
    const Ticks sleep = std::min(sleep_, free > over ? free - over : 0);
    const Ticks gap = std::max(gap_, quiet);  // the rate predicts the next packet until the packet is overdue
    const bool timed = sleep >= least_sleep();
    const bool evented = interrupts_ && (gap_ > break_even_ || quiet > overdue_);
    const bool possible = evented ? timed && gap_ <= kTriedGapUs * us_ : interrupts_ && gap_ > spin_;
    trial_ = possible && trials_.due() && (timed_.told() || evented_.told());
    if (!evented && machine_.timed_pause && gap <= longest_rest_) {
      pause(std::min(longest_rest_, free), action);
    } else if (evented != trial_) {
      action = {Rest::interrupt, action.p_state, std::min(max_sleep_, free), evented_.wanted() || trial_};
      rest_ = action.rest;
    } else if (timed) {
      action = {Rest::sleep, action.p_state, sleep, timed_.wanted() || trial_};
      rest_ = action.rest;
      asked_ = sleep;
    } else {
      pause(std::min({machine_.timed_pause ? longest_rest_ : kPauseUs * us_, longest_rest_, free}), action);
    }
  }

  static void pause(Ticks length, Action& action) {
    if (length == 0) return;
    action.rest = Rest::pause;
    action.length = length;
  }

  Machine machine_;
  Ticks us_, latency_, spin_, max_sleep_, dwell_;
  double utilisation_;
  PStateLadder p_state_;
  RateEstimate rate_;
  FastestFill fastest_;
  SleepOvershoot overshoot_;
  WakeCost timed_, evented_;  // costs of sleeps that their time ends, and of those that packets may end
  Trials trials_;

  bool begun_ = false;
  Ticks window_began_ = 0, window_end_ = 0, dwell_end_ = 0, last_packet_ = 0;
  std::uint64_t packets_ = 0, busy_ = 0, burst_ = 0;  // in this window
  std::uint64_t backlog_ = 0, backlog_before_ = 0;    // packets left after the last round, and when the window began
  RecentMax bursts_, held_burst_, held_rate_;         // of the last two windows; of the last two dwells
  double cost_ = 0;                                   // busy ticks per packet at P0; 0: none measured yet
  double used_ = 0;                                   // utilisation of the last window
  unsigned late_bursts_ = 0, forbidden_ = 0;          // full bursts in a row; windows without a timed sleep
  bool crowded_ = false;
  bool interrupts_ = false;  // interrupts exist, and are fast enough as far as is known
  Rest rest_ = Rest::none;   // the last answer, if it is a sleep
  bool trial_ = false;       // that sleep is of the kind that seems to cost more
  Ticks asked_ = 0;          // length of the last timed sleep
  Ticks gap_ = 0, sleep_ = 0, longest_rest_ = 0, break_even_ = 0;
  Ticks overdue_ = 0;  // a silence longer than any timed sleep: the rate is no longer valid
};
static_assert(Policy<Budget>);

}  // namespace splitplane::power
