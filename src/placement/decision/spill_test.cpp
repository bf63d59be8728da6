#include "placement/decision/spill.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "placement/decision/test_world.h"

namespace splitplane::placement {
namespace {

Settings spill() {
  Settings settings;
  settings.mode = Mode::kSpill;
  settings.min_stay_ms = 1000;
  settings.most_moves_per_second = 10'000;
  return settings;
}

RC_GTEST_PROP(Spill, the_busiest_that_fit_are_on_the_card_by_the_hysteresis, ()) {
  const auto capacity = *rc::gen::inRange<std::size_t>(1, 60);
  TestWorld world({capacity});
  const auto count = *rc::gen::inRange<std::size_t>(1, 200);
  for (std::size_t i = 0; i < count; ++i) world.add(*rc::gen::inRange(1, 5000));
  Decider decider(spill());
  RC_ASSERT(world.settle(decider) < 2000);
  RC_ASSERT(world.on_cards() == std::min(capacity, count));
  double coldest = 1e9, hottest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double rate = world.rates[i];
    if (world.facts.bearers[i].place.on_card()) {
      coldest = std::min(coldest, rate);
    } else {
      hottest = std::max(hottest, rate);
    }
  }
  RC_ASSERT(hottest <= bar_over(coldest, spill(), 1) * 1.01 + 3);
}

TEST(Spill, a_bearer_that_becomes_busy_takes_the_entry_of_the_coldest) {
  TestWorld world({2});
  world.add(100);
  world.add(50);
  world.add(10);
  Decider decider(spill());
  world.settle(decider);
  EXPECT_FALSE(world.facts.bearers[2].place.on_card());
  EXPECT_EQ(decider.explain(world.facts, 2).reason, PlaceReason::cold);
  world.rates[2] = 52;  // busier, but by less than the hysteresis
  world.settle(decider);
  EXPECT_FALSE(world.facts.bearers[2].place.on_card());
  world.rates[2] = 500;
  world.settle(decider);
  EXPECT_TRUE(world.facts.bearers[2].place.on_card());
  EXPECT_FALSE(world.facts.bearers[1].place.on_card());
  EXPECT_EQ(to_string(decider.explain(world.facts, 1), "w0"),
            "on w0: the bearers on the card are busier, or not less busy by the hysteresis (load 50/s; the "
            "coldest there 100/s)");
}

TEST(Spill, a_bearer_stays_for_the_minimum_stay) {
  TestWorld world({1});
  world.add(10);
  world.add(5);
  Settings settings = spill();
  settings.min_stay_ms = 20'000;
  Decider decider(settings);
  world.settle(decider);
  ASSERT_TRUE(world.facts.bearers[0].place.on_card());
  world.facts.bearers[0].moved = world.facts.now;
  world.rates[1] = 5000;
  for (int i = 0; i < 30; ++i) {
    world.pass(500);
    EXPECT_TRUE(decider.decide(world.facts).moves.empty());
  }
  EXPECT_EQ(decider.explain(world.facts, 0).reason, PlaceReason::stays);
  world.settle(decider);
  EXPECT_TRUE(world.facts.bearers[1].place.on_card());
}

TEST(Spill, half_of_the_window_unacknowledged_goes_to_the_host_until_a_quarter_is) {
  TestWorld world({4});
  world.add(100);
  world.add(1);
  Decider decider(spill());
  world.settle(decider);
  ASSERT_EQ(world.on_cards(), 2U);
  world.facts.bearers[0].unacked_percent = 50;
  world.settle(decider);
  EXPECT_FALSE(world.facts.bearers[0].place.on_card());
  world.facts.bearers[0].unacked_percent = 30;
  world.settle(decider);
  EXPECT_FALSE(world.facts.bearers[0].place.on_card());
  EXPECT_EQ(decider.explain(world.facts, 0).reason, PlaceReason::unacknowledged);
  world.facts.bearers[0].unacked_percent = 24;
  world.settle(decider);
  EXPECT_TRUE(world.facts.bearers[0].place.on_card());
}

TEST(Spill, a_smaller_card_sends_its_coldest_to_the_host) {
  TestWorld world({10});
  for (int i = 1; i <= 10; ++i) world.add(100 * i);
  Decider decider(spill());
  world.settle(decider);
  ASSERT_EQ(world.on_cards(), 10U);
  world.facts.cards[0].capacity = 4;
  world.settle(decider);
  EXPECT_EQ(world.on_cards(), 4U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(world.facts.bearers[i].place.on_card(), i >= 6) << i;
}

}  // namespace
}  // namespace splitplane::placement
