#include "phy/channel/air.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "base/random.h"

namespace splitplane::phy {
namespace {

// A transport block: one owner, so a block that is lost twice or not at all is seen.
using Block = std::unique_ptr<std::vector<std::uint8_t>>;
constexpr std::uint64_t kTicksPerS = 1'000'000;  // a tick is a microsecond

class AirTest : public testing::Test {
 protected:
  void make(const Impairments& wanted, std::size_t capacity = 1000) {
    air_ = std::make_unique<Air<Block>>(Air<Block>::Settings{1, capacity, kTicksPerS, wanted});
  }
  void take(std::uint8_t number, Ticks now) {
    air_->take(
        std::make_unique<std::vector<std::uint8_t>>(100, number), now,
        [&](const Block& block) { return copies_ ? std::make_unique<std::vector<std::uint8_t>>(*block) : nullptr; },
        [&](const Block& block) { lost_.push_back(block->front()); });
  }
  std::vector<int> give(Ticks now, unsigned room = ~0U) {
    std::vector<int> numbers;
    air_->give(room, now, [&](const Block& block) {
      EXPECT_EQ(*block, std::vector<std::uint8_t>(100, block->front()));
      numbers.push_back(block->front());
    });
    return numbers;
  }

  std::unique_ptr<Air<Block>> air_;
  bool copies_ = true;
  std::vector<int> lost_;
};

TEST_F(AirTest, blocks_come_out_when_they_are_due_in_that_order) {
  make({.delay_us = 500});
  take(1, 0);
  take(2, 100);
  EXPECT_EQ(air_->next_due(), 500U);
  EXPECT_TRUE(give(499).empty());
  EXPECT_EQ(give(500), std::vector{1});
  EXPECT_EQ(give(1000), std::vector{2});
  EXPECT_EQ(air_->next_due(), ~Ticks{0});
}

TEST_F(AirTest, a_lost_block_is_dropped_at_once_and_its_octets_are_freed) {
  make({.loss_percent = 100});
  for (std::uint8_t i = 0; i < 10; ++i) take(i, i);
  EXPECT_EQ(lost_.size(), 10U);
  EXPECT_TRUE(give(~Ticks{0}).empty());
  EXPECT_EQ(air_->counters().lost, 10U);
  EXPECT_TRUE(air_->counters().balanced());
}

TEST_F(AirTest, a_doubled_block_comes_twice_unless_there_is_no_buffer) {
  make({.duplicate_percent = 100, .delay_us = 5, .reorder_percent = 100});
  take(1, 0);
  EXPECT_EQ(give(0), std::vector{1});
  EXPECT_EQ(give(5), std::vector{1});
  copies_ = false;
  take(2, 10);
  EXPECT_EQ(give(20), std::vector{2});
  EXPECT_EQ(air_->counters().no_buffer, 1U);
  EXPECT_EQ(air_->counters().duplicated, 1U);
  EXPECT_TRUE(air_->counters().balanced());
}

TEST_F(AirTest, a_full_air_loses_the_block_that_comes) {
  make({.delay_us = 10}, 2);
  for (const std::uint8_t i : std::initializer_list<std::uint8_t>{1, 2, 3}) take(i, 0);
  EXPECT_EQ(lost_, std::vector{3});
  EXPECT_EQ(air_->counters().air_full, 1U);
  EXPECT_EQ(give(10), (std::vector{1, 2}));
}

TEST_F(AirTest, as_many_blocks_come_out_as_there_is_room_for) {
  make({});
  for (const std::uint8_t i : std::initializer_list<std::uint8_t>{1, 2, 3}) take(i, 0);
  EXPECT_EQ(give(0, 2), (std::vector{1, 2}));
  EXPECT_EQ(air_->counters().held, 1U);
  EXPECT_EQ(give(0, 2), std::vector{3});
}

TEST_F(AirTest, after_any_run_each_block_is_accounted_for) {
  make({.loss_percent = 20,
        .burst_length = 3,
        .duplicate_percent = 10,
        .delay_us = 50,
        .jitter_us = 400,
        .reorder_percent = 5},
       64);
  Random random(9);
  std::size_t taken = 0, given = 0;
  for (Ticks now = 0; now < 20'000; now += 1 + random.below(10)) {
    take(static_cast<std::uint8_t>(random.next()), now);
    ++taken;
    given += give(now, 1 + random.below(3)).size();
    ASSERT_TRUE(air_->counters().balanced());
  }
  given += give(~Ticks{0}).size();
  const AirCounters c = air_->counters();
  EXPECT_EQ(c.held, 0U);
  EXPECT_EQ(c.received, taken);
  EXPECT_EQ(c.passed, given);
  EXPECT_EQ(lost_.size(), c.lost + c.air_full);
  for (const std::uint64_t some : {c.lost, c.burst_lost, c.duplicated, c.delayed, c.overtook}) EXPECT_GT(some, 0U);
}

}  // namespace
}  // namespace splitplane::phy
