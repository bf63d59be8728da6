// What a card received and what became of it, of each of its cores and over all: the sums of `ctl stats`, and whether
// they add up.
#pragma once

#include <cstdint>
#include <span>

#include "card/core.h"

namespace splitplane::app {

// received + clones = transmitted + dispatched + dropped + consumed + held.
struct CardSums {
  std::uint64_t received = 0, clones = 0, transmitted = 0, dispatched = 0, dropped = 0, consumed = 0, held = 0;
  bool balanced = true;
};

// Of one core, read between two of its rounds.
struct CoreCounts {
  nic::CardCounters card;
  nic::CardCoreCounters moved;  // 0 where there is one core
};
[[nodiscard]] CardSums sums_of(const CoreCounts& core, bool with_others);

// Over all cores: what they hand to each other is neither received nor sent, what is on its way between them is held.
// One core is read after the other; only what has `stopped` is exact, and then nothing may be left on the way.
[[nodiscard]] CardSums sums_over(std::span<const CoreCounts> cores, bool stopped);

}  // namespace splitplane::app
