#include "placement/decision/round.h"

#include <algorithm>
#include <bit>

namespace splitplane::placement {

std::optional<std::uint8_t> home_of(const Facts& facts, const BearerFacts& bearer) {
  const std::size_t worker = facts.shards[bearer.shard.value].worker;
  if (worker >= facts.workers.size()) return std::nullopt;
  std::uint32_t cards = 0;
  for (std::size_t card = 0; card < std::min<std::size_t>(facts.cards.size(), kMaxCards); ++card) {
    if (facts.cards[card].up) cards |= facts.workers[worker].cards & 1U << card;
  }
  if (cards == 0) return std::nullopt;
  // The identity's place among the cards; the factor spreads neighbours.
  unsigned skip = std::popcount(cards) == 1 ? 0 : (bearer.id.value * 0x9e3779b1U >> 8) % std::popcount(cards);
  for (; skip != 0; --skip) cards &= cards - 1;
  return static_cast<std::uint8_t>(std::countr_zero(cards));
}

Round::Round(const Facts& given, const Settings& how, const Loads& measured, std::size_t most_moves, Decision& out)
    : facts(given), settings(how), loads(measured), decision(out), left_(most_moves) {
  decision.moves.clear();
  decision.bearers = decision.movable = decision.on_cards = decision.moving = decision.waiting = 0;
  decision.load = decision.load_on_cards = 0;
  std::array<std::size_t, 256> on_card{};
  for (std::size_t i = 0; i < facts.bearers.size(); ++i) {
    const BearerFacts& bearer = facts.bearers[i];
    if (!bearer.lives()) continue;
    ++decision.bearers;
    decision.movable += bearer.host_only == HostOnly::none;
    decision.load += loads.of(i);
    if (bearer.place.on_card()) {
      ++decision.on_cards;
      decision.load_on_cards += loads.of(i);
      ++on_card[bearer.place.number()];
    }
    if (bearer.moving()) {
      ++decision.moving;
      if (bearer.to.on_card()) ++on_card[bearer.to.number()];
    }
  }
  left_ -= std::min(left_, decision.moving);
  for (std::size_t card = 0; card < std::min<std::size_t>(facts.cards.size(), kMaxCards); ++card) {
    const std::size_t capacity = facts.cards[card].capacity;
    rooms_[card] = capacity - std::min(capacity, on_card[card]);
    excess_[card] = on_card[card] - std::min(capacity, on_card[card]);
  }
}

bool Round::move(std::size_t slot, Place to, MoveReason why) {
  const BearerFacts& bearer = facts.bearers[slot];
  if (left_ == 0 || !is_up(bearer.place) || !is_up(to)) return false;
  if (to.on_card()) {
    if (rooms_[to.number()] == 0) return false;
    --rooms_[to.number()];
  }
  --left_;
  decision.moves.push_back({slot, bearer.id, bearer.place, to, why});
  return true;
}

}  // namespace splitplane::placement
