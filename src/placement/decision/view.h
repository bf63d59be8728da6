// What placement shows of itself: `ctl place`, `ctl stats`, the metrics and DPDK's telemetry use the same names.
#pragma once

#include <cstdint>
#include <string>

namespace splitplane::placement {

// Field, unit, help.
// clang-format off
#define SPLITPLANE_PLACEMENT_COUNTERS(X)                                                           \
  X(to_card, "bearers", "moves of bearers to a card")                                              \
  X(to_host, "bearers", "moves of bearers to the host")                                            \
  X(failed, "bearers", "moves that failed; the bearer stayed where it was")                        \
  X(refused, "bearers", "moves that were asked for and may not be made")                           \
  X(with_packets, "bearers", "moves during which packets of the bearer waited")                    \
  X(packets, "packets", "that waited while their bearer moved")                                    \
  X(parked, "", "times that a worker's loop went to another worker's core")                        \
  X(woken, "", "times that it came back to its own")                                               \
  X(not_parked, "", "times that it could not go or come, because a worker did not answer or had no room")         \
  X(decisions, "", "periods after which it was decided where bearers shall live")
// clang-format on

struct View {
  std::string mode;
  std::uint64_t bearers = 0, movable = 0, on_cards = 0, pinned = 0;  // now
  double load = 0, load_on_cards = 0;                                // packets or octets a second, by the last decision
  std::uint64_t longest_hold_us = 0;                                 // that packets waited for a move
#define SPLITPLANE_PLACEMENT_FIELD(field, unit, help) std::uint64_t field = 0;
  SPLITPLANE_PLACEMENT_COUNTERS(SPLITPLANE_PLACEMENT_FIELD)
#undef SPLITPLANE_PLACEMENT_FIELD
};

}  // namespace splitplane::placement
