// Compares the synthetic device with the checker: the flows show what the device says it did.
#include "traffic/synthetic_device.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "traffic/flow_checker.h"

namespace splitplane::traffic {
namespace {

struct Numbered {
  std::uint32_t flow = 0;
  std::uint64_t sequence = 0;
};
constexpr auto kCopy = [](Numbered n) { return n; };

// Sends `packets` through in turn over the flows, a microsecond apart. Returns what left.
FlowCounts run(SyntheticDevice<Numbered>& device, std::uint32_t flows, std::uint32_t packets) {
  FlowChecker checker(flows, 1024);
  const auto take = [&](Numbered n) { checker.arrive(n.flow, n.sequence); };
  for (std::uint32_t i = 0; i < packets; ++i) {
    const std::uint64_t now = std::uint64_t{i} * 1000;
    std::ignore = device.arrive({i % flows, i / flows}, i % flows, now, kCopy);
    while (const auto n = device.depart(now)) take(*n);
  }
  while (const auto n = device.drain()) take(*n);
  return checker.total();
}

RC_GTEST_PROP(SyntheticDevice, what_it_did_is_what_the_flows_show, ()) {
  const auto flows = *rc::gen::inRange<std::uint32_t>(1, 20);
  const auto packets = *rc::gen::inRange<std::uint32_t>(1, 3000);
  SyntheticDevice<Numbered> device({.seed = *rc::gen::arbitrary<std::uint64_t>(),
                                    .loss = 0.05,
                                    .duplication = 0.05,
                                    .reordering = 0.05,
                                    .capacity = 900'000,  // below what is offered
                                    .delay_ns = 5000,
                                    .jitter_ns = 3000,
                                    .queue = 64,
                                    .flows = flows});
  const FlowCounts seen = run(device, flows, packets);
  const DeviceCounts& did = device.counts();
  RC_ASSERT(did.received == packets);
  RC_ASSERT(seen.unique == packets - did.lost - did.overflowed);
  RC_ASSERT(seen.duplicates == did.duplicated);
  RC_ASSERT(seen.reordered == did.reordered);
  RC_ASSERT(seen.too_old == 0U);
  RC_ASSERT(did.sent == seen.unique + seen.duplicates);
}

TEST(SyntheticDevice, loss_duplication_and_reordering_keep_their_shares) {
  SyntheticDevice<Numbered> device({.loss = 0.01, .duplication = 0.02, .reordering = 0.03, .flows = 8});
  run(device, 8, 1'000'000);
  EXPECT_NEAR(static_cast<double>(device.counts().lost), 10'000, 500);
  EXPECT_NEAR(static_cast<double>(device.counts().duplicated), 19'200, 700);  // of what is neither lost nor late
  EXPECT_NEAR(static_cast<double>(device.counts().reordered), 29'700, 1'500);
}

TEST(SyntheticDevice, delay_is_kept_and_capacity_queues) {
  SyntheticDevice<Numbered> device({.capacity = 1e6, .delay_ns = 10'000});
  for (std::uint64_t s = 0; s < 3; ++s) EXPECT_TRUE(device.arrive({0, s}, 0, 0, kCopy));
  EXPECT_EQ(device.next_ready(), 11'000U);  // one service time and the delay
  EXPECT_FALSE(device.depart(10'999));
  EXPECT_EQ(device.depart(11'000)->sequence, 0U);
  EXPECT_EQ(device.next_ready(), 12'000U);
  EXPECT_EQ(device.depart(13'000)->sequence, 1U);
  EXPECT_EQ(device.depart(13'000)->sequence, 2U);
  EXPECT_FALSE(device.depart(99'999));
}

TEST(SyntheticDevice, a_full_queue_loses_what_comes) {
  SyntheticDevice<Numbered> device({.delay_ns = 1000, .queue = 2});
  EXPECT_TRUE(device.arrive({0, 0}, 0, 0, kCopy));
  EXPECT_TRUE(device.arrive({0, 1}, 0, 0, kCopy));
  EXPECT_FALSE(device.arrive({0, 2}, 0, 0, kCopy));
  EXPECT_EQ(device.counts().overflowed, 1U);
}

}  // namespace
}  // namespace splitplane::traffic
