#include "radio/block_pool.h"

#include <gtest/gtest.h>

namespace splitplane::datapath {
namespace {

TEST(BlockPool, places_do_not_overlap_and_come_back) {
  BlockPool pool(2, 100);
  BlockPool::Block a = pool.take(), b = pool.take();
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(pool.take());
  EXPECT_EQ(a.octets().size(), 100U);
  EXPECT_GE(std::abs(a.octets().data() - b.octets().data()), 100);
  const std::uint8_t* const was_a = a.octets().data();
  a = {};
  EXPECT_FALSE(a);
  EXPECT_EQ(pool.available(), 1U);
  b = std::move(a);
  EXPECT_EQ(pool.available(), 1U) << "a moved-from block holds what the other one had, until it ends";
  const BlockPool::Block again = pool.take();
  EXPECT_EQ(again.octets().data(), was_a);
}

}  // namespace
}  // namespace splitplane::datapath
