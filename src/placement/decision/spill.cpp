#include "placement/decision/spill.h"

#include <algorithm>
#include <cmath>

#include "placement/decision/best.h"

namespace splitplane::placement {

// A mean over a time T of packets that come by chance at a rate r has the variance r / 2T. The difference of two rates
// near each other has twice that. Where few packets come, chance is not symmetric: hence the second part.
double bar_over(double cold, const Settings& settings, double load_of_packet) {
  constexpr double kDeviations = 3;
  const double busier = cold * (1 + settings.hysteresis_percent / 100.0);
  const double in_one = load_of_packet / (2 * settings.load_ms / 1e3);  // what one packet adds, halved
  return busier + kDeviations * std::sqrt(in_one * (cold + busier)) + kDeviations * kDeviations / 2 * in_one;
}

double keep_busiest(Round& round, unsigned card, std::size_t most) {
  const auto& bearers = round.facts.bearers;
  most = std::min(most, round.left());
  if (!round.facts.cards[card].up) return 0;
  const std::size_t for_room = (most + 1) / 2;
  Greatest hot(most + for_room);
  Least cold(std::max<std::size_t>(for_room, 1));
  for (std::size_t i = 0; i < bearers.size(); ++i) {
    const BearerFacts& bearer = bearers[i];
    const float load = round.loads.of(i);
    if (!(bearer.place.on_card() ? cold.takes(load) : hot.takes(load))) continue;
    if (!Round::is_free(bearer) || !round.may_leave(bearer)) continue;
    if (bearer.place.on_card(card)) {
      if (bearer.unacked_percent < kUnackedToHostPercent) cold.offer(load, i);
    } else if (!bearer.place.on_card() && load > 0 && bearer.unacked_percent < kUnackedToCardPercent &&
               home_of(round.facts, bearer) == card) {
      hot.offer(load, i);
    }
  }
  const auto busiest = hot.sorted();
  const auto coldest = cold.sorted();
  std::size_t next = 0, begun = 0;
  while (begun < most && next < busiest.size() &&
         round.move(busiest[next].slot, Place::card(static_cast<std::uint8_t>(card)), MoveReason::room)) {
    ++next;
    ++begun;
  }
  std::size_t excess = round.excess(card);
  for (const Candidate& leaving : coldest) {
    if (begun == most) break;
    if (excess != 0) {
      --excess;
    } else {
      if (next == busiest.size()) break;
      const double bar = bar_over(static_cast<double>(leaving.key), round.settings, round.loads.unit());
      if (static_cast<double>(busiest[next].key) <= bar) break;
      ++next;
    }
    if (!round.move(leaving.slot, round.facts.host_of(bearers[leaving.slot]), MoveReason::colder)) break;
    ++begun;
  }
  return coldest.empty() ? 0 : static_cast<double>(coldest.front().key);
}

}  // namespace splitplane::placement
