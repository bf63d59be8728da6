#include "radio/slot_orders.h"

#include <gtest/gtest.h>

namespace splitplane::datapath {
namespace {

TEST(SlotOrders, plans_come_in_order_and_count_as_read_when_they_are_done) {
  SlotOrders orders(4, 4);
  EXPECT_EQ(orders.front(), nullptr);
  const std::array<std::uint8_t, 3> block{1, 2, 3};
  const std::array<DownlinkSlots::Sent, 1> downlink{{{.grant = {.rnti = 17}, .block = block}}};
  const std::array<phy::Grant, 2> uplink{{{.rnti = 18}, {.rnti = 19}}};
  const std::array<phy::Rnti, 1> chances{20};
  orders.put({.number = 5,
              .slot = {{1}, 3, 4},
              .uplink_slot = {{1}, 3, 8},
              .downlink = downlink,
              .uplink = uplink,
              .request_chances = chances});
  orders.put({.number = 6});
  EXPECT_EQ(orders.read(), 0U);
  const SlotOrder* const first = orders.front();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->number, 5U);
  EXPECT_EQ(first->downlink.at(0).grant.rnti, 17);
  EXPECT_EQ(first->downlink.at(0).block.data(), block.data()) << "a block is not copied";
  EXPECT_EQ(first->uplink.at(1).rnti, 19);
  EXPECT_EQ(first->request_chances.at(0), 20);
  EXPECT_EQ(first->uplink_slot.slot, 8);
  orders.pop();
  EXPECT_EQ(orders.read(), 5U);
  ASSERT_NE(orders.front(), nullptr);
  EXPECT_TRUE(orders.front()->downlink.empty());
  orders.pop();
  EXPECT_EQ(orders.front(), nullptr);
}

TEST(SlotOrders, a_reader_that_stands_still_makes_them_full) {
  SlotOrders orders(1, 1);
  for (std::uint64_t n = 1; n <= SlotOrders::kMost; ++n) {
    ASSERT_FALSE(orders.full());
    orders.put({.number = n});
  }
  EXPECT_TRUE(orders.full());
  orders.pop();
  EXPECT_FALSE(orders.full());
}

}  // namespace
}  // namespace splitplane::datapath
