#include "sessions/flow_counters.h"

#include <gtest/gtest.h>

namespace splitplane::datapath {
namespace {

constexpr std::uint32_t kPlaces = 8;

Teid session_of_shard(std::uint8_t shard, std::uint32_t index) {
  return Teid{ran::make_teid(1, ShardId{shard}, index)};
}

void open(FlowCounters& counters, Teid session) {
  auto memory = counters.make(session, kPlaces);
  counters.open(session, memory);
}

TEST(FlowCounters, an_sdu_counts_for_its_session_its_flow_and_its_direction) {
  FlowCounters counters;
  const Teid one = session_of_shard(1, 2), other = session_of_shard(1, 3), far = session_of_shard(200, 2);
  for (const Teid session : {one, other, far}) open(counters, session);
  counters.count_downlink(one.value, 63, 100);
  counters.count_downlink(one.value, 63, 20);
  counters.count_uplink(one.value, 63, 7);
  counters.count_uplink(far.value, 0, 9);
  const auto& flows = counters.find(one.value)->flows;
  EXPECT_EQ(flows[63].downlink.sdus, 2U);
  EXPECT_EQ(flows[63].downlink.octets, 120U);
  EXPECT_EQ(flows[63].uplink.sdus, 1U);
  EXPECT_EQ(flows[63].uplink.octets, 7U);
  EXPECT_EQ(flows[62].downlink.sdus + flows[0].uplink.sdus, 0U);
  EXPECT_EQ(counters.find(other.value)->flows[63].downlink.sdus, 0U);
  EXPECT_EQ(counters.find(far.value)->flows[0].uplink.octets, 9U);
}

TEST(FlowCounters, a_session_that_comes_back_counts_from_zero) {
  FlowCounters counters;
  const Teid session = session_of_shard(1, 2);
  open(counters, session);
  counters.count_downlink(session.value, 5, 1);
  const auto before = counters.close(session);
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(before->flows[5].downlink.sdus, 1U);
  EXPECT_EQ(counters.find(session.value), nullptr);
  EXPECT_EQ(counters.close(session), nullptr);
  open(counters, session);
  EXPECT_EQ(counters.find(session.value)->flows[5].downlink.sdus, 0U);
}

TEST(FlowCounters, a_session_that_is_opened_twice_gives_its_memory_back) {
  FlowCounters counters;
  const Teid session = session_of_shard(1, 2);
  open(counters, session);
  counters.count_uplink(session.value, 5, 1);
  auto memory = counters.make(session, kPlaces);
  EXPECT_TRUE(memory.places.empty()) << "the shard has its places";
  counters.open(session, memory);
  ASSERT_NE(memory.counts, nullptr);
  EXPECT_EQ(memory.counts->flows[5].uplink.sdus, 1U);
  EXPECT_EQ(counters.find(session.value)->flows[5].uplink.sdus, 0U);
}

TEST(FlowCounters, what_is_no_session_counts_nothing) {
  FlowCounters counters;
  const Teid session = session_of_shard(1, 2);
  counters.count_downlink(session.value, 5, 1);
  EXPECT_EQ(counters.close(session), nullptr);
  open(counters, session);
  counters.count_uplink(session_of_shard(1, 3).value, 5, 1);
  counters.count_downlink(session_of_shard(1, kPlaces).value, 5, 1);
  EXPECT_EQ(counters.find(session.value)->flows[5].uplink.sdus, 0U);
}

}  // namespace
}  // namespace splitplane::datapath
