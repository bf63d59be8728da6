#include "ue/sn_tracker.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <vector>

namespace splitplane::ue {
namespace {

TEST(SnTracker, numbers_in_order_are_fresh_and_none_is_missing_across_both_wraps) {
  for (const unsigned bits : {12U, 18U}) {
    const std::uint32_t modulus = 1U << bits;
    SnTracker tracker(bits, 0, true);
    for (std::uint32_t count = 0; count < 2 * modulus + 5; ++count) {
      ASSERT_EQ(tracker.accept(count % modulus), Arrival::kFresh) << bits << " bits, COUNT " << count;
    }
    EXPECT_EQ(tracker.next(), 2 * modulus + 5);
    EXPECT_EQ(tracker.next_sn(), 5U);
    EXPECT_EQ(tracker.missing(), 0U);
  }
}

TEST(SnTracker, a_skipped_number_is_missing_until_it_arrives_late_and_then_is_a_duplicate) {
  SnTracker tracker(12, 4095, true);
  EXPECT_EQ(tracker.accept(1), Arrival::kFresh);  // skips 4095 and 0
  EXPECT_EQ(tracker.missing(), 2U);
  EXPECT_EQ(tracker.accept(4095), Arrival::kLate);
  EXPECT_EQ(tracker.accept(4095), Arrival::kDuplicate);
  EXPECT_EQ(tracker.accept(1), Arrival::kDuplicate);
  EXPECT_EQ(tracker.accept(0), Arrival::kLate);
  EXPECT_EQ(tracker.missing(), 0U);
  EXPECT_EQ(tracker.next(), 4098U);
}

TEST(SnTracker, half_the_number_space_is_ahead_and_half_behind) {
  SnTracker ahead(12, 0, true);
  EXPECT_EQ(ahead.accept(2047), Arrival::kFresh);
  EXPECT_EQ(ahead.missing(), 2047U);
  SnTracker behind(12, 0, true);
  EXPECT_EQ(behind.accept(2048), Arrival::kOld);
  EXPECT_EQ(behind.next(), 0U);
}

TEST(SnTracker, what_is_further_behind_than_64_is_old) {
  SnTracker tracker(18, 0, true);
  EXPECT_EQ(tracker.accept(100), Arrival::kFresh);
  EXPECT_EQ(tracker.accept(101 - 64), Arrival::kLate);
  EXPECT_EQ(tracker.accept(101 - 65), Arrival::kOld);
  EXPECT_EQ(tracker.missing(), 99U);
}

TEST(SnTracker, what_is_expected_from_before_the_start_is_late_once_and_was_not_missing) {
  SnTracker tracker(12, 90, false);
  tracker.expect_earlier();
  EXPECT_EQ(tracker.accept(100), Arrival::kFresh);
  EXPECT_EQ(tracker.accept(98), Arrival::kLate);
  EXPECT_EQ(tracker.accept(98), Arrival::kDuplicate);
  EXPECT_EQ(tracker.missing(), 0U);
}

TEST(SnTracker, nothing_before_the_start_is_received) {
  SnTracker tracker(12, 0, true);
  EXPECT_EQ(tracker.accept(4095), Arrival::kDuplicate);  // would be COUNT -1
  EXPECT_EQ(tracker.missing(), 0U);
}

TEST(SnTracker, an_unsynchronised_one_takes_its_place_from_the_first_and_keeps_the_hfn) {
  SnTracker forward(12, 3 * 4096 + 4090, false);
  EXPECT_EQ(forward.accept(4), Arrival::kFresh);
  EXPECT_EQ(forward.next(), 4U * 4096 + 5);
  EXPECT_EQ(forward.missing(), 0U);
  SnTracker backward(12, 4 * 4096 + 1, false);
  EXPECT_EQ(backward.accept(4095), Arrival::kFresh);
  EXPECT_EQ(backward.next(), 4U * 4096);
}

// Compares with a model that remembers every COUNT: disorder and repetition within 60, and any loss.
TEST(SnTracker, agrees_with_a_model_that_remembers_everything) {
  rc::check([] {
    const unsigned bits = *rc::gen::element(12U, 18U);
    const std::uint32_t start = *rc::gen::inRange<std::uint32_t>(0, 1U << 20);
    SnTracker tracker(bits, start, true);
    std::set<std::uint32_t> seen;
    std::uint32_t next = start;
    std::uint64_t skipped = 0;
    for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-60, 8))) {
      const std::uint32_t count = next + static_cast<std::uint32_t>(step);
      const Arrival arrival = tracker.accept(count & ((1U << bits) - 1));
      if (static_cast<std::int32_t>(count - next) >= 0) {
        RC_ASSERT(arrival == Arrival::kFresh);
        skipped += count - next;
        next = count + 1;
        seen.insert(count);
      } else if (static_cast<std::int32_t>(count - start) < 0 || !seen.insert(count).second) {
        RC_ASSERT(arrival == Arrival::kDuplicate);
      } else {
        RC_ASSERT(arrival == Arrival::kLate);
        --skipped;
      }
      RC_ASSERT(tracker.next() == next);
      RC_ASSERT(tracker.missing() == skipped);
    }
  });
}

}  // namespace
}  // namespace splitplane::ue
