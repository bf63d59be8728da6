#include "guard/state/age.h"

#include <gtest/gtest.h>

namespace splitplane::guard {
namespace {

TEST(Age, is_right_across_the_wrap_of_the_clock) {
  EXPECT_EQ(age(5, 0xfffffffb), 10U);
  EXPECT_EQ(age(1000, 1000), 0U);
  EXPECT_EQ(age<24>(0x01000005, 0x00fffffb), 10U);
  EXPECT_EQ(age<24>(7, 0x00fffffb), 12U) << "also where the whole clock wraps";
}

TEST(Age, of_a_stamp_slightly_ahead_is_none_and_of_one_far_ahead_is_large) {
  EXPECT_EQ(age(1000, 1001), 0U);
  EXPECT_EQ(age(1000, 1000 + kClockSkewSeconds), 0U);
  EXPECT_GT(age(1000, 1001 + kClockSkewSeconds), 1U << 31);
  EXPECT_EQ(age<24>(1000, 1000 + kClockSkewSeconds), 0U);
  EXPECT_GT(age<24>(1000, 1001 + kClockSkewSeconds), 1U << 23);
}

}  // namespace
}  // namespace splitplane::guard
