#include "placement/decision/decider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "placement/decision/ratio.h"
#include "placement/decision/spill.h"

namespace splitplane::placement {
namespace {

bool leaves_for_its_window(const BearerFacts& bearer) {
  return bearer.place.on_card() && bearer.unacked_percent >= kUnackedToHostPercent;
}

std::optional<Place> pinned_to(const Facts& facts, const BearerFacts& bearer) {
  if (bearer.pin == Pin::kHost) return facts.host_of(bearer);
  if (bearer.pin == Pin::kCard) return Place::card(bearer.pin_card);
  return std::nullopt;
}

bool is_behind(const Facts& facts, const BearerFacts& bearer, unsigned card) {
  const std::size_t worker = facts.shards[bearer.shard.value].worker;
  return worker < facts.workers.size() && card < kMaxCards && (facts.workers[worker].cards >> card & 1U) != 0;
}

// It lives on that side already. On the host its worker is that of its shard, which is no move of a bearer.
bool is_at(const BearerFacts& bearer, Place place) {
  return place.on_card() ? bearer.place == place : !bearer.place.on_card();
}

}  // namespace

std::size_t Decider::most_moves(Time now) {
  const Time period(settings_.period_ms);
  // A late period gets at most two periods' moves, so that a pause is not followed by a flood.
  const Time passed = last_ == kNever ? period : std::clamp(now - last_, Time(0), 2 * period);
  last_ = now;
  allowed_ += settings_.most_moves_per_second * std::chrono::duration<double>(passed).count();
  const double whole = std::floor(allowed_);
  allowed_ -= whole;
  return static_cast<std::size_t>(whole);
}

// Pins, bearers that no card may serve, and, in mode spill, those with half of their window unacknowledged.
void Decider::move_by_rule(Round& round) const {
  const Facts& facts = round.facts;
  for (std::size_t i = 0; i < facts.bearers.size(); ++i) {
    const BearerFacts& bearer = facts.bearers[i];
    if (!bearer.lives() || bearer.moving() || bearer.fixed) continue;
    std::optional<Place> to;
    MoveReason why{};
    if (bearer.host_only != HostOnly::none) {
      to = facts.host_of(bearer);
      why = MoveReason::host_only;
    } else if ((to = pinned_to(facts, bearer))) {
      why = MoveReason::pinned;
    } else if (settings_.mode == Mode::kSpill && leaves_for_its_window(bearer)) {
      to = facts.host_of(bearer);
      why = MoveReason::unacknowledged;
    }
    if (!to || is_at(bearer, *to)) continue;
    const bool possible = !to->on_card() || is_behind(facts, bearer, to->number());
    if (!possible || !round.move(i, *to, why)) ++round.decision.waiting;
  }
}

const Decision& Decider::decide(const Facts& facts) {
  loads_.update(facts, settings_);
  Round round(facts, settings_, loads_, most_moves(facts.now), decision_);
  move_by_rule(round);
  coldest_ = {};
  switch (settings_.mode) {
    case Mode::kStatic:
      break;
    case Mode::kRatio:
      settings_.ratio_of == RatioOf::kBearers ? hold_ratio_of_bearers(round) : hold_ratio_of_load(round);
      for (unsigned card = 0; card < kMaxCards; ++card) full_[card] = round.room(card) == 0;
      break;
    case Mode::kSpill: {
      const auto cards = static_cast<unsigned>(std::min<std::size_t>(facts.cards.size(), kMaxCards));
      // The cards share the moves evenly; what one does not need is the next one's.
      for (unsigned card = 0; card < cards; ++card) {
        coldest_[card] = keep_busiest(round, card, (round.left() + cards - card - 1) / (cards - card));
      }
      break;
    }
  }
  return decision_;
}

bool Decider::is_short() const {
  const Decision& last = decision_;
  if (settings_.ratio_of == RatioOf::kBearers)
    return last.on_cards < (last.bearers * settings_.ratio_percent + 50) / 100;
  const double wanted = last.load * settings_.ratio_percent / 100;
  return last.load_on_cards < wanted - (settings_.ratio_percent == 100 ? 0 : kLoadTolerance * last.load);
}

Explanation Decider::explain(const Facts& facts, std::size_t slot) const {
  if (slot >= facts.bearers.size() || !facts.bearers[slot].lives()) return {.reason = PlaceReason::no_bearer};
  const BearerFacts& bearer = facts.bearers[slot];
  const bool on_card = bearer.place.on_card();
  Explanation why{.place = bearer.place, .load = static_cast<double>(loads_.of(slot))};
  const auto home = on_card ? std::optional(bearer.place.number()) : home_of(facts, bearer);
  if (home && *home < kMaxCards) why.bar = coldest_[*home];
  const bool away = on_card && (bearer.place.number() >= facts.cards.size() || !facts.cards[bearer.place.number()].up);
  const auto pinned = pinned_to(facts, bearer);
  const bool by_load =
      settings_.mode == Mode::kSpill || (settings_.mode == Mode::kRatio && settings_.ratio_of == RatioOf::kLoad);
  const bool stays = by_load && bearer.moved != kNever && facts.now - bearer.moved < Time(settings_.min_stay_ms);
  why.reason = [&] {
    if (bearer.moving()) return PlaceReason::moving;
    if (away) return PlaceReason::card_away;
    if (bearer.host_only != HostOnly::none) {
      why.host_only = bearer.host_only;
      if (bearer.fixed) return PlaceReason::fixed;
      return on_card ? PlaceReason::next : PlaceReason::host_only;
    }
    if (pinned) return is_at(bearer, *pinned) ? PlaceReason::pinned : PlaceReason::pin_waits;
    if (!on_card && settings_.mode != Mode::kStatic && !home) return PlaceReason::no_card_up;
    switch (settings_.mode) {
      case Mode::kStatic:
        return PlaceReason::placed;
      case Mode::kRatio:
        if (stays) return PlaceReason::stays;
        return !on_card && full_[*home] && is_short() ? PlaceReason::full : PlaceReason::ratio;
      case Mode::kSpill:
        break;
    }
    if (leaves_for_its_window(bearer)) return PlaceReason::next;
    if (!on_card && bearer.unacked_percent >= kUnackedToCardPercent) return PlaceReason::unacknowledged;
    if (stays) return PlaceReason::stays;
    if (on_card) return PlaceReason::hot;
    if (why.load <= 0) return PlaceReason::idle;
    return why.load > bar_over(why.bar, settings_, loads_.unit()) ? PlaceReason::next : PlaceReason::cold;
  }();
  return why;
}

std::string to_string(const Explanation& why, std::string_view where) {
  if (why.reason == PlaceReason::no_bearer) return std::string(text_of(why.reason));
  std::string text = fmt::format("on {}: {}", where, text_of(why.reason));
  if (why.host_only != HostOnly::none) text += fmt::format(": {}", text_of(why.host_only));
  const bool by_heat = why.reason == PlaceReason::hot || why.reason == PlaceReason::cold;
  if (by_heat && why.bar > 0) text += fmt::format(" (load {:.3g}/s; the coldest there {:.3g}/s)", why.load, why.bar);
  return text;
}

}  // namespace splitplane::placement
