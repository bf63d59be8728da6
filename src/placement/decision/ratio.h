// Mode ratio: a share of the bearers, or of the measured load, is on cards. Both move as few bearers as they
// can.
#pragma once

#include "placement/decision/round.h"

namespace splitplane::placement {

// Exact to half a bearer, as far as there are bearers that may move. Each bearer has a fixed turn, so a greater ratio
// only adds to those on cards.
void hold_ratio_of_bearers(Round& round);

// The load on cards may differ from the ratio by so much of the whole load before bearers move.
inline constexpr double kLoadTolerance = 0.01;

// The busiest bearers that fit into the difference move, since these are the fewest. Where each is too big, two bearers
// exchange their places if that helps. It stands still where no move brings the load closer.
void hold_ratio_of_load(Round& round);

}  // namespace splitplane::placement
