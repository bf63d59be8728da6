// As little energy as a latency budget allows. The policy estimates the arrival rate, the cost of a packet and of each
// way to be idle. From these and the prices of the core's states it chooses the P-state and the way to be idle
// together: pause, timed sleep or interrupt.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "power/idle_price.h"
#include "power/p_state_ladder.h"
#include "power/policy.h"
#include "power/rate_estimate.h"
#include "power/settings.h"
#include "power/sleep_depth.h"
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
        trains_(8 * kWindowUs * us_),
        regularity_(kBurstUs * us_),
        fastest_(kFloodUs * us_),
        sizes_(kBurstUs * us_),
        // Events and timers end the same sleep, so what the worker learns of one holds for the other.
        overshoot_(std::max(machine.sleep_overshoot, machine.interrupts ? machine.interrupt_latency : 0), latency_,
                   us_),
        depth_(max_sleep_, us_) {
    for (int state = 0; state <= p_state_.slowest(); ++state)
      prices_[static_cast<unsigned>(state)] = machine.prices.at(p_state_.speed(state));
  }

  // A round with packets costs a few additions only. All else happens at the end of a window of time, after a full
  // burst or before a sleep.
  Action after(const Round& round) {
    const Rest rested = std::exchange(rest_, Rest::none);
    if (round.rested != 0) learn(round, rested);
    if (round.packets != 0) {
      if (!in_train_) begin_train(round, rested);
      ++rounds_;
      packets_ += round.packets;
      busy_ += round.busy;
      last_packet_ = round.now;
      backlog_ = 0;
      if (round.packets >= machine_.burst) {
        look_at_backlog(round);
      } else {
        late_bursts_ = 0;
      }
    } else if (std::exchange(in_train_, false)) {
      spins_.begin_silence();
      learn_poll(round.now - last_packet_);
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
      if (!crowded_ && latency_ > 0) quiet = spin_;
    } else if (interrupts_) {
      quiet = kind_ == Rest::interrupt ? 0 : overdue_ + 1;
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
    show("power", power_);
    show("gap_us", static_cast<double>(gap_) / us);
    show("burst", burst_);
    show("train", train_);
    show("sleep_us", static_cast<double>(sleep_) / us);
    show("fastest_pps", fastest_.rate() * us * 1e6);
    show("overshoot_us", static_cast<double>(overshoot_.high()) / us);
    show("longest_sleep_us", static_cast<double>(depth_.usable()) / us);
    show("sleep_cpu_us", timed_.mean() / us);
    show("interrupt_cpu_us", evented_.mean() / us);
    show("break_even_us", static_cast<double>(break_even_) / us);
    show("interrupts", interrupts_ ? 1 : 0);
    show("spins", spins_.pays() ? 1 : 0);
  }

 private:
  static constexpr Ticks kWindowUs = 1000;
  static constexpr Ticks kLeastSleepUs = 4;          // below that, the system call takes most of it
  static constexpr Ticks kLeastFillUs = 16;          // in a shorter sleep a burst would look like a flood
  static constexpr Ticks kPauseUs = 1;               // without tpause: a spin of PAUSE instructions between polls
  static constexpr Ticks kPollsUs = 1;               // how late a pause ends, and some reserve
  static constexpr unsigned kPatience = 16;          // the most dwells to wait if steps down are taken back
  static constexpr double kFirmDown = 0.9;           // a step down needs some room, or noise would undo it
  static constexpr double kFirmGain = 0.99;          // another P-state must take less than this of the present power
  static constexpr Ticks kLongestGapUs = 1'000'000;  // without a rate yet: a second
  static constexpr Ticks kFloodUs = 60'000'000;      // how long a flood is remembered, while it fades
  static constexpr Ticks kBurstUs = 500'000;         // how long a burst is remembered, while it fades
  static constexpr Ticks kTriedGapUs = 1000;         // at longer gaps interrupts are better without a trial
  static constexpr unsigned kFloodedRetry = 32;      // windows between two trials
  static constexpr double kFilled = 0.75;            // the most of a ring that may fill in a sleep at fastest rate
  static constexpr double kLate = 0.006;  // of the time a packet may find the worker asleep beyond the budget
  static constexpr double kUnsure = 1.5;  // times the variation of trains that was seen
  static constexpr double kRare = 0.05;   // of the packets may come in larger bursts: two that meet, mostly

  // The ways to be idle that the budget allows at a P-state, and what the worker's time costs there.
  struct Plan {
    Ticks sleep = 0;  // what a timed sleep asks for; 0: none is worth it
    Ticks pause = 0;  // the longest pause
    bool interrupts = false;
    Rest kind = Rest::pause;
    double idle = 1;       // mean power of the time without packets
    double power = 1;      // mean power of all time
    Ticks break_even = 0;  // the silence from which interrupts take less power
  };

  // Learns from the last sleep. Its length counts only if its time ended it.
  void learn(const Round& round, Rest rested) {
    if (round.packets != 0 && round.rested >= kLeastSleepUs * us_) learn_fill(round);
    if (rested == Rest::none) return;
    if (trial_) trials_.take();
    if (rested == Rest::interrupt) {
      evented_.learn(round.rest_cpu);
      // Deeper idle states show by wake-ups that are clearly later than those of short sleeps.
      depth_.learn(round.now, asked_, round.rested, round.woken,
                   std::max(latency_ - std::min(latency_, work_), ticks(2 * overshoot_.mean())));
    } else {
      timed_.learn(round.rest_cpu);
      if (round.woken) return;
      overshoot_.learn(asked_, round.rested);
      limit_sleeps();
    }
  }

  // All packets in the queue came during the sleep.
  void learn_fill(const Round& round) {
    std::uint64_t most = 0;
    for (const QueueRound& queue : round.queues) most = std::max<std::uint64_t>(most, queue.packets + queue.waiting);
    if (round.rested >= kLeastFillUs * us_ || most >= machine_.ring / 2) fastest_.see(most, round.rested);
  }

  // The first packets after a silence. More of them than the rate explains are a burst.
  void begin_train(const Round& round, Rest rested) {
    in_train_ = true;
    regularity_.begin_train(round.now);
    if (rested == Rest::interrupt && round.woken) {
      trains_.woke(round.rested, ticks(overshoot_.mean()));
    } else {
      trains_.found(round.rested);
    }
    std::uint64_t all = round.packets, longest = 0;
    for (const QueueRound& queue : round.queues) {
      all += queue.waiting;
      longest = std::max<std::uint64_t>(longest, queue.waiting);
    }
    const double found = static_cast<double>(all);
    sizes_.see(size_of_train(found, static_cast<double>(round.rested)), found);
    // What came in the worker's own sleep is no sign of a core that is too slow.
    excused_ = round.rested != 0 ? std::min<std::uint64_t>(longest + machine_.ring / 8, machine_.ring / 2) : 0;
    spins_.end_silence(round.rested == 0);
  }

  // Of `packets` that were found after `rested`: several trains may have come meanwhile.
  [[nodiscard]] double size_of_train(double packets, double rested) const {
    if (trains_.crowded()) return packets - rate_.mean() * rested;
    const double trains = trains_.rate() * rested;
    return trains > 0 ? packets * (1 - std::exp(-trains)) / trains : packets;
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
    backlog_ = all;
    const double delay = static_cast<double>(all) * cost_ / p_state_.speed(p_state_.current());
    late_bursts_ = delay > static_cast<double>(latency_) ? late_bursts_ + 1 : 0;
    const std::uint64_t much = std::max<std::uint64_t>(machine_.ring / 4, excused_);
    if (longest > much || (late_bursts_ >= 2 && longest > excused_)) climb_to(0, round.now);
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
      trains_.end_window(length - std::min(length, busy_), length);
      fastest_.forget(length);
      sizes_.forget(length);
      regularity_.forget(length);
      // Counts packets that came, not packets that were taken: a window may begin with a backlog from the sleep before
      // it.
      const std::uint64_t with_backlog = packets_ + backlog_;
      fastest_.see(with_backlog - std::min(with_backlog, backlog_before_), length);
      trials_.end_window(kind_ != kind_before_);
      kind_before_ = kind_;
      used_ = static_cast<double>(busy_) / static_cast<double>(std::max<Ticks>(1, length));
      learn_cost();
      learn_gap();
      limit_sleeps();
      choose_p_state(now);
      // While only the estimate prevents sleeping.
      const unsigned seldom =
          longest_rest_ < latency_ ? kFloodedRetry : 1;  // a ring that overflowed is worse than a delay
      if (sleep_ < least_sleep() && longest_rest_ >= least_sleep() && ++forbidden_ % seldom == 0)
        overshoot_.forget_a_little();
    }
    packets_ = busy_ = rounds_ = 0;
    backlog_before_ = backlog_;
    window_began_ = now;
    window_end_ = now + kWindowUs * us_;
    limit_sleeps();
    spins_.judge(evented_.known() ? evented_.mean() : std::max(overshoot_.mean(), static_cast<double>(us_)),
                 static_cast<double>(spin_));
    choose_rest();
  }

  // The cost is stored as if at P0. A slower clock does not slow memory, so the value is too small for P0. It is never
  // too small for a P-state below the present one.
  void learn_cost() {
    if (packets_ == 0) return;
    const double count = static_cast<double>(packets_);
    const double seen = static_cast<double>(busy_) * p_state_.speed(p_state_.current()) / count;
    cost_ = cost_ == 0 ? seen : cost_ + (seen - cost_) * count / (count + 256);
    // The more packets a round takes, the less of the round's own cost each of them bears. A busy core takes bursts.
    const double full = seen - poll_ * (static_cast<double>(rounds_) / count - 1.0 / machine_.burst);
    const double least = std::clamp(full, seen / 2, seen);
    full_cost_ = full_cost_ == 0 ? least : full_cost_ + (least - full_cost_) * count / (count + 256);
  }

  // What a round costs that finds nothing, as if at P0.
  void learn_poll(Ticks took) {
    const double seen = static_cast<double>(took) * p_state_.speed(p_state_.current());
    poll_ = poll_ == 0 ? seen : poll_ + (std::min(seen, 4 * poll_) - poll_) / 64;
  }

  // The mean silence: of trains where these can be told apart, else of packets.
  void learn_gap() {
    const double trains = trains_.crowded() ? rate_.mean() : std::min(trains_.rate(), rate_.mean());
    const double longest = static_cast<double>(kLongestGapUs * us_);
    gap_ = static_cast<Ticks>(trains * longest > 1 ? 1 / trains : longest);
    train_ = trains * longest > 1 ? rate_.mean() / trains : 1;
  }

  // Chooses the P-state of the least power among those that keep the utilisation and process the largest burst within
  // the budget. It steps up at once where it must. It steps down by one if nothing within the last dwell would have
  // needed more.
  void choose_p_state(Ticks now) {
    burst_ = sizes_.high(kRare);
    held_burst_.add(burst_);
    held_rate_.add(rate_.mean());
    const int current = p_state_.current();
    int needed = p_state_.slowest();
    while (needed > 0 && !suffices(needed, rate_.high(), burst_, 1)) --needed;
    if (needed < current) {
      climb_to(needed, now);
    } else if (p_state_.slowest() > 0 && p_state_.dwelt(now)) {
      const int target = cheapest();
      if (target > current && suffices(current + 1, held_rate_.value(), held_burst_.value(), kFirmDown)) {
        p_state_.step_down(now);
      } else if (target < current) {
        climb_to(current - 1, now);
      }
    }
    if (now < dwell_end_) return;
    dwell_end_ = now + dwell_;
    held_burst_.end_period();
    held_rate_.end_period();
  }

  [[nodiscard]] bool suffices(int state, double rate, double burst, double part) const {
    const double used = rate * full_cost_ / p_state_.speed(state);
    if (used > utilisation_ * part) return false;
    return burst * cost_ / p_state_.speed(state) + queueing(state, used) <= static_cast<double>(latency_) * part;
  }

  // What one packet in a hundred waits for those before it, if trains come at random times: P(wait > x) of a queue with
  // fixed service times S is about u exp(-y x / S), where u (exp(y) - 1) = y (Lundberg's bound). The more regular they
  // come the less it is, in proportion to the variation of their times (Kingman's bound).
  [[nodiscard]] double queueing(int state, double used) const {
    if (used <= 0.01) return 0;
    double y = 1 - std::log(used);
    for (int i = 0; i < 6; ++i) y = std::log1p(y / used);
    const double variation = std::min(1.0, kUnsure * regularity_.variation());
    return variation * std::log(100 * used) / y * std::max(1.0, train_) * cost_ / p_state_.speed(state);
  }

  // The P-state of the least power; the present one unless another is clearly better.
  [[nodiscard]] int cheapest() const {
    const int current = p_state_.current();
    int best = current;
    double least = kFirmGain * plan_for(current).power;
    for (int state = 0; state <= p_state_.slowest(); ++state) {
      if (state == current || !suffices(state, held_rate_.value(), held_burst_.value(), kFirmDown)) continue;
      const double power = plan_for(state).power;
      if (power < least) {
        least = power;
        best = state;
      }
    }
    return best;
  }

  void climb_to(int state, Ticks now) {
    const double before = p_state_.speed(p_state_.current());
    if (!p_state_.climb_to(state, now)) return;
    // The rest of this window runs at another speed, so its cost is converted to ticks of the new state.
    busy_ = static_cast<Ticks>(static_cast<double>(busy_) * before / p_state_.speed(state));
  }

  // How long the worker takes for a burst. One that takes all of the budget is late in any case.
  [[nodiscard]] Ticks work_of(double burst, int state) const {
    const double work = burst > 1 ? (burst - 1) * cost_ / p_state_.speed(state) : 0;
    return std::min(ticks(work), latency_ - latency_ / 4);
  }

  // The burst that a wait has to leave time for: the largest in some time, and the usual one.
  [[nodiscard]] double work_burst() const { return std::max(burst_, train_); }

  [[nodiscard]] Plan plan_for(int state) const {
    const Ticks left = latency_ - work_of(work_burst(), state);
    const double over = overshoot_.mean(), us = static_cast<double>(us_);
    Plan plan;
    plan.sleep = sleep_within(left);
    if (plan.sleep < least_sleep()) plan.sleep = 0;
    // It ends a little late, and then a poll or two find the packet.
    const Ticks late = kPollsUs * us_ + ticks(2 * (poll_ + cost_) / p_state_.speed(state));
    plan.pause = std::min(longest_rest_, left > 2 * late ? left - late : left / 2);
    if (!machine_.timed_pause) plan.pause = std::min({kPauseUs * us_, longest_rest_, latency_});
    // Where it is a near thing, the estimate wavers; so they are begun with some room only.
    plan.interrupts = answered_ && over <= (interrupts_ ? 1 : kFirmDown) * static_cast<double>(left);

    const double wake = std::max(over, us);  // what a wake-up costs until it is known
    const double speed = p_state_.speed(state);
    IdleFacts facts{.poll = poll_ / speed,
                    .pause = static_cast<double>(plan.pause),
                    .timed_pause = machine_.timed_pause,
                    .sleep = plan.sleep == 0 ? 0 : static_cast<double>(plan.sleep) + over,
                    .sleep_work = timed_.known() ? timed_.mean() : wake,
                    .interrupt = plan.interrupts ? static_cast<double>(depth_.hoped()) : 0,
                    .interrupt_work = evented_.known() ? evented_.mean() : wake,
                    .wake = over,
                    .spin = spins_.pays() ? static_cast<double>(spin_) : 0,
                    .gap = static_cast<double>(gap_),
                    .deep_after = static_cast<double>(machine_.prices.deep_after_us * us_)};
    const IdlePrice price(prices_[static_cast<unsigned>(state)], facts);
    plan.idle = price.pause();
    if (plan.sleep != 0 && price.sleep() < plan.idle) {
      plan.idle = price.sleep();
      plan.kind = Rest::sleep;
    }
    plan.break_even = ticks(price.break_even(plan.idle));
    // Packets closer than the spin are collected, because an interrupt costs the sender as well.
    if (plan.interrupts && gap_ > spin_ && price.interrupt(facts.gap) < plan.idle) {
      plan.idle = price.interrupt(facts.gap);
      plan.kind = Rest::interrupt;
    }
    const double used = std::min(1.0, rate_.mean() * cost_ / speed);
    plan.power = used * price.none() + (1 - used) * plan.idle;
    return plan;
  }

  void choose_rest() {
    const Plan plan = plan_for(p_state_.current());
    kind_ = plan.kind;
    power_ = plan.power;
    pause_ = plan.pause;
    break_even_ = std::max(spin_, plan.break_even);
    interrupts_ = plan.interrupts;
    overdue_ = std::max(break_even_, sleep_ + ticks(overshoot_.mean()));
  }

  // Computes how long a sleep may be, after each window and each timed sleep.
  void limit_sleeps() {
    // The ring must hold what comes meanwhile, even if it comes at the fastest rate seen, from the first moment on.
    flooded_ = fastest_.rate() > 0 ? ticks(kFilled * machine_.ring / fastest_.rate()) : kNever;
    fill_ = rate_.high() > 0 ? ticks(machine_.ring / 4 / rate_.high()) : kNever;  // a quarter, at the known rate
    longest_rest_ = std::min({latency_, flooded_, fill_});
    // Interrupts are not usable if a wake-up takes longer than the budget and the ring allow.
    answered_ = machine_.interrupts && latency_ > 0 && max_sleep_ > 0 && overshoot_.known() &&
                overshoot_.mean() <= static_cast<double>(latency_) && overshoot_.careful() <= flooded_;
    interrupts_ = interrupts_ && answered_;
    // Above this utilisation, even at P0, there is little to save, and a sleep that is too long could cost packets.
    crowded_ = rate_.high() * full_cost_ > utilisation_;
    work_ = work_of(work_burst(), p_state_.current());
    sleep_ = sleep_within(latency_ - work_);
  }

  // The longest timed sleep that keeps a packet from waiting longer than `left`, and the ring from filling.
  [[nodiscard]] Ticks sleep_within(Ticks left) const {
    const Ticks over = overshoot_.margin(kLate, left), careful = overshoot_.careful();
    Ticks sleep = std::min(left > over ? left - over : 0, flooded_ > careful ? flooded_ - careful : 0);
    if (fill_ != kNever) sleep = std::min({sleep, fill_, 2 * fill_ > over ? 2 * fill_ - over : 0});
    return sleep;
  }

  // The shortest sleep that is worth its system call. If wake-ups are costly it is at most half of the longest sleep;
  // otherwise no sleep would ever show that they have become cheaper.
  [[nodiscard]] Ticks least_sleep() const {
    return std::max(kLeastSleepUs * us_, std::min(ticks(overshoot_.mean() / 4), longest_rest_ / 2));
  }

  static Ticks ticks(double value) {
    return value < 1e18 ? static_cast<Ticks>(value) : std::numeric_limits<Ticks>::max() / 4;
  }

  // Poll a while before an interrupt, where that pays; then pause, sleep for a time, or sleep until a packet comes.
  void rest(const Round& round, Action& action) {
    if (crowded_ || latency_ == 0) return;
    const Ticks quiet = round.now - last_packet_;
    // The rate predicts the next packet until the packet is overdue.
    const bool evented = interrupts_ && (kind_ == Rest::interrupt || quiet > overdue_);
    if (evented && quiet < spin_ && spins_.due()) {
      spins_.spin();
      return;
    }
    const Ticks free = round.next_timer - round.now;
    const Ticks over = overshoot_.high();  // a sleep ends this much later, and the timer would wait
    const Ticks before_timer = free > over ? free - over : 0;
    const Ticks sleep = std::min(sleep_, before_timer);
    const bool may_sleep = sleep >= least_sleep();
    const bool may_wait = interrupts_ && before_timer >= kLeastSleepUs * us_;
    Rest kind = evented ? Rest::interrupt : kind_;
    trial_ = false;
    if (trials_.due()) {
      const Rest other = kind == Rest::interrupt    ? may_sleep && gap_ <= kTriedGapUs * us_ ? Rest::sleep : kind
                         : may_wait && gap_ > spin_ ? Rest::interrupt
                         : may_sleep                ? Rest::sleep
                                                    : kind;
      trial_ = other != kind;
      kind = other;
    }
    if (kind == Rest::interrupt && may_wait) {
      asked_ = std::min({max_sleep_, depth_.next(), before_timer});
      action = {Rest::interrupt, action.p_state, asked_, evented_.wanted() || trial_};
      rest_ = action.rest;
    } else if (kind != Rest::pause && may_sleep) {
      asked_ = sleep;
      action = {Rest::sleep, action.p_state, sleep, timed_.wanted() || trial_};
      rest_ = action.rest;
    } else {
      trial_ = false;
      const Ticks length = std::min(pause_, free);
      if (length == 0) return;
      action.rest = Rest::pause;
      action.length = length;
    }
  }

  Machine machine_;
  Ticks us_, latency_, spin_, max_sleep_, dwell_;
  double utilisation_;
  PStateLadder p_state_;
  RateEstimate rate_;
  TrainRate trains_;
  Regularity regularity_;
  FastestFill fastest_;
  BurstSizes sizes_;
  SleepOvershoot overshoot_;
  SleepDepth depth_;
  WakeCost timed_, evented_;  // costs of sleeps that their time ends, and of those that packets may end
  Trials trials_;
  Spins spins_;
  std::array<StatePrices, 32> prices_{};

  bool begun_ = false, in_train_ = false;
  Ticks window_began_ = 0, window_end_ = 0, dwell_end_ = 0, last_packet_ = 0;
  std::uint64_t packets_ = 0, busy_ = 0;            // in this window
  std::uint64_t rounds_ = 0;                        // ... that had packets
  double burst_ = 1;                                // packets that come at once, all but a few
  std::uint64_t backlog_ = 0, backlog_before_ = 0;  // packets left after the last round, and when the window began
  std::uint64_t excused_ = 0;                 // this number of packets may wait in a queue after the worker's own sleep
  RecentMax held_burst_, held_rate_;          // of the last two dwells
  double cost_ = 0;                           // busy ticks per packet at P0; 0: none measured yet
  double full_cost_ = 0;                      // the same if each round takes a full burst
  double poll_ = 0;                           // ticks of a round without packets at P0
  double train_ = 1;                          // mean packets of a train
  double used_ = 0;                           // utilisation of the last window
  double power_ = 1;                          // as the prices say, relative to an active core at P0
  unsigned late_bursts_ = 0, forbidden_ = 0;  // full bursts in a row; windows without a timed sleep
  bool crowded_ = false;
  bool answered_ = false;               // interrupts exist, and are fast enough for budget and ring as far as is known
  bool interrupts_ = false;             // ... also with the work of a burst at this P-state
  Rest kind_ = Rest::interrupt;         // what the time without packets is spent in
  Rest kind_before_ = Rest::interrupt;  // ... in the window before
  Rest rest_ = Rest::none;              // the last answer, if it is a sleep
  bool trial_ = false;                  // that sleep is of the kind that seems to cost more
  Ticks asked_ = 0;                     // length of the last sleep
  Ticks gap_ = 0, sleep_ = 0, pause_ = 0, longest_rest_ = 0, break_even_ = 0, work_ = 0;
  Ticks flooded_ = kNever, fill_ = kNever;  // how long the ring lasts at the fastest rate, and a quarter at this one
  Ticks overdue_ = 0;                       // a silence longer than any timed sleep: the rate is no longer valid
};
static_assert(Policy<Budget>);

}  // namespace splitplane::power
