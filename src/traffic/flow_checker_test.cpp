// The checker against RFC 4737's definition, worked out over sets by a second, slow implementation.
#include "traffic/flow_checker.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace splitplane::traffic {
namespace {

FlowCounts counts_after(std::initializer_list<std::uint64_t> sequence, std::uint32_t window = 64) {
  FlowChecker checker(1, window);
  for (const auto s : sequence) checker.arrive(0, s);
  return checker.counts(0);
}

TEST(FlowChecker, packets_in_order_are_just_counted) {
  EXPECT_EQ(counts_after({0, 1, 2}), (FlowCounts{.next = 3, .unique = 3}));
  EXPECT_EQ(counts_after({0, 1, 2}).lost(), 0U);
}

TEST(FlowChecker, a_hole_is_a_loss_until_it_is_filled) {
  EXPECT_EQ(counts_after({0, 3}).lost(), 2U);
  EXPECT_EQ(counts_after({0, 3, 1, 2}), (FlowCounts{.next = 4, .unique = 4, .reordered = 2}));
}

TEST(FlowChecker, a_loss_at_the_end_shows_when_the_number_sent_is_known) {
  EXPECT_EQ(counts_after({0, 1}).lost(), 0U);
  EXPECT_EQ(counts_after({0, 1}).lost_of(5), 3U);
}

TEST(FlowChecker, a_second_copy_is_a_duplicate_and_not_reordered) {
  EXPECT_EQ(counts_after({0, 1, 0, 1, 1}), (FlowCounts{.next = 2, .unique = 2, .duplicates = 3}));
  EXPECT_EQ(counts_after({1, 0, 0}), (FlowCounts{.next = 2, .unique = 2, .duplicates = 1, .reordered = 1}));
}

TEST(FlowChecker, what_is_below_the_window_is_counted_apart) {
  EXPECT_EQ(counts_after({64, 1}).reordered, 1U);
  EXPECT_EQ(counts_after({64, 0}), (FlowCounts{.next = 65, .unique = 1, .too_old = 1}));
}

TEST(FlowChecker, a_jump_beyond_the_window_forgets_what_was_before) {
  EXPECT_EQ(counts_after({0, 1, 1000, 999}), (FlowCounts{.next = 1001, .unique = 4, .reordered = 1}));
}

TEST(FlowChecker, flows_do_not_touch_each_other) {
  FlowChecker checker(3, 128);
  for (std::uint64_t s = 0; s < 500; ++s) checker.arrive(1, s);
  checker.arrive(2, 5);
  EXPECT_EQ(checker.counts(0), FlowCounts{});
  EXPECT_EQ(checker.counts(1), (FlowCounts{.next = 500, .unique = 500}));
  EXPECT_EQ(checker.counts(2).lost(), 5U);
  EXPECT_EQ(checker.total().unique, 501U);
}

RC_GTEST_PROP(FlowChecker, agrees_with_the_definition, ()) {
  const auto arrivals = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 200));
  FlowChecker checker(1, 256);  // no number leaves this window
  FlowCounts expected;
  std::set<std::uint64_t> seen;
  for (const auto s : arrivals) {
    checker.arrive(0, s);
    if (!seen.insert(s).second) {
      ++expected.duplicates;
    } else if (s < expected.next) {
      ++expected.reordered;
    } else {
      expected.next = s + 1;
    }
  }
  expected.unique = seen.size();
  RC_ASSERT(checker.counts(0) == expected);
}

RC_GTEST_PROP(FlowChecker, a_small_window_counts_each_packet_once, ()) {
  const auto arrivals = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 2000));
  FlowChecker checker(1, 64);
  std::set<std::uint64_t> seen;
  for (const auto s : arrivals) {
    const bool copy = !seen.insert(s).second;
    const Arrival arrival = checker.arrive(0, s);
    if (arrival == Arrival::kDuplicate) RC_ASSERT(copy);
    if (arrival == Arrival::kInOrder || arrival == Arrival::kReordered) RC_ASSERT(!copy);
  }
  const FlowCounts counts = checker.counts(0);
  RC_ASSERT(counts.unique + counts.duplicates + counts.too_old == arrivals.size());
}

}  // namespace
}  // namespace splitplane::traffic
