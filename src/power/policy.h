// What every power policy sees and says. Once per round the worker loop shows it what the round did, and it answers how
// to spend the time until the next one. Policies are pure: time is an argument, the worker (engine/worker.h) or the
// simulated core (power/replay) carries the answer out and tells in the next round what came of it.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

namespace splitplane::power {

// Times are ticks of the worker's clock (TSC); Machine says how many a microsecond has.
using Ticks = std::uint64_t;
inline constexpr Ticks kNever = std::numeric_limits<Ticks>::max();
inline constexpr unsigned kMaxQueues = 128;

// What is known once, when the policy begins.
struct Machine {
  Ticks ticks_per_us = 1000;
  unsigned queues = 1;            // receive queues and rings of the worker
  unsigned ring = 1024;           // entries of the shortest of them
  unsigned burst = 32;            // most packets of one poll of one queue
  bool interrupts = false;        // Rest::interrupt ends with the next packet; else only with a kick or its time
  bool timed_pause = false;       // Rest::pause costs less than polling for its whole length (tpause)
  Ticks sleep_overshoot = 0;      // how much longer than asked a timed sleep takes, as measured at the start
  Ticks interrupt_latency = 0;    // from the packet to the poll, as measured or assumed
  unsigned p_states = 1;          // 1: the frequency cannot be set
  std::array<float, 32> speed{};  // of each P-state, relative to P0: speed[0] = 1, falling
};

// One receive queue in one round.
struct QueueRound {
  std::uint32_t packets = 0;  // received
  std::uint32_t waiting =
      0;  // still in the queue after a full burst, as far as that can be known; 0 after a part of one
};

// How the time between two rounds is spent.
enum class Rest : std::uint8_t {
  none,       // poll again at once
  pause,      // stay on the core and touch no queue: PAUSE, or tpause where the CPU has it
  sleep,      // give the core away for a time; control and rings of other workers end it early
  interrupt,  // the same, and packets end it early
};

struct Round {
  Ticks now = 0;              // the end of the round
  Ticks busy = 0;             // what the round took if it had packets, else 0
  unsigned packets = 0;       // of all queues
  Ticks next_timer = kNever;  // when the function has work again that no packet announces; <= now: it has some now
  Ticks rested = 0;           // what the rest before this round really took; 0: there was none
  Ticks rest_cpu = 0;         // CPU time that a metered rest took of that; 0: nobody looked
  bool woken = false;         // it ended early: an event, not its time
  std::span<const QueueRound> queues;
};

struct Action {
  static constexpr int kKeep = -1;
  Rest rest = Rest::none;
  int p_state = kKeep;   // 0 is the fastest
  Ticks length = 0;      // of the rest, at most
  bool metered = false;  // tell what CPU time a sleep takes
};

template <class P>
concept Policy = requires(P policy, const Round& round, void (*show)(const char*, double)) {
  // Never rests when packets came; one that looks never when work is due (next_timer <= now), never past next_timer.
  { policy.after(round) } -> std::same_as<Action>;
  // For people: each number of its state by name.
  policy.show(show);
  // False: needs no occupancy, no clock, nothing but `packets`.
  { P::kLooks } -> std::convertible_to<bool>;
};

// How many of rounds that end at `first`, first + period, ... end before `limit`.
[[nodiscard]] constexpr std::uint64_t rounds_before(Ticks limit, Ticks first, Ticks period) {
  return limit <= first ? 0 : (limit - first - 1) / period + 1;
}

// What a policy may have for a simulation of long silences: as if after() had been called with empty rounds, the first
// of them `first`, each of the others `period` later, while the answer stays the one given last (a rest that is none or
// a pause); at most `most` of them. Returns how many.
template <class P>
concept SkipsEmpty = requires(P policy, const Round& first, Ticks period, std::uint64_t most) {
  { policy.skip_empty(first, period, most) } -> std::same_as<std::uint64_t>;
};

}  // namespace splitplane::power
