// Algorithm 1 of paper PWR ("DPDK Per-Core Packet Polling with Integrated Active and Idle Power Management"), line by
// line. What the paper leaves undefined is completed. docs/operate/power.md numbers the completions and gives their
// reasons. The reading `printed` has neither of the two completions that change what the lines do: no way down, and the
// trend of a queue is set back by lines 15 and 21 only. As it can only step up, it begins at the slowest P-state.
#pragma once

#include <algorithm>

#include "power/p_state_ladder.h"
#include "power/policy.h"
#include "power/settings.h"

namespace splitplane::power {

class Paper {
 public:
  static constexpr bool kLooks = true;

  enum class Reading : std::uint8_t { completed, printed };

  Paper(const PaperSettings& settings, const Machine& machine, Reading reading = Reading::completed)
      : settings_(settings),
        printed_(reading == Reading::printed),
        short_hint_(settings.short_idle_us * machine.ticks_per_us),
        longest_sleep_(Ticks{settings.wait_ms} * 1000 * machine.ticks_per_us),
        halving_(std::max<Ticks>(1, Ticks{settings.trend_decay_us} * machine.ticks_per_us)),
        dwell_(Ticks{settings.down_dwell_ms} * 1000 * machine.ticks_per_us),
        interrupts_(machine.interrupts),
        queues_in_use_(std::clamp(machine.queues, 1U, kMaxQueues)),
        p_state_(machine, dwell_) {}

  Action after(const Round& round) {
    if (!begun_) begin(round.now);
    if (!printed_) decay_trends(round.now);
    busy_ += round.busy;

    // Line 2, and completion three: hints are valid in this round only, so an old hint is never applied again.
    Frequency lcore_max_freq_hint = Frequency::keep;
    Idle lcore_min_idle_hint = Idle::interrupt;
    // Lines 3 and 23-24: the least idle and the fastest hint of all queues. Completion five: a queue that is not idle
    // yet hints `none`, which is the least, so the core stays awake.
    const std::size_t count = std::min<std::size_t>(round.queues.size(), queues_.size());
    if (count == 0 || round.packets != 0) lcore_min_idle_hint = Idle::none;
    for (std::size_t i = 0; i < count; ++i) {
      const QueueRound& seen = round.queues[i];
      Queue& rxq = queues_[i];
      if (seen.packets == 0) {  // line 4
        lcore_min_idle_hint = std::min(lcore_min_idle_hint, idle_hint(rxq));
      } else {  // line 11; completion thirteen: this is the branch "packets arrived"
        lcore_min_idle_hint = Idle::none;
        lcore_max_freq_hint = std::max(lcore_max_freq_hint, freq_hint(rxq, seen.waiting));
      }
    }

    if (lcore_max_freq_hint == Frequency::highest) {  // lines 25-26
      step_up_to(0, round.now);
    } else if (lcore_max_freq_hint == Frequency::next) {  // lines 27-28
      step_up_to(std::max(0, p_state_.current() - 1), round.now);
    } else if (!printed_) {
      step_down_if_it_suffices(round.now);
    }
    return rest(lcore_min_idle_hint, round);
  }

  // For SkipsEmpty: until a queue's count reaches a threshold or a window of the utilisation ends.
  std::uint64_t skip_empty(const Round& first, Ticks period, std::uint64_t most) {
    if (first.next_timer != kNever) return 0;
    if (!printed_) most = std::min(most, rounds_before(window_began_ + dwell_, first.now, period));
    const std::size_t count = std::min<std::size_t>(first.queues.size(), queues_.size());
    for (std::size_t i = 0; i < count; ++i) {
      for (const unsigned threshold : {settings_.short_idle_polls, settings_.long_idle_polls}) {
        const unsigned seen = queues_[i].empty_poll_cnt;
        if (seen < threshold) most = std::min<std::uint64_t>(most, threshold - 1 - seen);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      unsigned& seen = queues_[i].empty_poll_cnt;
      seen = static_cast<unsigned>(std::min<std::uint64_t>(seen + most, settings_.long_idle_polls));
    }
    return most;
  }

  template <class Show>
  void show(Show&& show) const {
    unsigned shortest = ~0U, trend = 0;
    for (unsigned i = 0; i < queues_in_use_; ++i) {
      shortest = std::min(shortest, queues_[i].empty_poll_cnt);
      trend = std::max(trend, queues_[i].trend);
    }
    show("p_state", static_cast<double>(p_state_.current()));
    show("empty_polls", static_cast<double>(shortest));
    show("trend", static_cast<double>(trend));
    show("utilisation", utilisation_);
  }

 private:
  enum class Frequency : std::uint8_t { keep = 0, next = 1, highest = 2 };
  enum class Idle : std::uint8_t { none, pause, interrupt };  // 0, 1 and 300 us as printed

  // Completion five: the trend belongs to a queue. A trend of the core would grow faster with each queue.
  struct Queue {
    unsigned empty_poll_cnt = 0;
    unsigned trend = 0;
  };

  void begin(Ticks now) {
    begun_ = true;
    last_halving_ = window_began_ = now;
    p_state_.begin(now, printed_ ? p_state_.slowest() : 0);
  }

  // Lines 5-10. Completion four: only a packet resets the count (line 12), so a sleep that reached its time limit is
  // followed by the next one at once. Completion two: an empty queue has no trend.
  Idle idle_hint(Queue& rxq) const {
    if (!printed_) rxq.trend = 0;
    if (rxq.empty_poll_cnt < settings_.long_idle_polls) ++rxq.empty_poll_cnt;     // line 5; it need not count further
    if (rxq.empty_poll_cnt >= settings_.long_idle_polls) return Idle::interrupt;  // lines 9-10
    if (rxq.empty_poll_cnt >= settings_.short_idle_polls) return Idle::pause;     // lines 6-8
    return Idle::none;
  }

  // Lines 12-21. rxq_packet_cnt (line 13) is read after the packets were taken (line 4), as in l3fwd-power. So it
  // counts packets that still wait.
  Frequency freq_hint(Queue& rxq, std::uint32_t rxq_packet_cnt) const {
    rxq.empty_poll_cnt = 0;                        // line 12
    if (rxq_packet_cnt > settings_.max_packets) {  // lines 14-15
      rxq.trend = 0;
      return Frequency::highest;
    }
    if (rxq_packet_cnt > settings_.climb_packets) {  // lines 16-17
      rxq.trend += settings_.trend_climb;
    } else if (rxq_packet_cnt > settings_.step_packets) {  // lines 18-19
      rxq.trend += settings_.trend_step;
    }
    if (rxq.trend < settings_.trend_limit) return Frequency::keep;
    rxq.trend = 0;  // lines 20-21
    return Frequency::next;
  }

  // Completion two: a trend halves in each trend_decay_us. Otherwise rare events would add up to a step in the end.
  void decay_trends(Ticks now) {
    const Ticks passed = now - last_halving_;
    if (passed < halving_) return;
    const Ticks halvings = passed / halving_;
    last_halving_ += halvings * halving_;
    for (unsigned i = 0; i < queues_in_use_; ++i) queues_[i].trend = halvings < 32 ? queues_[i].trend >> halvings : 0;
  }

  void step_up_to(int index, Ticks now) {
    if (p_state_.climb_to(index, now)) begin_window(now);
  }

  // Completion one, the way down: one step if the core would stay below down_utilisation there. The judgement takes a
  // whole dwell at the present P-state.
  void step_down_if_it_suffices(Ticks now) {
    const Ticks passed = now - window_began_;
    if (passed < dwell_ || passed == 0) return;
    utilisation_ = static_cast<double>(busy_) / static_cast<double>(passed);
    const int below = p_state_.current() + 1;
    if (below <= p_state_.slowest()) {
      const double there = utilisation_ * p_state_.speed(p_state_.current()) / p_state_.speed(below);
      if (there < settings_.down_utilisation) p_state_.step_down(now);
    }
    begin_window(now);
  }

  void begin_window(Ticks now) {
    window_began_ = now;
    busy_ = 0;
  }

  // Lines 29-37. Completion eleven: work that no packet announces ends the idle time. Completion twelve: the 10 ms of
  // line 37 are the longest wait for the event of line 34. Without interrupts the hint stays the short one, because no
  // event would end a long sleep.
  Action rest(Idle hint, const Round& round) {
    Action action{.p_state = p_state_.request()};
    if (hint == Idle::none || round.next_timer <= round.now) return action;
    const Ticks free = round.next_timer - round.now;
    if (hint == Idle::interrupt && interrupts_ && longest_sleep_ > 0) {  // lines 31-36
      action.rest = Rest::interrupt;
      action.length = std::min(longest_sleep_, free);
    } else if (short_hint_ > 0) {  // lines 29-30
      action.rest = Rest::pause;
      action.length = std::min(short_hint_, free);
    }
    return action;
  }

  PaperSettings settings_;
  bool printed_;
  Ticks short_hint_, longest_sleep_, halving_, dwell_;
  bool interrupts_;
  unsigned queues_in_use_;
  PStateLadder p_state_;
  bool begun_ = false;
  Ticks last_halving_ = 0;
  Ticks window_began_ = 0, busy_ = 0;
  double utilisation_ = 0;
  std::array<Queue, kMaxQueues> queues_{};
};
static_assert(Policy<Paper>);

}  // namespace splitplane::power
