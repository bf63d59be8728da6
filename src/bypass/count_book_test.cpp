// A bearer's numbers: each comes once, without holes, in any order that rings may cause, also beyond the end of the
// SNs.
#include "bypass/count_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace splitplane::bypass {
namespace {

constexpr unsigned kBits = 12;  // SNs that end soon
constexpr std::uint32_t kMask = (1U << kBits) - 1;

TEST(CountBook, numbers_in_order_are_sound_and_go_on_behind_the_last_sn) {
  CountBook book(2, kBits);
  for (std::uint32_t n = 0; n < 3 * kMask; ++n) ASSERT_EQ(book.see(1, n & kMask), n);
  EXPECT_EQ(book.repeated(), 0U);
  EXPECT_EQ(book.missing(), 0U);
}

TEST(CountBook, order_does_not_matter_within_half_of_the_sns) {
  constexpr std::uint32_t kBlock = 1000;
  CountBook book(1, kBits);
  Random random(1);
  std::vector<std::uint32_t> block(kBlock);
  for (std::uint32_t from = 0; from < 40 * kBlock; from += kBlock) {
    std::iota(block.begin(), block.end(), from);
    for (std::uint32_t i = kBlock - 1; i > 0; --i) std::swap(block[i], block[random.below(i + 1)]);
    for (const std::uint32_t n : block) ASSERT_EQ(book.see(0, n & kMask), n);
    ASSERT_EQ(book.repeated(), 0U);
    ASSERT_EQ(book.missing(), 0U);
  }
}

TEST(CountBook, a_number_that_comes_twice_is_counted_wherever_it_is) {
  CountBook book(1, kBits);
  for (const std::uint32_t n : {0, 1, 2, 5, 6}) book.see(0, n);
  EXPECT_EQ(book.repeated(), 0U);
  book.see(0, 1);  // before the hole
  EXPECT_EQ(book.repeated(), 1U);
  book.see(0, 5);  // behind it
  EXPECT_EQ(book.repeated(), 2U);
  book.see(0, 6);  // the highest
  EXPECT_EQ(book.repeated(), 3U);
  EXPECT_EQ(book.missing(), 2U) << "3 and 4";
}

TEST(CountBook, a_hole_is_missing_until_it_is_filled) {
  CountBook book(1, kBits);
  book.see(0, 1);
  EXPECT_EQ(book.missing(), 1U);
  book.see(0, 0);
  EXPECT_EQ(book.missing(), 0U);
  book.see(0, 300);
  EXPECT_EQ(book.missing(), 298U);
  for (std::uint32_t n = 2; n < 300; ++n) book.see(0, n);
  EXPECT_EQ(book.missing(), 0U);
  EXPECT_EQ(book.repeated(), 0U);
}

TEST(CountBook, bearers_are_apart) {
  CountBook book(3, kBits);
  for (std::uint32_t n = 0; n < 10; ++n) {
    book.see(1, n);
    book.see(2, n);
  }
  book.see(2, 11);
  EXPECT_EQ(book.repeated(), 0U);
  EXPECT_EQ(book.missing(), 1U);
}

TEST(CountBook, what_is_too_far_behind_is_given_up_once) {
  constexpr unsigned kLongSn = 18;
  CountBook book(1, kLongSn);
  book.see(0, 0);
  for (std::uint32_t n = 3; n < 200'000; ++n) book.see(0, n);
  EXPECT_EQ(book.missing(), 2U);
  EXPECT_EQ(book.repeated(), 0U);
  for (std::uint32_t n = 200'000; n < 600'000; ++n) book.see(0, n & ((1U << kLongSn) - 1));
  EXPECT_EQ(book.missing(), 2U);
  book.see(0, (600'000 + CountBook::kReach + 10) & ((1U << kLongSn) - 1));  // a leap beyond the whole record
  EXPECT_EQ(book.missing(), 2U + CountBook::kReach + 10);
  EXPECT_EQ(book.repeated(), 0U);
}

}  // namespace
}  // namespace splitplane::bypass
