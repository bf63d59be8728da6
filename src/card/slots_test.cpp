#include "card/slots.h"

#include <gtest/gtest.h>

namespace splitplane::nic {
namespace {

TEST(Slots, each_slot_is_given_once_until_all_are_in_use) {
  Slots slots(2);
  const auto first = slots.take(), second = slots.take();
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->number, second->number);
  EXPECT_TRUE(first->fresh && second->fresh);
  EXPECT_FALSE(slots.take());
  slots.give_back(*first);
  const auto again = slots.take();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->number, first->number);
  EXPECT_FALSE(again->fresh) << "the bearer before has written its registers";
}

TEST(Slots, a_slot_whose_taking_is_undone_is_as_fresh_as_before) {
  Slots slots(3);
  slots.give_back(*slots.take());
  const auto used = slots.take(), fresh = slots.take();
  slots.undo(*fresh);
  slots.undo(*used);
  EXPECT_FALSE(slots.take()->fresh);
  const auto next = slots.take();
  EXPECT_TRUE(next->fresh);
  EXPECT_EQ(next->number, fresh->number);
  EXPECT_TRUE(slots.take());
  EXPECT_FALSE(slots.take()) << "no slot was lost or made";
}

}  // namespace
}  // namespace splitplane::nic
