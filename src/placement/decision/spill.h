// Mode spill: more bearers than a card holds. The busiest ones that fit are on the card, and the others on the host.
#pragma once

#include <cstddef>

#include "placement/decision/round.h"

namespace splitplane::placement {

// One card's turn, with `most` moves at most. The busiest bearers of the host get the entries that are free. Then the
// coldest bearers of the card make room for those that are busier by the hysteresis, and these follow in the next
// period: so a card is never too full, even if moves fail. At most half of the moves make room.
// Returns the load of the coldest bearer of the card that may leave it; 0 if there is none.
double keep_busiest(Round& round, unsigned card, std::size_t most);

// The load from which a bearer of the host is busier than one on the card: by the hysteresis, and by three standard
// deviations of what counting packets that come by chance gives.
[[nodiscard]] double bar_over(double cold, const Settings& settings, double load_of_packet);

}  // namespace splitplane::placement
