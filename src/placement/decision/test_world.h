// Bearers with loads, cards and workers for tests of decisions: it carries out what was decided, and counts packets.
#pragma once

#include <algorithm>
#include <numeric>

#include "placement/decision/decider.h"

namespace splitplane::placement {

struct TestWorld {
  // `capacities`: of the cards. One worker is behind all of them.
  explicit TestWorld(std::vector<std::size_t> capacities) {
    WorkerFacts worker;
    for (std::size_t card = 0; card < capacities.size(); ++card) {
      facts.cards.push_back({.up = true, .capacity = capacities[card]});
      worker.cards |= 1U << card;
    }
    facts.workers.push_back(worker);
  }
  std::size_t add(double packets_per_second, Place place = Place::worker(0)) {
    const auto slot = static_cast<std::uint32_t>(facts.bearers.size());
    facts.bearers.push_back({.id = BearerId{slot + 1}, .place = place, .to = place});
    rates.push_back(packets_per_second);
    return slot;
  }
  void pass(unsigned milliseconds) {
    facts.now += Time(milliseconds);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      sent.resize(rates.size());
      sent[i] += rates[i] * milliseconds / 1e3;
      facts.bearers[i].packets = static_cast<std::uint64_t>(sent[i]);
      facts.bearers[i].octets = facts.bearers[i].packets * 1000;
    }
  }
  void carry_out(const Decision& decision) {
    for (const Move& move : decision.moves) {
      BearerFacts& bearer = facts.bearers[move.slot];
      bearer.place = bearer.to = move.to;
      bearer.moved = facts.now;
    }
  }
  // Periods until no bearer has moved for 30 of them; how many there were, or 2000 if it never ends.
  unsigned settle(Decider& decider) {
    unsigned quiet = 0, periods = 0;
    for (; quiet < 30 && periods < 2000; ++periods) {
      pass(decider.settings().period_ms);
      const Decision& decision = decider.decide(facts);
      quiet = decision.moves.empty() ? quiet + 1 : 0;
      carry_out(decision);
    }
    return periods;
  }
  [[nodiscard]] std::size_t on_cards() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(facts.bearers, [](const BearerFacts& b) { return b.place.on_card(); }));
  }
  [[nodiscard]] double load_share() const {
    double on = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) on += facts.bearers[i].place.on_card() ? rates[i] : 0;
    return on / std::accumulate(rates.begin(), rates.end(), 0.0);
  }

  Facts facts;
  std::vector<double> rates, sent;
};

}  // namespace splitplane::placement
