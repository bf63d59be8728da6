#include "radio/rnti_pool.h"

#include <gtest/gtest.h>

namespace splitplane::datapath {
namespace {

TEST(RntiPool, the_first_ones_are_those_of_38_321_table_7_1_1) {
  RntiPool pool;
  const auto a = pool.take(), b = pool.take();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->value().value, 1);
  EXPECT_EQ(b->value().value, 2);
}

TEST(RntiPool, one_that_was_given_back_is_taken_last) {
  RntiPool pool;
  {
    const auto one = pool.take();
  }
  EXPECT_EQ(pool.taken(), 0U);
  std::vector<RntiPool::Held> all;
  for (unsigned i = 0; i + 1 < RntiPool::kLast; ++i) all.push_back(*pool.take());
  EXPECT_EQ(all.front().value().value, 2);
  EXPECT_EQ(all.back().value().value, RntiPool::kLast);
  EXPECT_EQ(pool.take()->value().value, 1);
}

TEST(RntiPool, it_may_go_on_from_any_place) {
  EXPECT_EQ(RntiPool(500).take()->value().value, 501);
  EXPECT_EQ(RntiPool(RntiPool::kLast).take()->value().value, RntiPool::kFirst);
  EXPECT_EQ(RntiPool(0xFFFF).take()->value().value, 0xFFFF % (RntiPool::kLast + 1) + 1);
}

TEST(RntiPool, when_all_are_taken_there_is_none) {
  RntiPool pool;
  std::vector<RntiPool::Held> all;
  while (auto one = pool.take()) all.push_back(*std::move(one));
  EXPECT_EQ(all.size(), std::size_t{RntiPool::kLast});
  const auto back = all[100].value();
  all.erase(all.begin() + 100, all.begin() + 101);
  EXPECT_EQ(pool.take()->value(), back);
}

}  // namespace
}  // namespace splitplane::datapath
