#include "phy/scheduler/uplink_demand.h"

#include <gtest/gtest.h>

namespace splitplane::phy {
namespace {

using wire::mac::LongBsr;
using wire::mac::LongTruncatedBsr;
using wire::mac::ShortBsr;

constexpr std::uint32_t kHeaders = UplinkDemand::kHeaderBytes;

LongBsr all_groups(std::uint8_t index) {
  LongBsr bsr{.present = 0xFF};
  bsr.size.fill(index);
  return bsr;
}

TEST(UplinkDemand, a_ue_that_said_nothing_gets_nothing_and_a_request_gets_one_grant) {
  UplinkDemand demand;
  EXPECT_EQ(demand.bytes(), 0U);
  demand.requested();
  EXPECT_EQ(demand.bytes(), UplinkDemand::kRequestBytes);
  demand.granted(10, 64);
  EXPECT_EQ(demand.bytes(), 0U);
}

TEST(UplinkDemand, a_report_is_worth_the_most_that_its_index_means) {
  UplinkDemand demand;
  demand.report(1, ShortBsr{.lcg = 2, .size = 9});
  EXPECT_EQ(demand.bytes(), 142U + kHeaders);
  demand.report(3, ShortBsr{.lcg = 2, .size = 31});
  EXPECT_EQ(demand.bytes(), 150001U + kHeaders);
  demand.report(4, all_groups(254));
  EXPECT_EQ(demand.bytes(), 8U * 81338369 + kHeaders);
  demand.report(5, all_groups(255));  // reserved: nothing
  EXPECT_EQ(demand.bytes(), 0U);
}

TEST(UplinkDemand, a_short_report_says_that_the_other_groups_are_empty_unless_it_is_truncated) {
  UplinkDemand demand;
  demand.report(1, ShortBsr{.lcg = 2, .size = 9});
  demand.report(2, ShortBsr{.lcg = 5, .size = 1}, true);
  EXPECT_EQ(demand.bytes(), 152U + kHeaders);
  demand.report(3, ShortBsr{.lcg = 5, .size = 1});
  EXPECT_EQ(demand.bytes(), 10U + kHeaders);
  demand.report(4, ShortBsr{.lcg = 1, .size = 0});
  EXPECT_EQ(demand.bytes(), 0U);
}

TEST(UplinkDemand, a_long_report_says_that_absent_groups_are_empty) {
  UplinkDemand demand;
  demand.report(1, ShortBsr{.lcg = 2, .size = 9});
  LongBsr bsr{.present = 1 << 6};
  bsr.size[6] = 1;
  demand.report(2, bsr);
  EXPECT_EQ(demand.bytes(), 10U + kHeaders);
}

TEST(UplinkDemand, a_truncated_report_asks_for_a_tb_that_can_tell) {
  UplinkDemand demand;
  demand.report(1, LongTruncatedBsr{.with_data = 0b101, .sizes = {}});
  EXPECT_EQ(demand.bytes(), 2U + kHeaders);
  demand.report(2, LongTruncatedBsr{.with_data = 0, .sizes = {}});
  EXPECT_EQ(demand.bytes(), 0U);
}

TEST(UplinkDemand, grants_after_the_reports_slot_are_taken_off_and_those_before_are_in_it) {
  UplinkDemand demand;
  demand.report(10, ShortBsr{.lcg = 0, .size = 31});
  demand.granted(11, 50000);
  demand.granted(12, 50000);
  EXPECT_EQ(demand.bytes(), 50001U + kHeaders);
  demand.granted(13, 60000);
  EXPECT_EQ(demand.bytes(), 0U);
  // The TB of slot 12 carries the next report: the UE knew of the grants of 11 and 12 when it wrote it.
  demand.report(12, ShortBsr{.lcg = 0, .size = 30});
  EXPECT_EQ(demand.bytes(), 90000U + kHeaders);
}

TEST(UplinkDemand, a_report_that_comes_after_a_younger_one_changes_nothing) {
  UplinkDemand demand;
  demand.report(20, ShortBsr{.lcg = 0, .size = 9});
  demand.report(19, ShortBsr{.lcg = 0, .size = 0});
  EXPECT_EQ(demand.bytes(), 142U + kHeaders);
  EXPECT_EQ(demand.stale_reports(), 1U);
  EXPECT_EQ(demand.reports(), 1U);
}

// Half a cycle of frame numbers is 5.12 s.
TEST(UplinkDemand, a_report_after_minutes_of_silence_counts) {
  UplinkDemand demand;
  demand.report(20, ShortBsr{.lcg = 0, .size = 0});
  demand.granted(21, 1000);
  demand.report(20 + 10'000'000, ShortBsr{.lcg = 0, .size = 9});
  EXPECT_EQ(demand.bytes(), 142U + kHeaders);
}

}  // namespace
}  // namespace splitplane::phy
