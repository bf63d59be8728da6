// One period of a decision: what may move, where there is room, and how many moves may still begin.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "placement/decision/decision.h"
#include "placement/decision/facts.h"
#include "placement/decision/loads.h"
#include "placement/decision/settings.h"

namespace splitplane::placement {

// From this share of its AM window on a bearer goes to the host in mode spill; below the other one it may come back.
inline constexpr unsigned kUnackedToHostPercent = 50, kUnackedToCardPercent = 25;

// The card that may serve the bearer: one that its worker is behind and that is up. Of several it is always the same
// one for a bearer, so that they share the bearers.
[[nodiscard]] std::optional<std::uint8_t> home_of(const Facts& facts, const BearerFacts& bearer);

class Round {
 public:
  // Counts the bearers, and fills in what `decision` says of this period. `most_moves`: that may run or begin.
  Round(const Facts& facts, const Settings& settings, const Loads& loads, std::size_t most_moves, Decision& decision);

  // It is there, does not move, and no rule of all modes says where it must live.
  [[nodiscard]] static bool is_free(const BearerFacts& bearer) {
    return bearer.lives() && !bearer.moving() && bearer.pin == Pin::kNone && bearer.host_only == HostOnly::none &&
           !bearer.fixed;
  }
  // The minimum stay after its last move is over.
  [[nodiscard]] bool may_leave(const BearerFacts& bearer) const {
    return bearer.moved == kNever || facts.now - bearer.moved >= Time(settings.min_stay_ms);
  }
  [[nodiscard]] bool is_up(const Place& place) const {
    return !place.on_card() || (place.number() < facts.cards.size() && facts.cards[place.number()].up);
  }
  // Entries of a card that no bearer has, and that no running move needs.
  [[nodiscard]] std::size_t room(unsigned card) const { return rooms_[card]; }
  // Bearers on the card that are more than it may have: it was given a smaller capacity.
  [[nodiscard]] std::size_t excess(unsigned card) const { return excess_[card]; }
  [[nodiscard]] std::size_t left() const { return left_; }
  // False: no move is left, there is no room, or a card that it needs is not up.
  bool move(std::size_t slot, Place to, MoveReason why);

  const Facts& facts;
  const Settings& settings;
  const Loads& loads;
  Decision& decision;

 private:
  std::size_t left_;
  std::array<std::size_t, kMaxCards> rooms_{}, excess_{};
};

}  // namespace splitplane::placement
