// The input and output of every power policy. Once per round the worker loop shows the policy what the round did. The
// policy answers how to spend the time until the next round. Policies are pure: time is an argument. The worker
// (engine/worker.h) or the simulated core (power/replay) executes the answer and reports the result in the next round.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

#include "power/cost_table.h"

namespace splitplane::power {

// Times are ticks of the worker's clock (TSC); Machine says how many a microsecond has.
using Ticks = std::uint64_t;
inline constexpr Ticks kNever = std::numeric_limits<Ticks>::max();
inline constexpr unsigned kMaxQueues = 128;

// Facts that are known when the policy begins.
struct Machine {
  Ticks ticks_per_us = 1000;
  unsigned queues = 1;            // receive queues and rings of the worker
  unsigned ring = 1024;           // entries of the shortest of them
  unsigned burst = 32;            // most packets of one poll of one queue
  bool interrupts = false;        // the next packet ends Rest::interrupt; otherwise only a wake-up or its time does
  bool timed_pause = false;       // Rest::pause costs less than polling for its whole length (tpause)
  Ticks sleep_overshoot = 0;      // how much longer than asked a timed sleep takes, as measured at the start
  Ticks interrupt_latency = 0;    // from the packet to the poll, as measured or assumed
  unsigned p_states = 1;          // 1: the frequency cannot be set
  std::array<float, 32> speed{};  // of each P-state, relative to P0: speed[0] = 1, falling
  CostTable prices;               // what the states of a core cost, for policies that minimise energy
};

// One receive queue in one round.
struct QueueRound {
  std::uint32_t packets = 0;  // packets that were received
  std::uint32_t waiting =
      0;  // packets still in the queue after a full burst, as far as that is known; 0 after a partial burst
};

// How the worker spends the time between two rounds.
enum class Rest : std::uint8_t {
  none,       // poll again at once
  pause,      // stay on the core and touch no queue: PAUSE, or tpause if the CPU has it
  sleep,      // give up the core for a time; control and rings of other workers end it early
  interrupt,  // as sleep, and packets end it early too
};

struct Round {
  Ticks now = 0;              // the end of the round
  Ticks busy = 0;             // the round's length if it had packets, else 0
  unsigned packets = 0;       // of all queues
  Ticks next_timer = kNever;  // when the function has work that no packet announces; <= now: it has some now
  Ticks rested = 0;           // how long the idle time before this round really was; 0: there was none
  Ticks rest_cpu = 0;         // CPU time of a metered sleep; 0: not metered
  bool woken = false;         // an event ended it early, not its time
  std::span<const QueueRound> queues;
};

struct Action {
  static constexpr int kKeep = -1;
  Rest rest = Rest::none;
  int p_state = kKeep;   // 0 is the fastest
  Ticks length = 0;      // of the idle time, at most
  bool metered = false;  // report the CPU time of the sleep
};

template <class P>
concept Policy = requires(P policy, const Round& round, void (*show)(const char*, double)) {
  // A policy never rests when packets came. A policy that looks never rests when work is due (next_timer <= now), and
  // never past next_timer.
  { policy.after(round) } -> std::same_as<Action>;
  // For users: each number of its state by name.
  policy.show(show);
  // False if the policy needs no occupancy and no clock, only `packets`.
  { P::kLooks } -> std::convertible_to<bool>;
};

// How many of the rounds that end at `first`, first + period, ... end before `limit`.
[[nodiscard]] constexpr std::uint64_t rounds_before(Ticks limit, Ticks first, Ticks period) {
  return limit <= first ? 0 : (limit - first - 1) / period + 1;
}

// A policy may have this for simulations of long silences. It behaves as if after() had been called with empty rounds:
// the first is `first`, each other one is `period` later. It stops before the answer would change from the last one
// (none or a pause), and after at most `most` rounds. Returns their number.
template <class P>
concept SkipsEmpty = requires(P policy, const Round& first, Ticks period, std::uint64_t most) {
  { policy.skip_empty(first, period, most) } -> std::same_as<std::uint64_t>;
};

}  // namespace splitplane::power
