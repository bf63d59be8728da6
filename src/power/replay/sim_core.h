// A simulated core with its receive queues: how time, clock, idle states and interrupts affect a worker, at the costs
// of costs.h. It knows no policy; simulate.h drives it as engine/worker.h drives a real core. Times are ns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/histogram.h"
#include "base/random.h"
#include "power/policy.h"
#include "power/replay/costs.h"

namespace splitplane::power::replay {

struct CoreSettings {
  unsigned queues = 1;
  unsigned ring = 1024;
  unsigned burst = 32;
  bool interrupts = true;
  bool deep_idle = true;        // false: a PM QoS request keeps the core out of C6
  bool timed_pause = false;     // tpause
  unsigned p_states = 1;        // speeds fall evenly from 1 ...
  double slowest = 1.2 / 2.6;   // ... to this
  std::uint64_t seed = 1;       // for random events on the core
  std::uint64_t settle_ns = 0;  // what happens before is not counted: policy and clock settle meanwhile
  Costs costs;
  CostTable prices;  // of the core's states
};

// How a core's time is spent.
enum class State : std::uint8_t { busy, polling, pause, tpause, entering, c1, c6, waking, halted };
inline constexpr std::size_t kStates = 9;
inline constexpr std::array<const char*, kStates> kStateNames{"busy",     "polling",  "pause",  "tpause", "entering",
                                                              "sleep_c1", "sleep_c6", "waking", "halted"};
// False for a thread that gave up the core, and for one that waits in tpause.
[[nodiscard]] constexpr bool is_awake(State state) {
  return state != State::tpause && state != State::c1 && state != State::c6;
}

// What policies may know of such a core: what a worker measures at its start by short sleeps (C1).
[[nodiscard]] Machine machine_of(const CoreSettings& settings);

struct CoreResult {
  std::array<std::array<std::uint64_t, kStates>, 32> time{};  // [P-state][State], ns
  std::uint64_t arrivals = 0, served = 0, lost = 0, queued = 0;
  std::uint64_t most_queued = 0;             // on one queue, when it was looked at
  std::vector<std::uint64_t> queued_counts;  // packets taken, by the number that was queued then
  Histogram added;                           // ns from arrival until processed, less Costs::packet
  std::uint64_t rounds = 0, pauses = 0, sleeps = 0, wakes = 0, interrupts = 0, rechecks = 0, p_transitions = 0;
};

class SimCore {
 public:
  // `arrivals` ascend and stay valid. The time ends at `end`.
  SimCore(const CoreSettings& settings, std::span<const std::uint64_t> arrivals, std::uint64_t end);

  [[nodiscard]] bool ended() const { return now_ >= end_; }
  [[nodiscard]] Ticks now() const { return now_; }

  // One round over all queues: it takes and processes packets and reports the round. `look`: it also asks what is left
  // after a full burst.
  [[nodiscard]] unsigned run_round(std::span<QueueRound> queues, bool look);

  // A sleep that a packet or another worker may end is armed first. The worker then looks at everything once more and
  // only then sleeps. `looked`: that look found work.
  enum class Armed : std::uint8_t { nothing, kicks, interrupts };
  [[nodiscard]] Armed armed() const { return armed_; }
  void arm(Armed wanted);
  void disarm(bool looked = false);

  // Each spends the time and returns how long it really took. `woken`: a packet ended it.
  Ticks pause(Ticks length);
  Ticks sleep(Ticks length);
  Ticks wait_for_interrupt(Ticks length, bool& woken);
  void request(int p_state);
  // CPU time so far. The exit from an idle state counts as the core's.
  [[nodiscard]] Ticks cpu_time() const { return awake_; }

  // How many further rounds certainly find no packet, if each is followed by a pause of `length` (0: none), and how
  // long each takes. spend_empty executes them.
  [[nodiscard]] std::uint64_t empty_rounds(Ticks length) const;
  [[nodiscard]] Ticks empty_period(Ticks length) const { return round_cost_[p_state_] + pause_cost(length); }
  void spend_empty(std::uint64_t rounds, Ticks length);

  [[nodiscard]] CoreResult finish();

 private:
  // Arrival times, first in first out.
  struct Queue {
    std::vector<std::uint64_t> times;  // a power of two
    std::uint64_t head = 0, tail = 0;
    [[nodiscard]] std::uint64_t size() const { return tail - head; }
  };
  void settle();
  void spend(State state, Ticks length);
  void spend_idle(Ticks idle);     // sleeps for `idle`, and leaves the idle state that it reached
  void admit_until(Ticks time);    // queues or drops what arrived by then
  void change_clock(bool asleep);  // if a request takes effect by now
  [[nodiscard]] Ticks lateness();  // of a timer, random
  [[nodiscard]] Ticks pause_cost(Ticks length) const;
  [[nodiscard]] unsigned queue_of(std::uint64_t packet) const;

  CoreSettings settings_;
  std::span<const std::uint64_t> arrivals_;
  Ticks end_, now_ = 0, awake_ = 0;
  std::size_t next_ = 0;    // arrival
  std::size_t before_ = 0;  // arrivals that are not counted
  bool settled_ = false;
  std::uint64_t queued_ = 0;  // on all queues
  std::vector<Queue> queues_;
  std::array<Ticks, 32> poll_cost_{}, packet_cost_{}, round_cost_{};  // by P-state; round: an empty one, all queues
  int p_state_ = 0, wanted_ = 0;
  Ticks effective_ = kNever;
  Armed armed_ = Armed::nothing;
  Random random_;
  CoreResult result_;
};

}  // namespace splitplane::power::replay
