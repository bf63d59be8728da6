#include "ran/rlc/tm_entity.h"

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

TEST(TmSend, gives_sdus_as_they_are_when_they_fit) {
  Home home;
  TmSend<Buffer> tm(2, home.memory);
  Buffer a = home.make(pattern(10)), b = home.make(pattern(5)), c = home.make(pattern(5));
  EXPECT_TRUE(tm.send(a));
  EXPECT_TRUE(tm.send(b));
  EXPECT_FALSE(tm.send(c));
  EXPECT_TRUE(c);
  EXPECT_EQ(tm.volume(), 15U);
  EXPECT_FALSE(tm.pull(9));  // it waits, and nothing passes it
  EXPECT_EQ(tm.waiting(), 2U);
  EXPECT_EQ(tm.next_bytes(), 10U);
  EXPECT_EQ(to_hex(buf::octets(tm.pull(10))), to_hex(pattern(10)));
  EXPECT_TRUE(tm.discard(1));
  EXPECT_FALSE(tm.pull(100));
  EXPECT_EQ(tm.volume(), 0U);
  EXPECT_EQ(tm.next_bytes(), 0U);
}

TEST(TmSend, goes_without_a_leak) {
  Home home;
  TmSend<Buffer> tm(100, home.memory);
  for (int i = 0; i < 70; ++i) {
    Buffer sdu = home.make(pattern(3));
    ASSERT_TRUE(tm.send(sdu));
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
