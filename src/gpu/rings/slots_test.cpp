// Index rings past the end of their 32-bit count, and the census of slots.
#include "gpu/rings/slots.h"

#include <gtest/gtest.h>

#include <array>

#include "gpu/rings/lane.h"
#include "gpu/rings/ring_memory.h"
#include "gpu/rings/test_one_ring.h"

namespace splitplane::gpu {
namespace {

TEST(IndexRing, keeps_order_where_its_count_wraps) {
  std::array<std::uint32_t, 8> entries{};
  std::uint32_t produced = 0xfffffff0;
  const IndexRing<std::uint32_t> ring{entries.data(), &produced, 7};
  Producer<std::uint32_t> in{ring, produced};
  Consumer<std::uint32_t> out{ring, produced, produced};
  for (std::uint32_t n = 0; n < 100; n += 5) {
    for (std::uint32_t i = 0; i < 5; ++i) in.put(i, n + i);
    in.add(5);
    ASSERT_EQ(out.available(CpuLane{}, 1), 0U) << "not published yet";
    in.publish(CpuLane{});
    ASSERT_EQ(out.available(CpuLane{}, 5), 5U);
    for (std::uint32_t i = 0; i < 5; ++i) ASSERT_EQ(out.get(i), n + i);
    out.take(5);
  }
}

TEST(IndexRing, asks_the_producer_only_when_it_has_to) {
  std::array<std::uint32_t, 8> entries{};
  std::uint32_t produced = 0;
  Consumer<std::uint32_t> out{{entries.data(), &produced, 7}};
  produced = 3;
  EXPECT_EQ(out.available(CpuLane{}, 1), 3U);
  produced = 6;
  EXPECT_EQ(out.available(CpuLane{}, 2), 3U) << "what it knows is enough";
  EXPECT_EQ(out.available(CpuLane{}, 4), 6U);
}

TEST(SlotCensus, finds_a_slot_that_is_nowhere_or_twice) {
  test::OneRing<Echo> ring;
  ring.step();
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
  const std::uint32_t kept = ring.bench.rings[0].rx_slot[3];
  ring.bench.rings[0].rx_slot[3] = ring.bench.rings[0].rx_slot[4];
  EXPECT_EQ(ring.set.census(0).missing, 1U);
  EXPECT_EQ(ring.set.census(0).twice, 1U);
  ring.bench.rings[0].rx_slot[3] = 1U << 30;
  EXPECT_EQ(ring.set.census(0).twice, 1U) << "no slot at all";
  ring.bench.rings[0].rx_slot[3] = kept;
  EXPECT_TRUE(ring.set.census(0).is_at_rest());
}

TEST(RingMemory, pieces_are_apart_and_inside_what_was_asked_for) {
  const RingSettings settings{.ring_size = 64, .slots = 100};
  for (const std::uint32_t rings : {1U, 3U, 64U}) {
    const test::Bench bench(settings, rings);
    const std::uint8_t* const end = bench.dma_begin + bench.dma_bytes;
    for (std::uint32_t i = 0; i < rings; ++i) {
      const Ring& r = bench.rings[i];
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(r.rx) % kRingAlignment, 0U);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(r.tx) % kRingAlignment, 0U);
      EXPECT_GE(reinterpret_cast<const std::uint8_t*>(r.tx), reinterpret_cast<const std::uint8_t*>(r.rx + 64));
      EXPECT_LE(r.slots.at(r.first_slot + 100), end);
      EXPECT_GE(r.slots.at(0), reinterpret_cast<const std::uint8_t*>(bench.rings[rings - 1].tx + 64));
      EXPECT_EQ(r.slots.bus_of(5), reinterpret_cast<std::uint64_t>(r.slots.at(5)));
    }
  }
}

TEST(RingMemory, a_setting_that_cannot_be_is_named_with_what_is_allowed) {
  EXPECT_TRUE(check({}, 1));
  EXPECT_TRUE(check({}, 64));
  const auto message = [](RingSettings s, std::uint32_t rings = 1) { return check(s, rings).error().message; };
  EXPECT_EQ(message({}, 0), "rings is 0; allowed is 1 to 64");
  EXPECT_EQ(message({}, 65), "rings is 65; allowed is 1 to 64");
  EXPECT_EQ(message({.ring_size = 100}), "ring_size is 100; allowed is a power of 2 from 32 to 4096");
  EXPECT_EQ(message({.ring_size = 256, .slots = 256}),
            "slots is 256; allowed is 257 (one more than ring_size) to 65536");
  EXPECT_EQ(message({.slot_bytes = 1500}), "slot_bytes is 1500; allowed is a multiple of 1024 up to 16384");
  EXPECT_EQ(message({.doorbell_every = 33}), "doorbell_every is 33; allowed is 1 to 32");
  EXPECT_EQ(message({.credit = 769}),
            "credit is 769; allowed is 0 (all) to 768, the slots beside those in the receive ring");
  EXPECT_EQ(message({.stall_within_ns = 0}), "stall_within_ns is 0; allowed is 1 or more");
}

}  // namespace
}  // namespace splitplane::gpu
