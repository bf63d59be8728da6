#include "ran/mac/bsr.h"

#include <gtest/gtest.h>

#include <vector>

#include "wire/test_octets.h"

namespace splitplane::ran::mac::test {
namespace {

using wire::test::to_hex;
using List = std::vector<Waiting>;

std::string hex(const ControlElement& element) {
  return to_hex(element.octets());
}
// Sends a BSR, so that no trigger is left.
void send(BufferStatus& bsr, const List& waiting, Time now = 0) {
  bsr.sent(BufferStatus::report(waiting, waiting), now);
}

TEST(Bsr, the_first_data_triggers_a_regular_one) {
  BufferStatus bsr({});
  bsr.observe(List{{0, 5, 0}, {1, 3, 0}});
  EXPECT_FALSE(bsr.triggered());
  bsr.observe(List{{0, 5, 10}, {1, 3, 0}});
  EXPECT_TRUE(bsr.regular());
}

TEST(Bsr, more_data_of_the_same_or_a_lower_priority_triggers_none) {
  BufferStatus bsr({});
  const List first{{0, 5, 10}, {1, 7, 0}, {2, 5, 0}};
  bsr.observe(first);
  send(bsr, first);
  EXPECT_FALSE(bsr.triggered());
  bsr.observe(List{{0, 5, 500}, {1, 7, 99}, {2, 5, 99}});
  EXPECT_FALSE(bsr.triggered());
}

TEST(Bsr, data_of_a_higher_priority_triggers_a_regular_one) {
  BufferStatus bsr({});
  const List first{{0, 5, 10}, {1, 3, 0}};
  bsr.observe(first);
  send(bsr, first);
  bsr.observe(List{{0, 5, 10}, {1, 3, 1}});
  EXPECT_TRUE(bsr.regular());
}

TEST(Bsr, data_after_empty_buffers_triggers_a_regular_one) {
  BufferStatus bsr({});
  const List some{{0, 5, 10}}, none{{0, 5, 0}};
  bsr.observe(some);
  send(bsr, some);
  bsr.observe(none);
  bsr.observe(some);
  EXPECT_TRUE(bsr.regular());
}

TEST(Bsr, the_retx_timer_triggers_a_regular_one_while_data_waits) {
  BufferStatus bsr({.retx = 80});
  const List some{{0, 5, 10}};
  bsr.observe(some);
  send(bsr, some, 100);
  EXPECT_EQ(bsr.next_expiry(), 180U);
  bsr.tick(179);
  EXPECT_FALSE(bsr.triggered());
  bsr.tick(180);
  EXPECT_TRUE(bsr.regular());
  send(bsr, some, 200);
  bsr.granted(250);  // a grant starts it anew
  bsr.tick(300);
  EXPECT_FALSE(bsr.triggered());
  bsr.observe(List{{0, 5, 0}});
  bsr.tick(400);
  EXPECT_FALSE(bsr.triggered()) << "nothing waits";
}

TEST(Bsr, the_periodic_timer_triggers_one_that_is_not_regular) {
  BufferStatus bsr({.periodic = 50, .retx = 1000});
  const List some{{0, 5, 10}};
  bsr.observe(some);
  send(bsr, some, 100);
  bsr.tick(150);
  EXPECT_TRUE(bsr.triggered());
  EXPECT_FALSE(bsr.regular());
}

TEST(Bsr, is_short_for_one_lcg_and_long_for_more_and_says_what_waits_afterwards) {
  const List one{{2, 5, 100}, {2, 6, 50}, {3, 1, 0}};
  EXPECT_EQ(BufferStatus::size(one), 2U);
  EXPECT_EQ(hex(BufferStatus::report(one, List{{2, 5, 0}, {2, 6, 14}, {3, 1, 0}})), "3d42");  // 14 octets: index 2
  const List two{{2, 5, 100}, {5, 6, 50}};
  EXPECT_EQ(BufferStatus::size(two), 5U);
  EXPECT_EQ(hex(BufferStatus::report(two, List{{2, 5, 19}, {5, 6, 0}})), "3e03240a00");
  EXPECT_EQ(hex(BufferStatus::report(List{{4, 1, 0}}, List{{4, 1, 0}})), "3d80") << "nothing waits";
}

TEST(Bsr, in_the_place_of_padding_the_room_decides_the_format) {
  const List three{{1, 9, 100}, {4, 2, 100}, {6, 5, 100}};
  EXPECT_EQ(BufferStatus::pad(1, three, three).size(), 0U);          // 100 octets are level 37, or 8 of the short table
  EXPECT_EQ(hex(BufferStatus::pad(2, three, three)), "3b88");        // short truncated: LCG 4 has the highest priority
  EXPECT_EQ(hex(BufferStatus::pad(3, three, three)), "3c0152");      // long truncated without a size
  EXPECT_EQ(hex(BufferStatus::pad(4, three, three)), "3c025225");    // of LCG 4
  EXPECT_EQ(hex(BufferStatus::pad(5, three, three)), "3c03522525");  // of LCGs 4 and 6
  EXPECT_EQ(hex(BufferStatus::pad(6, three, three)), "3e0452252525");
  const List one{{1, 9, 100}};
  EXPECT_EQ(hex(BufferStatus::pad(2, one, one)), "3d28");
  EXPECT_EQ(hex(BufferStatus::pad(3, one, one)), "3d28");
  EXPECT_EQ(hex(BufferStatus::pad(4, one, one)), "3e020225");
}

TEST(Bsr, a_truncated_one_answers_no_trigger_and_restarts_no_periodic_timer) {
  BufferStatus bsr({.periodic = 50, .retx = 1000});
  const List two{{1, 9, 100}, {4, 2, 100}};
  bsr.observe(two);
  bsr.sent(BufferStatus::pad(2, two, two), 100);
  EXPECT_TRUE(bsr.regular());
  EXPECT_EQ(bsr.next_expiry(), 1100U);
  bsr.sent(BufferStatus::pad(5, two, two), 100);
  EXPECT_FALSE(bsr.triggered());
  EXPECT_EQ(bsr.next_expiry(), 150U);
}

}  // namespace
}  // namespace splitplane::ran::mac::test
