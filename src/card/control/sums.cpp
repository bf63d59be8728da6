#include "card/control/sums.h"

#include <algorithm>

namespace splitplane::app {

CardSums sums_of(const CoreCounts& core, bool with_others) {
  const nic::CardCounters& c = core.card;
  CardSums s{.clones = c.clones,
             .transmitted = core.moved.sent,
             .dispatched = core.moved.frames_handed + core.moved.outputs_handed,
             .dropped = c.dropped + c.tx_full,
             .consumed = c.clones_sunk,
             .held = c.held};
  s.received = core.moved.frames_taken + core.moved.outputs_taken;
  std::uint64_t out = 0;
  for (const auto& port : c.ports) {
    s.received += port.in;
    out += port.out + port.clones;
  }
  if (!with_others) s.transmitted = out - c.tx_full;
  s.balanced =
      c.reasons_add_up && c.held == 0 && s.received + s.clones == s.transmitted + s.dispatched + s.dropped + s.consumed;
  return s;
}

CardSums sums_over(std::span<const CoreCounts> cores, bool stopped) {
  CardSums all;
  std::uint64_t taken = 0;
  for (const CoreCounts& core : cores) {
    const CardSums s = sums_of(core, cores.size() > 1);
    const std::uint64_t from_others = core.moved.frames_taken + core.moved.outputs_taken;
    taken += from_others;
    all.received += s.received - from_others;
    all.clones += s.clones;
    all.transmitted += s.transmitted;
    all.dispatched += s.dispatched;
    all.dropped += s.dropped;
    all.consumed += s.consumed;
    all.held += s.held;
    all.balanced = all.balanced && s.balanced;
  }
  if (stopped) all.balanced = all.balanced && all.dispatched == taken;
  // Of cores that run, what the first handed on after it was read may be taken already.
  all.held += all.dispatched - std::min(all.dispatched, taken);
  return all;
}

}  // namespace splitplane::app
