// Shares of flows and sizes.
#include "traffic/mix.h"

#include <gtest/gtest.h>

#include <array>

namespace splitplane::traffic {
namespace {

TEST(Mix, flows_in_turn_come_equally_often_and_in_order) {
  Mix mix(3, Mix::Order::kInTurn, {1}, 1);
  for (std::uint32_t i = 0; i < 30; ++i) EXPECT_EQ(mix.next().flow, i % 3);
}

TEST(Mix, random_flows_are_all_reached_evenly) {
  Mix mix(100, Mix::Order::kRandom, {1}, 1);
  std::array<int, 100> seen{};
  for (int i = 0; i < 1'000'000; ++i) ++seen[mix.next().flow];
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);  // 5 sigma
}

TEST(Mix, sizes_follow_their_weights_for_every_flow) {
  Mix mix(12, Mix::Order::kInTurn, {7, 4, 1}, 1);  // as many flows as the weights add up to
  std::array<std::array<int, 3>, 12> seen{};
  for (int i = 0; i < 1'200'000; ++i) {
    const Choice choice = mix.next();
    ++seen[choice.flow][choice.size];
  }
  for (const auto& sizes : seen) {
    EXPECT_NEAR(sizes[0], 58'333, 800);
    EXPECT_NEAR(sizes[1], 33'333, 800);
    EXPECT_NEAR(sizes[2], 8'333, 500);
  }
}

}  // namespace
}  // namespace splitplane::traffic
