#include "returns/ready_frames.h"

#include <gmock/gmock.h>

#include "returns/test_returns.h"

namespace splitplane::datapath {
namespace {

using Kind = ReadyFrames::Kind;
using testing::ElementsAre;
using testing::Pair;

class ReadyFramesTest : public test::ReturnsTest {
 protected:
  void push(std::uint32_t index, unsigned bytes, Kind kind = Kind::kReturned) {
    frames.push(frame(index, bytes), 7, kind);
  }
  void pop(std::uint32_t index, unsigned bytes) {
    const ReadyFrames::Frame one = frames.pop();
    EXPECT_EQ(one.id, id(index).value);
    EXPECT_EQ(read(one.m), std::pair(index, bytes));
    EXPECT_EQ(one.deadline, 7U);
    rte_pktmbuf_free(one.m);
  }

  ReadyFrames frames;
};

TEST_F(ReadyFramesTest, frames_leave_in_their_order_and_are_counted_by_bearer) {
  push(1, 40);
  push(2, 41);
  push(1, 42, Kind::kSettled);
  push(1, 43);
  EXPECT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames.returned_of(id(1)), 2U) << "one has no packet";
  EXPECT_EQ(frames.returned_of(id(2)), 1U);
  EXPECT_EQ(frames.returned_of(id(3)), 0U);
  Burst burst;
  EXPECT_EQ(frames.peek(burst), 4U);
  EXPECT_EQ(read(burst.mbuf[1]), std::pair(2U, 41U));
  pop(1, 40);
  EXPECT_EQ(frames.returned_of(id(1)), 1U);
  pop(2, 41);
  EXPECT_EQ(frames.returned_of(id(2)), 0U);
  pop(1, 42);
  pop(1, 43);
  EXPECT_TRUE(frames.empty());
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(ReadyFramesTest, one_bearers_frames_are_taken_and_the_others_stay_in_order) {
  for (const std::uint32_t index : {2U, 1U, 2U, 1U}) push(index, 40 + static_cast<unsigned>(frames.size()));
  push(1, 50, Kind::kSettled);
  Sent taken;
  frames.take(id(1), [&](const ReadyFrames::Frame& one) {
    if (one.kind == Kind::kSettled) return false;
    taken.push_back(read(one.m));
    rte_pktmbuf_free(one.m);
    return true;
  });
  EXPECT_THAT(taken, ElementsAre(Pair(1, 41), Pair(1, 43)));
  EXPECT_EQ(frames.returned_of(id(1)), 0U);
  EXPECT_EQ(frames.returned_of(id(2)), 2U);
  frames.take(id(3), [](const ReadyFrames::Frame&) {
    ADD_FAILURE() << "it has none";
    return false;
  });
  pop(2, 40);
  pop(2, 42);
  pop(1, 50);
  EXPECT_TRUE(frames.empty());
}

TEST_F(ReadyFramesTest, what_is_left_is_freed_at_the_end) {
  {
    ReadyFrames some;
    some.push(frame(1, 40), 7, Kind::kReturned);
    some.push(frame(2, 40), 7, Kind::kSettled);
    EXPECT_EQ(pool.in_use(), 2U);
  }
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace splitplane::datapath
