#include "placement/decision/decider.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "placement/decision/test_world.h"

namespace splitplane::placement {
namespace {

Settings fast(Mode mode) {
  Settings settings;
  settings.mode = mode;
  settings.min_stay_ms = 1000;
  return settings;
}
Settings ratio(unsigned percent, RatioOf of) {
  Settings settings = fast(Mode::kRatio);
  settings.ratio_percent = percent;
  settings.ratio_of = of;
  return settings;
}

TEST(Decider, static_mode_moves_no_bearer_and_says_why) {
  TestWorld world({8});
  world.add(1000);
  world.add(1, Place::card(0));
  Decider decider{Settings{}};
  EXPECT_LT(world.settle(decider), 40U);
  EXPECT_EQ(world.on_cards(), 1U);
  EXPECT_EQ(decider.explain(world.facts, 0).reason, PlaceReason::placed);
  EXPECT_EQ(decider.explain(world.facts, 7).reason, PlaceReason::no_bearer);
}

TEST(Decider, a_pin_holds_in_each_mode) {
  for (const Mode mode : {Mode::kStatic, Mode::kRatio, Mode::kSpill}) {
    TestWorld world({1});
    world.add(1000, Place::card(0));
    world.facts.bearers[world.add(1)].pin = Pin::kCard;
    world.facts.bearers[0].pin = Pin::kHost;
    Decider decider(fast(mode));
    EXPECT_LT(world.settle(decider), 60U);
    EXPECT_FALSE(world.facts.bearers[0].place.on_card());
    EXPECT_TRUE(world.facts.bearers[1].place.on_card(0));
    EXPECT_EQ(decider.explain(world.facts, 1).reason, PlaceReason::pinned);
  }
}

TEST(Decider, a_pin_to_a_card_that_is_away_waits_and_is_counted) {
  TestWorld world({1});
  world.facts.bearers[world.add(1)].pin = Pin::kCard;
  world.facts.cards[0].up = false;
  Decider decider{Settings{}};
  EXPECT_TRUE(decider.decide(world.facts).moves.empty());
  EXPECT_EQ(decider.last().waiting, 1U);
  EXPECT_EQ(decider.explain(world.facts, 0).reason, PlaceReason::pin_waits);
  world.facts.cards[0].up = true;
  world.pass(500);
  const std::vector<Move> expected{{0, BearerId{1}, Place::worker(0), Place::card(0), MoveReason::pinned}};
  EXPECT_EQ(decider.decide(world.facts).moves, expected);
}

TEST(Decider, a_bearer_on_a_card_that_is_away_does_not_move) {
  TestWorld world({4});
  world.facts.bearers[world.add(1, Place::card(0))].host_only = HostOnly::ecn;
  world.add(1, Place::card(0));
  world.facts.cards[0].up = false;
  Decider decider(ratio(0, RatioOf::kBearers));
  world.pass(500);
  EXPECT_TRUE(decider.decide(world.facts).moves.empty());
  EXPECT_EQ(decider.explain(world.facts, 1).reason, PlaceReason::card_away);
  world.facts.cards[0].up = true;
  world.settle(decider);
  EXPECT_EQ(world.on_cards(), 0U);
}

TEST(Decider, what_no_card_may_serve_goes_to_the_host_and_says_the_rule) {
  TestWorld world({4});
  world.facts.bearers[world.add(9, Place::card(0))].host_only = HostOnly::security;
  Decider decider(fast(Mode::kSpill));
  world.settle(decider);
  EXPECT_FALSE(world.facts.bearers[0].place.on_card());
  EXPECT_EQ(to_string(decider.explain(world.facts, 0), "w0"),
            "on w0: no card may serve it: it has security, and a card neither ciphers nor reorders");
}

TEST(Decider, a_full_card_is_the_reason_for_bearers_that_the_ratio_leaves_on_the_host) {
  for (const RatioOf of : {RatioOf::kBearers, RatioOf::kLoad}) {
    TestWorld world({4});
    for (int i = 0; i < 10; ++i) world.add(100);
    const auto reason_on_host = [&world](const Decider& decider) {
      const auto at = std::ranges::find_if(world.facts.bearers, [](const auto& b) { return !b.place.on_card(); });
      return decider.explain(world.facts, static_cast<std::size_t>(at - world.facts.bearers.begin())).reason;
    };
    Decider decider(ratio(100, of));
    world.settle(decider);
    ASSERT_EQ(world.on_cards(), 4U);
    world.pass(10'000);
    EXPECT_EQ(reason_on_host(decider), PlaceReason::full);
    decider.set(ratio(40, of));
    world.settle(decider);
    world.pass(10'000);
    EXPECT_EQ(reason_on_host(decider), PlaceReason::ratio) << "as many as the ratio says";
  }
}

TEST(Decider, a_bearer_of_a_worker_behind_no_card_stays_on_the_host) {
  TestWorld world({4});
  world.add(9);
  world.facts.workers[0].cards = 0;
  Decider decider(fast(Mode::kSpill));
  world.settle(decider);
  EXPECT_EQ(world.on_cards(), 0U);
  EXPECT_EQ(decider.explain(world.facts, 0).reason, PlaceReason::no_card_up);
}

TEST(Decider, a_bearer_that_does_not_move_stays_on_its_card_whatever_the_mode) {
  TestWorld world({8});
  BearerFacts& bearer = world.facts.bearers[world.add(5, Place::card(0))];
  bearer.host_only = HostOnly::of_session;
  bearer.fixed = true;
  bearer.pin = Pin::kHost;
  for (const Mode mode : {Mode::kStatic, Mode::kRatio, Mode::kSpill}) {
    Decider decider(fast(mode));
    world.settle(decider);
    EXPECT_TRUE(world.facts.bearers[0].place.on_card());
    EXPECT_TRUE(decider.last().moves.empty());
    EXPECT_EQ(decider.explain(world.facts, 0).reason, PlaceReason::fixed);
  }
}

TEST(Decider, few_moves_a_second_are_spread_over_its_periods) {
  TestWorld world({100});
  for (int i = 0; i < 100; ++i) world.add(1);
  Settings settings = ratio(100, RatioOf::kBearers);
  settings.most_moves_per_second = 3;  // and two periods a second
  Decider decider(settings);
  std::size_t moved = 0;
  for (int second = 0; second < 10; ++second) {
    for (int i = 0; i < 2; ++i) {
      world.pass(500);
      moved += decider.decide(world.facts).moves.size();
      world.carry_out(decider.last());
    }
    EXPECT_LE(moved, 3U * (second + 1));
  }
  EXPECT_EQ(moved, 30U);
}

TEST(Decider, moves_that_run_count_among_those_of_a_period) {
  TestWorld world({100});
  for (int i = 0; i < 100; ++i) world.add(1);
  Settings settings = ratio(100, RatioOf::kBearers);
  settings.most_moves_per_second = 20;
  Decider decider(settings);
  for (std::size_t i = 0; i < 7; ++i) world.facts.bearers[i].to = Place::card(0);
  world.pass(500);
  EXPECT_EQ(decider.decide(world.facts).moves.size(), 3U);
  EXPECT_EQ(decider.explain(world.facts, 0).reason, PlaceReason::moving);
}

// Any facts: bearers with random loads, pins, rules, windows and sessions on two cards of any size.
TestWorld any_world() {
  TestWorld world({*rc::gen::inRange<std::size_t>(0, 40), *rc::gen::inRange<std::size_t>(1, 60)});
  world.facts.workers.push_back({.cards = 1});
  for (std::size_t shard = 128; shard < kShards; ++shard) world.facts.shards[shard].worker = 1;
  const int count = *rc::gen::inRange(1, 150);
  std::array<std::size_t, 2> on{};
  for (int i = 0; i < count; ++i) {
    const auto card = static_cast<std::uint8_t>(*rc::gen::inRange(0, 2));
    const auto shard = ShardId{*rc::gen::arbitrary<std::uint8_t>()};
    const bool may = shard.value < 128 || card == 0;
    const bool put = may && *rc::gen::arbitrary<bool>() && on[card] < world.facts.cards[card].capacity;
    on[card] += put;
    const double rate = *rc::gen::element(0.0, 1.0, 5.0, 17.0, 100.0, 3000.0);
    BearerFacts& bearer = world.facts.bearers[world.add(rate, put ? Place::card(card) : Place::worker(0))];
    bearer.shard = shard;
    if (!put) bearer.place = bearer.to = world.facts.host_of(bearer);
    bearer.pin = *rc::gen::weightedElement<Pin>({{20, Pin::kNone}, {1, Pin::kHost}, {1, Pin::kCard}});
    bearer.pin_card = card;
    bearer.host_only = *rc::gen::weightedElement<HostOnly>({{9, HostOnly::none}, {1, HostOnly::rlc_mode}});
    bearer.unacked_percent = *rc::gen::weightedElement<std::uint8_t>({{9, std::uint8_t{3}}, {1, std::uint8_t{60}}});
    bearer.fixed = bearer.host_only != HostOnly::none && *rc::gen::arbitrary<bool>();
  }
  return world;
}
Settings any_settings() {
  Settings settings = fast(*rc::gen::element(Mode::kStatic, Mode::kRatio, Mode::kSpill));
  settings.ratio_percent = *rc::gen::inRange(0U, 101U);
  settings.ratio_of = *rc::gen::element(RatioOf::kBearers, RatioOf::kLoad);
  settings.load_of = *rc::gen::element(LoadOf::kPackets, LoadOf::kOctets);
  settings.most_moves_per_second = *rc::gen::inRange(1U, 100U);
  return settings;
}

RC_GTEST_PROP(Decider, no_decision_breaks_a_rule_and_each_comes_to_an_end, ()) {
  TestWorld world = any_world();
  const Settings settings = any_settings();
  Decider decider(settings);
  double allowed = 0;
  unsigned quiet = 0;
  for (int period = 0; period < 1500 && quiet < 100; ++period) {
    world.pass(settings.period_ms);
    const Decision& decision = decider.decide(world.facts);
    allowed += settings.most_moves_per_second * settings.period_ms / 1e3;
    RC_ASSERT(static_cast<double>(decision.moves.size()) <= allowed + 1e-6);
    allowed -= std::floor(allowed + 1e-9);
    quiet = decision.moves.empty() ? quiet + 1 : 0;
    std::map<std::size_t, int> moved;
    std::array<std::size_t, 2> on{};
    for (const BearerFacts& bearer : world.facts.bearers) {
      if (bearer.place.on_card()) ++on[bearer.place.number()];
    }
    for (const Move& move : decision.moves) {
      const BearerFacts& bearer = world.facts.bearers[move.slot];
      RC_ASSERT(++moved[move.slot] == 1);
      RC_ASSERT(move.from == bearer.place && move.to != bearer.place);
      if (!move.to.on_card()) continue;
      RC_ASSERT(bearer.host_only == HostOnly::none && bearer.pin != Pin::kHost);
      RC_ASSERT((world.facts.workers[world.facts.host_of(bearer).number()].cards >> move.to.number() & 1U) != 0);
      // Full even if each move that leaves the card fails.
      RC_ASSERT(++on[move.to.number()] <= world.facts.cards[move.to.number()].capacity);
    }
    world.carry_out(decision);
    RC_ASSERT(to_string(decider.explain(world.facts, 0), "w0").size() > 10);
  }
  if (quiet < 100) RC_LOG() << kModeNames[static_cast<int>(settings.mode)] << ' ' << settings.ratio_percent;
  RC_ASSERT(quiet >= 100);
}

}  // namespace
}  // namespace splitplane::placement
