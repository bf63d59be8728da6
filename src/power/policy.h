// Polling policies: once per round the worker loop shows a policy what the round did, and the policy says how to spend
// the time until the next one. Pure objects: the worker carries the answer out and accounts for it.
#pragma once

#include <chrono>
#include <concepts>

namespace splitplane::power {

// What one round of a worker saw.
struct Round {
  unsigned packets = 0;  // received by all its queues
};

struct Action {
  std::chrono::nanoseconds sleep{0};  // 0: poll again at once
};

template <class P>
concept Policy = requires(P policy, Round round) {
  { policy.after(round) } -> std::same_as<Action>;
};

// Polls without a pause: the lowest latency, a whole core.
class Busy {
 public:
  Action after(Round) { return {}; }
};

// After `empty_rounds` rounds without a packet every further empty round sleeps: for machines with fewer cores than
// threads, where a polling neighbour starves the rest.
class Yield {
 public:
  Yield(unsigned empty_rounds, std::chrono::nanoseconds sleep) : empty_rounds_(empty_rounds), sleep_(sleep) {}

  Action after(Round round) {
    if (round.packets != 0) {
      seen_empty_ = 0;
      return {};
    }
    if (seen_empty_ < empty_rounds_) {
      ++seen_empty_;
      return {};
    }
    return {sleep_};
  }

 private:
  unsigned empty_rounds_;
  std::chrono::nanoseconds sleep_;
  unsigned seen_empty_ = 0;
};

static_assert(Policy<Busy> && Policy<Yield>);

}  // namespace splitplane::power
