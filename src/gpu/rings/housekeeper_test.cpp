// The host's copy of counters and stop flag, maintained by a thread or a warp. The engines do not know of it.
#include "gpu/rings/housekeeper.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "gpu/rings/test_nic.h"
#include "gpu/rings/test_warp.h"

namespace splitplane::gpu {
namespace {

constexpr std::uint32_t kRings = 3;

// The engines' view, and the host's copy of it.
struct TwoViews {
  TwoViews()
      : octets{std::vector<std::uint64_t>(words()), std::vector<std::uint64_t>(words())},
        engines(view_of(octets[0])),
        host(view_of(octets[1])) {}
  static std::size_t words() { return needs({}, kRings).shared / 8 + 16; }
  static SharedView view_of(std::vector<std::uint64_t>& all) {
    const auto at = reinterpret_cast<std::uintptr_t>(all.data());
    return shared_view(reinterpret_cast<std::uint8_t*>((at + 127) / 128 * 128), kRings);
  }
  std::array<std::vector<std::uint64_t>, 2> octets;
  SharedView engines, host;
};

// Gives each counter a different value.
void fill(SharedView& view) {
  std::uint64_t n = 1;
  for (std::uint32_t i = 0; i < kRings; ++i) {
    for (EngineCounters* c : {&view.rx[i], &view.tx[i]}) {
      *c = {.steps = n,
            .packets = n + 1,
            .octets = n + 2,
            .completed = n + 3,
            .doorbells = n + 4,
            .repeated = n + 5,
            .recovered = n + 6,
            .waits = n + 7,
            .fault = n + 8,
            .stopped = 0};
      n += 9;
    }
    for (std::size_t v = 0; v < kVerdictCount; ++v) view.verdicts[i].count[v] = n++;
  }
}

void expect_same(const SharedView& a, const SharedView& b) {
  constexpr std::size_t kOctets = offsetof(EngineCounters, stopped) + sizeof(EngineCounters::stopped);  // no padding
  for (std::uint32_t i = 0; i < kRings; ++i) {
    EXPECT_EQ(std::memcmp(&a.rx[i], &b.rx[i], kOctets), 0);
    EXPECT_EQ(std::memcmp(&a.tx[i], &b.tx[i], kOctets), 0);
    EXPECT_EQ(std::memcmp(&a.verdicts[i], &b.verdicts[i], sizeof(VerdictCounters)), 0);
  }
}

TEST(Housekeeper, copies_each_counter_once_its_time_has_come) {
  TwoViews views;
  fill(views.engines);
  Housekeeper keeper(views.engines, views.host, {.rings = kRings, .every_ns = 1000});
  EXPECT_TRUE(keeper.step(CpuLane{}, 5));
  EXPECT_TRUE(keeper.step(CpuLane{}, 1004));
  EXPECT_EQ(views.host.rx[0].steps, 0U) << "not yet";
  EXPECT_TRUE(keeper.step(CpuLane{}, 1005));
  expect_same(views.engines, views.host);
}

TEST(Housekeeper, a_warp_copies_what_one_lane_does) {
  TwoViews views;
  fill(views.engines);
  test::run_warp([&](test::TestLane lane) {
    Housekeeper keeper(views.engines, views.host, {.rings = kRings, .every_ns = 0});
    EXPECT_TRUE(keeper.step(lane, 5));
  });
  expect_same(views.engines, views.host);
}

TEST(Housekeeper, brings_the_hosts_stop_and_ends_behind_the_last_engine) {
  TwoViews views;
  Housekeeper keeper(views.engines, views.host, {.rings = kRings});
  EXPECT_TRUE(keeper.step(CpuLane{}, 1));
  EXPECT_EQ(*views.engines.stop, 0U);
  *views.host.stop = 1;
  EXPECT_TRUE(keeper.step(CpuLane{}, 2));
  EXPECT_EQ(*views.engines.stop, 1U);
  for (std::uint32_t i = 0; i < kRings; ++i) views.engines.rx[i].stopped = views.engines.tx[i].stopped = 1;
  views.engines.tx[2].stopped = 0;
  EXPECT_TRUE(keeper.step(CpuLane{}, 3)) << "one sender still drains";
  views.engines.tx[2].packets = 77;
  views.engines.tx[2].stopped = 1;
  EXPECT_FALSE(keeper.step(CpuLane{}, 4));
  EXPECT_EQ(views.host.tx[2].packets, 77U);
  EXPECT_EQ(views.host.tx[2].stopped, 1U);
}

TEST(Housekeeper, ends_engines_whose_host_is_gone) {
  TwoViews views;
  Housekeeper keeper(views.engines, views.host, {.rings = kRings, .limit_ns = 100});
  EXPECT_TRUE(keeper.step(CpuLane{}, 1000));
  EXPECT_TRUE(keeper.step(CpuLane{}, 1099));
  EXPECT_EQ(*views.engines.stop, 0U);
  EXPECT_TRUE(keeper.step(CpuLane{}, 1100));
  EXPECT_EQ(*views.engines.stop, 1U);
}

TEST(Housekeeper, leaves_engines_that_never_began) {
  TwoViews views;
  fill(views.engines);
  *views.host.stop = 1;
  Housekeeper keeper(views.engines, views.host, {.rings = kRings, .engines_end_within_ns = 100});
  EXPECT_TRUE(keeper.step(CpuLane{}, 1000));
  EXPECT_TRUE(keeper.step(CpuLane{}, 1099));
  EXPECT_FALSE(keeper.step(CpuLane{}, 1100));
  expect_same(views.engines, views.host);
}

// Engines on threads; the host sees their counters only through the housekeeper.
TEST(Housekeeper, the_host_sees_what_engines_on_threads_did) {
  test::Bench bench({}, 2);
  std::vector<std::uint64_t> memory(TwoViews::words());
  SharedView host = TwoViews::view_of(memory);
  RingSet<Echo> set(bench.rings, Echo{}, bench.view.stop);
  set.start();
  std::thread keeping([&] {
    Housekeeper keeper(bench.view, host, {.rings = 2, .every_ns = 10'000});
    while (keeper.step(CpuLane{}, steady_ns())) std::this_thread::yield();
  });
  std::vector<test::TestNic> nics(bench.rings.begin(), bench.rings.end());
  std::uint64_t sent = 0, returned = 0;
  while (returned < 2000) {
    for (test::TestNic& nic : nics) {
      nic.listen();
      if (sent < 2000 && nic.free_descriptors() != 0) sent += nic.receive(test::numbered_frame(sent, 64)) ? 1 : 0;
      returned += nic.transmit().size();
    }
    std::this_thread::yield();
  }
  while (load_relaxed(&host.tx[0].packets) + load_relaxed(&host.tx[1].packets) < 2000) std::this_thread::yield();
  store_relaxed(host.stop, 1U);  // the only flag that the host has
  keeping.join();
  ASSERT_TRUE(set.stop(std::chrono::seconds(10)));
  EXPECT_EQ(host.rx[0].packets + host.rx[1].packets, 2000U);
  EXPECT_EQ(host.verdicts[0].count[0] + host.verdicts[1].count[0], 2000U);
  EXPECT_EQ(host.tx[0].stopped + host.tx[1].stopped, 2U);
}

}  // namespace
}  // namespace splitplane::gpu
