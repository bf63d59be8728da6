// What the worker does with reports of the PHY, also with those that collected while it stood still.
#include "radio/serve_phy.h"

#include <gtest/gtest.h>

#include "radio/test_ues.h"

namespace splitplane::datapath::test {
namespace {

constexpr phy::Numerology kMu{1};

struct Worker : TestCell {
  Worker() : TestCell(2), phy({.report_bytes = 1 << 16, .lead_slots = 4}) {}
  void begin(std::uint32_t index) {
    phy.newest_slot = index % kMu.slots_per_cycle();
    ASSERT_TRUE(phy.reports.put({.kind = PhyReport::Kind::kSlot, .slot = phy::slot_at(kMu, index)}));
    ++phy.slots_reported;
  }
  unsigned serve() {
    return serve_phy(phy, slots, cell, stats, [](LogicalChannel&, rte_mbuf* m) { rte_pktmbuf_free(m); }, [] {});
  }
  // Slots of the plans that wait for the PHY's thread.
  std::vector<std::uint32_t> plans() {
    std::vector<std::uint32_t> all;
    while (const SlotOrder* const order = phy.orders.front()) {
      all.push_back(order->slot.index());
      number = order->number;
      phy.orders.pop();
    }
    return all;
  }
  PhyExchange phy;
};

TEST(ServePhy, each_slot_that_begins_brings_the_plan_of_a_later_one) {
  Worker w;
  w.begin(100);
  EXPECT_EQ(w.serve(), 1U);
  w.begin(101);
  w.begin(102);
  EXPECT_EQ(w.serve(), 2U);
  EXPECT_EQ(w.plans(), (std::vector<std::uint32_t>{104, 105, 106}));
  EXPECT_EQ(w.phy.slots_done, w.phy.slots_reported);
  EXPECT_EQ(w.stats.phy_slots_planned.get(), 3U);
}

TEST(ServePhy, a_worker_that_stood_still_plans_no_slot_that_is_over) {
  Worker w;
  for (std::uint32_t i = 0; i < 1000; ++i) w.begin(100 + i);
  while (w.serve() != 0) {
  }
  EXPECT_EQ(w.plans(), (std::vector<std::uint32_t>{1100, 1101, 1102, 1103}));
  EXPECT_EQ(w.stats.phy_slots_passed_over.get(), 996U);
  EXPECT_EQ(w.phy.slots_done, w.phy.slots_reported);
}

TEST(ServePhy, slots_of_a_phy_that_is_gone_are_not_planned) {
  Worker w;
  w.begin(600);
  ASSERT_TRUE(w.phy.reports.put({.kind = PhyReport::Kind::kAway}));
  ASSERT_TRUE(w.phy.reports.put({.kind = PhyReport::Kind::kRuns}));
  w.begin(3);
  EXPECT_EQ(w.serve(), 4U);
  EXPECT_EQ(w.plans(), (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(w.phy.slots_done, w.phy.slots_reported);
}

TEST(ServePhy, a_thread_that_reads_no_plans_costs_slots_and_nothing_else) {
  Worker w;
  for (std::uint32_t i = 0; i < SlotOrders::kMost + 5; ++i) {
    w.begin(100 + i);
    (void)w.serve();
  }
  EXPECT_EQ(w.stats.phy_slots_passed_over.get(), 5U);
  EXPECT_EQ(w.plans().size(), SlotOrders::kMost);
}

}  // namespace
}  // namespace splitplane::datapath::test
