#include "ran/intrusive_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace splitplane::ran {
namespace {

struct Item {
  int name = 0;
  bool queued = false;
  Item* next = nullptr;
};
using Queue = IntrusiveQueue<Item, &Item::next, &Item::queued>;

class IntrusiveQueueTest : public testing::Test {
 protected:
  IntrusiveQueueTest() {
    for (int i = 0; i < 4; ++i) items_[static_cast<std::size_t>(i)].name = i;
  }
  std::vector<int> rest() {
    std::vector<int> names;
    while (Item* const one = queue_.pop()) names.push_back(one->name);
    return names;
  }
  std::array<Item, 4> items_;
  Queue queue_;
};

TEST_F(IntrusiveQueueTest, the_first_in_is_the_first_out_and_each_is_in_once) {
  for (const unsigned i : {2U, 0U, 2U, 3U, 0U}) queue_.push(items_[i]);
  EXPECT_EQ(queue_.front(), &items_[2]);
  EXPECT_EQ(queue_.back(), &items_[3]);
  EXPECT_THAT(rest(), testing::ElementsAre(2, 0, 3));
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.front(), nullptr);
  EXPECT_EQ(queue_.back(), nullptr);
  EXPECT_EQ(queue_.pop(), nullptr);
}

TEST_F(IntrusiveQueueTest, one_that_was_taken_out_comes_again_at_the_end) {
  queue_.push(items_[0]);
  queue_.push(items_[1]);
  EXPECT_EQ(queue_.pop(), &items_[0]);
  queue_.push(items_[0]);
  EXPECT_THAT(rest(), testing::ElementsAre(1, 0));
}

TEST_F(IntrusiveQueueTest, any_can_be_removed_and_the_others_keep_their_order) {
  for (std::size_t out = 0; out < items_.size(); ++out) {
    for (Item& item : items_) queue_.push(item);
    queue_.remove(items_[out]);
    EXPECT_FALSE(items_[out].queued);
    queue_.remove(items_[out]);
    std::vector<int> wanted{0, 1, 2, 3};
    wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(out));
    EXPECT_EQ(queue_.back()->name, wanted.back());
    EXPECT_EQ(rest(), wanted);
  }
}

TEST_F(IntrusiveQueueTest, after_clear_each_can_come_in_again) {
  for (Item& item : items_) queue_.push(item);
  queue_.clear();
  EXPECT_TRUE(queue_.empty());
  queue_.push(items_[3]);
  EXPECT_THAT(rest(), testing::ElementsAre(3));
}

}  // namespace
}  // namespace splitplane::ran
