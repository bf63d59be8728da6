#include "ran/pdcp/waiting_queue.h"

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

TEST(WaitingQueue, gives_sdus_back_in_order_with_their_deadlines) {
  Home home;
  WaitingQueue<Buffer> queue(1000, home.memory);
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned i = 0; i < 50 + round; ++i) {
      Buffer sdu = home.pool.make(pattern(2, i));
      ASSERT_TRUE(queue.push(sdu, 100 + i));
    }
    for (unsigned i = 0; i < 50 + round; ++i) {
      ASSERT_EQ(queue.size(), 50 + round - i);
      ASSERT_EQ(queue.deadline(), 100 + i);
      ASSERT_EQ(bytes_of(queue.pop()), pattern(2, i));
    }
    EXPECT_TRUE(queue.empty());
    EXPECT_TRUE(home.memory.unused());
  }
}

TEST(WaitingQueue, is_full_at_its_limit_and_without_pages) {
  Home home({.directories = 1, .sent_pages = 1, .reorder_pages = 1, .waiting_pages = 1});
  WaitingQueue<Buffer> queue(2, home.memory), other(100, home.memory);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(queue.full());
    Buffer sdu = home.pool.make(pattern(2));
    ASSERT_TRUE(queue.push(sdu, 0));
  }
  EXPECT_TRUE(queue.full());
  Buffer sdu = home.pool.make(pattern(2));
  EXPECT_FALSE(other.push(sdu, 0));
  EXPECT_TRUE(sdu) << "it still belongs to the caller";
  queue.clear();
  EXPECT_TRUE(other.push(sdu, 0));
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test
