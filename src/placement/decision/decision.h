// What is to be done in a period, and why each bearer lives where it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/outcome_list.h"
#include "base/types.h"
#include "placement/decision/host_only.h"
#include "placement/decision/place.h"

namespace splitplane::placement {

// clang-format off
#define SPLITPLANE_MOVE_REASONS(X)                                                             \
  X(pinned, "the list of pinned bearers says so")                                              \
  X(host_only, "no card may serve it any more")                                                \
  X(unacknowledged, "half of its AM window is unacknowledged, which the host looks after")     \
  X(ratio, "the ratio of bearers or load on cards")                                            \
  X(exchange, "the ratio comes closer when it changes places with another bearer")             \
  X(room, "the card has room, and it is the busiest on the host")                              \
  X(colder, "a busier bearer gets its entry of the card")

#define SPLITPLANE_PLACE_REASONS(X)                                                            \
  X(no_bearer, "there is no such bearer")                                                      \
  X(moving, "it is moving")                                                                    \
  X(host_only, "no card may serve it")                                                         \
  X(fixed, "it does not move")                                                                 \
  X(pinned, "the list of pinned bearers says so")                                              \
  X(pin_waits, "it is pinned elsewhere, and its move waits for a turn, for room or for the card") \
  X(placed, "it was placed there, and the mode is static")                                     \
  X(card_away, "its card is not up")                                                           \
  X(no_card_up, "no card before its worker is up")                                             \
  X(ratio, "the ratio of bearers or load on cards")                                            \
  X(full, "the ratio is not reached, and the card is full")                                    \
  X(unacknowledged, "much of its AM window is unacknowledged, which the host looks after")     \
  X(stays, "it moved a short time ago, and stays for a while")                                 \
  X(idle, "it has no load, which is no reason to move it")                                     \
  X(hot, "it is among the busiest bearers that fit on the card")                               \
  X(cold, "the bearers on the card are busier, or not less busy by the hysteresis")            \
  X(next, "it is to move, and waits for a turn")
// clang-format on

SPLITPLANE_OUTCOMES(MoveReason, SPLITPLANE_MOVE_REASONS)
SPLITPLANE_OUTCOMES(PlaceReason, SPLITPLANE_PLACE_REASONS)

struct Move {
  std::size_t slot = 0;  // in the facts
  BearerId bearer{};
  Place from, to;
  MoveReason why{};

  friend bool operator==(const Move&, const Move&) = default;
};

struct Decision {
  // In the order in which they should begin. Together with the moves that run they fit on each card whatever their
  // order, and whichever of them fail.
  std::vector<Move> moves;

  // Of this period. Loads are packets or octets a second, as `load_of` says.
  std::size_t bearers = 0, movable = 0;  // all; of these, those that a card may serve
  std::size_t on_cards = 0, moving = 0;  // now, without the moves
  double load = 0, load_on_cards = 0;
  // Pins, bearers that no card may serve, and bearers with too much unacknowledged that could not begin to move: there
  // were too many, or a card has no room or is away.
  std::size_t waiting = 0;
};

struct Explanation {
  Place place;
  PlaceReason reason{};
  HostOnly host_only{};  // with reason host_only
  double load = 0;       // of the bearer; a second
  double bar = 0;        // mode spill: the load of the coldest bearer on its card that may move; a second
};

// "on card0: it is among the busiest bearers that fit on the card (load 120/s, the coldest there 6.1/s)"; `where` is
// the name of the card or the worker.
[[nodiscard]] std::string to_string(const Explanation& explanation, std::string_view where);

}  // namespace splitplane::placement
