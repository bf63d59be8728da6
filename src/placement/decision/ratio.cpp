#include "placement/decision/ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "placement/decision/best.h"
#include "placement/decision/spill.h"

namespace splitplane::placement {
namespace {

// A bearer's turn: spread over all values, whatever the identities are, and the same for its life.
float turn_of(BearerId id) {
  std::uint32_t x = id.value;
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return static_cast<float>((x ^ x >> 16) >> 8);
}

std::optional<std::uint8_t> home_with_room(const Round& round, const BearerFacts& bearer) {
  const auto home = home_of(round.facts, bearer);
  return home && round.room(*home) != 0 ? home : std::nullopt;
}

// A bearer's step in the direction that is needed: to its card, or to its host.
bool step(Round& round, std::size_t slot, bool to_card, MoveReason why) {
  const BearerFacts& bearer = round.facts.bearers[slot];
  if (!to_card) return round.move(slot, round.facts.host_of(bearer), why);
  const auto home = home_of(round.facts, bearer);
  return home && round.move(slot, Place::card(*home), why);
}

// Whether it could take that step.
bool can_step(const Round& round, const BearerFacts& bearer, bool to_card) {
  if (!Round::is_free(bearer) || bearer.place.on_card() == to_card) return false;
  return to_card ? home_with_room(round, bearer).has_value() : round.is_up(bearer.place);
}

}  // namespace

void hold_ratio_of_bearers(Round& round) {
  const auto& bearers = round.facts.bearers;
  std::size_t on = 0;
  for (const BearerFacts& bearer : bearers) on += bearer.lives() && bearer.to.on_card();
  const auto goal = (round.decision.bearers * round.settings.ratio_percent + 50) / 100;
  if (on == goal) return;
  const bool to_card = on < goal;
  const std::size_t missing = std::min(to_card ? goal - on : on - goal, round.left());
  // Those that come first on a card leave it last.
  Least turns(missing);
  for (std::size_t i = 0; i < bearers.size(); ++i) {
    if (!can_step(round, bearers[i], to_card)) continue;
    const float turn = turn_of(bearers[i].id);
    turns.offer(to_card ? turn : -turn, i);
  }
  for (const Candidate& next : turns.sorted()) (void)step(round, next.slot, to_card, MoveReason::ratio);
}

namespace {

// The two bearers whose exchange brings the difference closest to 0. `movers` could go the way that is needed, and
// each has more load than the difference, so they are few: less than 1 / kLoadTolerance.
void exchange(Round& round, std::vector<Candidate>& movers, double difference, bool to_card) {
  const auto& bearers = round.facts.bearers;
  const auto less = [](const Candidate& a, const Candidate& b) { return a.key < b.key; };
  std::sort(movers.begin(), movers.end(), less);
  double least = difference;
  std::optional<std::size_t> there, back;
  const auto look = [&](const Candidate& mover, double returned, std::optional<std::size_t> slot) {
    const double left = std::abs(difference - (static_cast<double>(mover.key) - returned));
    if (left >= least) return;
    least = left;
    there = mover.slot;
    back = slot;
  };
  for (const Candidate& mover : movers) look(mover, 0, std::nullopt);
  for (std::size_t i = 0; round.left() > 1 && i < bearers.size(); ++i) {
    if (!can_step(round, bearers[i], !to_card) || !round.may_leave(bearers[i])) continue;
    const float load = round.loads.of(i);
    const Candidate ideal{static_cast<float>(difference + static_cast<double>(load)), 0};
    const auto at = std::lower_bound(movers.begin(), movers.end(), ideal, less);
    if (at != movers.end()) look(*at, static_cast<double>(load), i);
    if (at != movers.begin()) look(*std::prev(at), static_cast<double>(load), i);
  }
  // It must help by half of what is tolerated: loads are means and never quite constant.
  if (!there || difference - least < kLoadTolerance / 2 * round.decision.load) return;
  if (step(round, *there, to_card, back ? MoveReason::exchange : MoveReason::ratio) && back)
    (void)step(round, *back, !to_card, MoveReason::exchange);
}

// A full card has bearers with less load than `waiting`, the busiest ones that would fit into the difference. The
// coldest leave, and the others follow in the next period. Returns how much closer the load then is.
double make_room(Round& round, unsigned card, std::span<const Candidate> waiting, double difference) {
  const auto& bearers = round.facts.bearers;
  Least cold(waiting.size());
  for (std::size_t i = 0; i < bearers.size(); ++i) {
    if (bearers[i].place.on_card(card) && can_step(round, bearers[i], false) && round.may_leave(bearers[i]))
      cold.offer(round.loads.of(i), i);
  }
  double gained = 0;
  const auto coldest = cold.sorted();
  for (std::size_t i = 0; i < coldest.size() && gained < difference; ++i) {
    const double leaves = static_cast<double>(coldest[i].key), comes = static_cast<double>(waiting[i].key);
    if (comes <= bar_over(leaves, round.settings, round.loads.unit())) break;
    if (!step(round, coldest[i].slot, false, MoveReason::colder)) break;
    gained += comes - leaves;
  }
  return gained;
}

}  // namespace

void hold_ratio_of_load(Round& round) {
  const auto& bearers = round.facts.bearers;
  double on = 0;
  for (std::size_t i = 0; i < bearers.size(); ++i) {
    if (bearers[i].lives() && bearers[i].to.on_card()) on += static_cast<double>(round.loads.of(i));
  }
  const double whole = round.decision.load;
  const double wanted = whole * round.settings.ratio_percent / 100 - on;
  // 0 % and 100 % are met when no bearer with load is on the wrong side.
  const bool is_end = round.settings.ratio_percent == 0 || round.settings.ratio_percent == 100;
  if (whole <= 0 || (!is_end && std::abs(wanted) <= kLoadTolerance * whole)) return;
  const bool to_card = wanted > 0 || round.settings.ratio_percent == 100;
  double difference = std::abs(wanted);
  // Half of the tolerance may be too much in the end, so that the next period finds the ratio well met.
  const double over = kLoadTolerance / 2 * whole;
  Greatest fitting(round.left());
  std::vector<Candidate> bigger;
  std::array<std::optional<Greatest>, kMaxCards> before_full;  // bearers that would fit into the difference, by card
  for (std::size_t i = 0; i < bearers.size(); ++i) {
    const float load = round.loads.of(i);
    if (load <= 0 || !Round::is_free(bearers[i]) || bearers[i].place.on_card() == to_card) continue;
    if (!round.may_leave(bearers[i])) continue;
    const bool fits = is_end || static_cast<double>(load) <= difference + over;
    if (!can_step(round, bearers[i], to_card)) {
      const auto home = to_card ? home_of(round.facts, bearers[i]) : std::nullopt;
      if (!home || !fits) continue;
      if (!before_full[*home]) before_full[*home].emplace((round.left() + 1) / 2);
      before_full[*home]->offer(load, i);
    } else if (fits) {
      fitting.offer(load, i);
    } else {
      bigger.push_back({load, static_cast<std::uint32_t>(i)});
    }
  }
  const std::size_t before = round.decision.moves.size();
  for (const Candidate& next : fitting.sorted()) {
    if (!is_end && static_cast<double>(next.key) > difference + over) continue;
    if (!is_end && difference <= over) break;
    if (step(round, next.slot, to_card, MoveReason::ratio)) difference -= static_cast<double>(next.key);
  }
  if (round.decision.moves.size() != before) return;
  for (unsigned card = 0; card < kMaxCards; ++card) {
    if (before_full[card])
      difference -= make_room(round, card, before_full[card]->sorted(), is_end ? whole : difference);
  }
  if (round.decision.moves.size() == before && !bigger.empty()) exchange(round, bigger, difference, to_card);
}

}  // namespace splitplane::placement
