#include "phy/slots/deadlines.h"

#include <gtest/gtest.h>

namespace splitplane::phy {
namespace {

TEST(Deadlines, the_window_ends_at_the_deadline_and_both_its_ends_are_on_time) {
  Deadlines deadlines(100);
  EXPECT_EQ(deadlines.record(1000, 899), Timing::early);
  EXPECT_EQ(deadlines.record(1000, 900), Timing::on_time);
  EXPECT_EQ(deadlines.record(1000, 1000), Timing::on_time);
  EXPECT_EQ(deadlines.record(1000, 1001), Timing::late);
  EXPECT_EQ(deadlines.counted(Timing::early), 1U);
  EXPECT_EQ(deadlines.counted(Timing::on_time), 2U);
  EXPECT_EQ(deadlines.counted(Timing::late), 1U);
}

TEST(Deadlines, lead_and_lateness_have_each_block_once) {
  Deadlines deadlines(100'000);
  for (Ns done = 0; done <= 2000; done += 10) (void)deadlines.record(1500, done);
  EXPECT_EQ(deadlines.lead().total(), 151U);
  EXPECT_EQ(deadlines.lead().max(), 1500U);
  EXPECT_EQ(deadlines.lead().min(), 0U);
  EXPECT_EQ(deadlines.lateness().total(), 50U);
  EXPECT_EQ(deadlines.lateness().max(), 500U);
  EXPECT_EQ(deadlines.lateness().min(), 10U);
}

TEST(Deadlines, each_timing_has_a_name_for_counters) {
  EXPECT_EQ(name_of(Timing::early), "early");
  EXPECT_EQ(name_of(Timing::on_time), "on_time");
  EXPECT_EQ(name_of(Timing::late), "late");
}

}  // namespace
}  // namespace splitplane::phy
