#include "base/timer_wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace splitplane {
namespace {

std::vector<TimerNode*> run(TimerWheel& wheel, std::uint64_t now, unsigned budget = 1000) {
  std::vector<TimerNode*> fired;
  wheel.run(now, budget, [&](TimerNode& node) { fired.push_back(&node); });
  return fired;
}

TEST(TimerWheel, fires_not_before_its_time_and_at_most_a_slot_after) {
  TimerWheel wheel(10, 1000);
  TimerNode node;
  wheel.arm(node, 1055);
  EXPECT_TRUE(run(wheel, 1054).empty());
  EXPECT_EQ(run(wheel, 1065), std::vector{&node});
  EXPECT_EQ(wheel.armed(), 0U);
  EXPECT_TRUE(run(wheel, 9999).empty());
}

TEST(TimerWheel, a_time_in_the_past_fires_at_the_next_turn) {
  TimerWheel wheel(10, 1000);
  EXPECT_TRUE(run(wheel, 5000).empty());
  TimerNode node;
  wheel.arm(node, 3);
  EXPECT_EQ(run(wheel, 5010), std::vector{&node});
}

TEST(TimerWheel, nodes_more_than_a_revolution_ahead_wait) {
  TimerWheel wheel(1, 0);
  TimerNode near, far;
  wheel.arm(near, 100);
  wheel.arm(far, 100 + 3 * TimerWheel::kSlots);
  EXPECT_EQ(run(wheel, 101), std::vector{&near});
  EXPECT_TRUE(run(wheel, 100 + 3 * TimerWheel::kSlots - 1).empty());
  EXPECT_EQ(run(wheel, 101 + 3 * TimerWheel::kSlots), std::vector{&far});
}

TEST(TimerWheel, the_budget_leaves_the_rest_for_the_next_call) {
  TimerWheel wheel(10, 0);
  std::array<TimerNode, 5> nodes;
  for (auto& node : nodes) wheel.arm(node, 50);
  EXPECT_EQ(run(wheel, 100, 2).size(), 2U);
  EXPECT_EQ(run(wheel, 100, 2).size(), 2U);
  EXPECT_EQ(run(wheel, 100, 2).size(), 1U);
}

TEST(TimerWheel, the_next_turn_is_never_after_an_expiry_and_not_long_before_it) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    TimerWheel wheel(10, 0);
    std::array<TimerNode, 8> nodes;
    std::uint64_t now = random() % 100'000;
    (void)run(wheel, now);
    EXPECT_EQ(wheel.next_turn(), TimerNode::kNeverExpires);
    for (auto& node : nodes) wheel.arm(node, now + random() % (10 * TimerWheel::kSlots - 20));
    for (std::size_t i = 0; i < 3; ++i) wheel.disarm(nodes[random() % nodes.size()]);
    while (wheel.armed() != 0) {
      std::uint64_t first = TimerNode::kNeverExpires;
      for (const auto& node : nodes) first = std::min(first, node.expiry);
      const std::uint64_t turn = wheel.next_turn();
      EXPECT_LE(turn, first / 10 * 10 + 10) << "when its slot is over";
      EXPECT_GT(turn, first) << "not before it has anything";
      now = std::max(now, turn);
      EXPECT_FALSE(run(wheel, now).empty()) << "there was something to do";
    }
  }
}

TEST(TimerWheel, a_long_absence_misses_nothing) {
  TimerWheel wheel(1, 0);
  std::array<TimerNode, 700> nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) wheel.arm(nodes[i], i);
  EXPECT_EQ(run(wheel, 1'000'000).size(), nodes.size());
}

TEST(TimerWheel, agrees_with_a_sorted_map_over_random_operations) {
  std::mt19937 random(7);
  TimerWheel wheel(16, 0);
  std::array<TimerNode, 64> nodes;
  std::map<TimerNode*, std::uint64_t> armed;
  std::uint64_t now = 0;
  for (int step = 0; step < 20000; ++step) {
    TimerNode& node = nodes[random() % nodes.size()];
    if (random() % 4 == 0) {
      wheel.disarm(node);
      armed.erase(&node);
    } else {
      armed[&node] = now + random() % 20000;
      wheel.arm(node, armed[&node]);
    }
    now += random() % 200;
    for (TimerNode* fired : run(wheel, now)) {
      ASSERT_TRUE(armed.contains(fired));
      ASSERT_LE(armed[fired], now);
      armed.erase(fired);
    }
    for (const auto& [left, expiry] : armed) ASSERT_GT(expiry + 32, now);
    ASSERT_EQ(wheel.armed(), armed.size());
  }
}

}  // namespace
}  // namespace splitplane
