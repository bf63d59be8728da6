// Numbers of a bearer that several rings serve at the same time, and where they end.
#include "gpu/rings/gnb_bearer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "gpu/rings/test_warp.h"

namespace splitplane::gpu {
namespace {

// The numbers that `rings` threads took of one bearer, each in its order.
std::vector<std::vector<SduNumbers>> take_on_threads(GnbBearer& bearer, unsigned rings, unsigned each) {
  std::vector<std::vector<SduNumbers>> taken(rings);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&bearer, &mine, each] {
      for (unsigned i = 0; i < each; ++i) mine.push_back(take_numbers<SharedCounting>(CpuLane{}, &bearer));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return taken;
}

TEST(GnbBearer, each_number_goes_to_one_ring_once) {
  constexpr unsigned kRings = 4, kEach = 20'000;
  GnbBearer bearer{.id = 7, .pdcp_first = 0xFFFF'0000U - 5, .rlc_first = 0xFFFF'FFF0U, .poll_pdu = 3};
  const auto taken = take_on_threads(bearer, kRings, kEach / kRings);
  std::vector<std::uint32_t> offsets;
  for (const auto& ring : taken) {
    std::uint32_t before = 0;
    for (const SduNumbers& n : ring) {
      const std::uint32_t offset = n.count - bearer.pdcp_first;
      EXPECT_FALSE(n.used_up);
      EXPECT_EQ(n.rlc - bearer.rlc_first, offset) << "RLC and PDCP numbers rise together";
      EXPECT_EQ(n.poll, (offset + 1) % 3 == 0);
      EXPECT_TRUE(before <= offset) << "one ring's rise";
      before = offset + 1;
      offsets.push_back(offset);
    }
  }
  std::ranges::sort(offsets);
  for (std::uint32_t i = 0; i < kEach; ++i) ASSERT_EQ(offsets[i], i);
}

TEST(GnbBearer, warps_of_two_rings_share_one_bearer) {
  constexpr unsigned kBatches = 50;
  std::vector<GnbBearer> lines(3);
  for (std::uint32_t i = 0; i < 3; ++i) lines[i].id = i + 1;
  std::vector<std::vector<std::uint32_t>> counts(3);
  std::mutex mutex;
  const auto ring = [&] {
    test::run_warp([&](test::TestLane lane) {
      for (unsigned batch = 0; batch < kBatches; ++batch) {
        const std::uint32_t of = (lane.id * 7 + batch) % 4;  // every fourth lane has no bearer
        const SduNumbers n = take_numbers<SharedCounting>(lane, of == 3 ? nullptr : &lines[of]);
        if (of == 3) continue;
        const std::lock_guard lock(mutex);
        counts[of].push_back(n.count);
      }
    });
  };
  std::thread other(ring);
  ring();
  other.join();
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(lines[i].numbered, counts[i].size());
    std::ranges::sort(counts[i]);
    for (std::uint32_t n = 0; n < counts[i].size(); ++n) ASSERT_EQ(counts[i][n], n);
  }
}

// COUNT must not wrap under one key (TS 33.501 6.9.4.1). After the last 32-bit number there is no further one.
TEST(GnbBearer, has_no_number_behind_the_last_count) {
  GnbBearer bearer{.id = 1, .pdcp_first = 0xFFFF'FFFEU};
  EXPECT_EQ(take_numbers<SharedCounting>(CpuLane{}, &bearer).count, 0xFFFF'FFFEU);
  const SduNumbers last = take_numbers<SharedCounting>(CpuLane{}, &bearer);
  EXPECT_EQ(last.count, 0xFFFF'FFFFU);
  EXPECT_FALSE(last.used_up);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(take_numbers<SharedCounting>(CpuLane{}, &bearer).used_up);
  bearer.numbered = 1ULL << 32 | 5;
  EXPECT_TRUE(take_numbers<SharedCounting>(CpuLane{}, &bearer).used_up) << "32 bits more do not begin it anew";
}

}  // namespace
}  // namespace splitplane::gpu
