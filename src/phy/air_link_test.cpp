// Real mbufs through an AirLink in virtual time, and through both ends over a real port (net_ring: frames that are sent
// come back). Starts DPDK once for the tests of this folder.
#include "phy/air_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>

#include "engine/port.h"
#include "engine/test_dpdk.h"
#include "engine/test_environment.h"
#include "phy/air_ends.h"

namespace splitplane::phy {
namespace {

using datapath::Burst;
using datapath::kBurst;

[[maybe_unused]] const auto* const kDpdk =
    testing::AddGlobalTestEnvironment(new datapath::test::DpdkEnvironment("phy"));

// Frames carry their number; a tick is a microsecond.
class AirLinkTest : public testing::Test {
 protected:
  void make(const Impairments& wanted, std::size_t capacity = 1000, std::uint64_t seed = 1) {
    link_.emplace(AirLink::Settings{
        .seed = seed, .capacity = capacity, .copies = pool_.get(), .ticks_per_s = 1'000'000, .impairments = wanted});
  }
  rte_mbuf* frame(std::uint32_t number) {
    datapath::test::Bytes octets(60);
    std::memcpy(octets.data(), &number, sizeof number);
    return pool_.make(octets);
  }
  static std::uint32_t number_in(const rte_mbuf* m) {
    std::uint32_t number = 0;
    std::memcpy(&number, rte_pktmbuf_mtod(m, const void*), sizeof number);
    return number;
  }
  void take(std::uint32_t number, Ticks now) {
    rte_mbuf* m = frame(number);
    link_->take(&m, 1, now);
  }
  std::vector<std::uint32_t> give(Ticks now) {
    std::array<rte_mbuf*, kBurst> out;
    std::vector<std::uint32_t> numbers;
    while (const unsigned n = link_->give(out.data(), kBurst, now)) {
      for (unsigned i = 0; i < n; ++i) numbers.push_back(number_in(out[i]));
      rte_pktmbuf_free_bulk(out.data(), n);
    }
    return numbers;
  }
  using Numbers = std::vector<std::uint32_t>;

  datapath::test::Pool pool_{4095};
  std::optional<AirLink> link_;
};

TEST_F(AirLinkTest, a_frame_is_given_when_it_is_due_and_not_before) {
  make({.delay_us = 100});
  take(1, 1000);
  take(2, 1000);
  take(3, 1050);
  EXPECT_EQ(give(1099), Numbers{});
  EXPECT_EQ(give(1100), (Numbers{1, 2}));
  EXPECT_EQ(give(1149), Numbers{});
  EXPECT_EQ(give(1150), Numbers{3});
  EXPECT_EQ(link_->counters().delayed, 3U);
  EXPECT_EQ(link_->counters().overtook, 0U);
}

TEST_F(AirLinkTest, without_impairment_everything_passes_at_once_in_order) {
  make({});
  Numbers sent;
  for (std::uint32_t i = 0; i < 100; ++i) {
    take(i, 5);
    sent.push_back(i);
  }
  EXPECT_EQ(give(5), sent);
  EXPECT_EQ(link_->counters().passed, 100U);
  EXPECT_EQ(link_->counters().delayed, 0U);
}

// Compares every counter with an independent count of the frames: which came out, how often, in which order.
TEST_F(AirLinkTest, counters_are_what_a_recount_of_the_frames_finds) {
  make({.loss_percent = 20,
        .burst_length = 3,
        .duplicate_percent = 10,
        .delay_us = 300,
        .jitter_us = 200,
        .reorder_percent = 5});
  constexpr std::uint32_t kFrames = 20000;
  Numbers out;
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    const Numbers given = give(10 * i);
    out.insert(out.end(), given.begin(), given.end());
    take(i, 10 * i);
  }
  const Numbers rest = give(10 * kFrames + 500);
  out.insert(out.end(), rest.begin(), rest.end());

  std::map<std::uint32_t, unsigned> seen;
  for (const auto number : out) ++seen[number];
  std::uint64_t burst_lost = 0, doubled = 0;
  for (std::uint32_t i = 0; i < kFrames; ++i) burst_lost += i > 0 && !seen.contains(i) && !seen.contains(i - 1);
  for (const auto& [number, times] : seen) {
    ASSERT_LE(times, 2U);
    doubled += times - 1;
  }
  const AirCounters counters = link_->counters();
  EXPECT_EQ(counters.received, kFrames);
  EXPECT_EQ(counters.lost, kFrames - seen.size());
  EXPECT_EQ(counters.burst_lost, burst_lost);
  EXPECT_EQ(counters.duplicated, doubled);
  EXPECT_EQ(counters.passed, out.size());
  EXPECT_EQ(counters.held + counters.air_full + counters.no_buffer, 0U);
  EXPECT_TRUE(counters.balanced());
  EXPECT_GT(counters.lost, kFrames / 10);
  EXPECT_GT(counters.duplicated, 0U);
}

TEST_F(AirLinkTest, overtook_is_the_number_of_frames_given_before_an_earlier_one) {
  make({.delay_us = 100, .jitter_us = 80, .reorder_percent = 10});
  Numbers out;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    take(i, 7 * i);
    const Numbers given = give(7 * i);
    out.insert(out.end(), given.begin(), given.end());
  }
  const Numbers rest = give(1'000'000);
  out.insert(out.end(), rest.begin(), rest.end());
  ASSERT_EQ(out.size(), 5000U);
  std::uint64_t overtook = 0;
  std::uint32_t earliest_behind = ~0U;
  for (auto at = out.rbegin(); at != out.rend(); ++at) {
    overtook += earliest_behind < *at;
    earliest_behind = std::min(earliest_behind, *at);
  }
  EXPECT_GT(overtook, 500U);
  EXPECT_EQ(link_->counters().overtook, overtook);
}

TEST_F(AirLinkTest, a_full_air_loses_the_newest_and_says_so) {
  make({.delay_us = 100}, 10);
  for (std::uint32_t i = 0; i < 15; ++i) take(i, 0);
  EXPECT_EQ(link_->counters().air_full, 5U);
  EXPECT_EQ(link_->counters().held, 10U);
  EXPECT_EQ(pool_.in_use(), 10U);
  EXPECT_TRUE(link_->counters().balanced());
  EXPECT_EQ(give(100), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  take(20, 100);
  EXPECT_EQ(give(200), Numbers{20});
}

TEST_F(AirLinkTest, a_copy_has_the_octets_of_its_frame_in_a_buffer_of_its_own) {
  make({.duplicate_percent = 100});
  take(0x01020304, 0);
  std::array<rte_mbuf*, 3> out;
  ASSERT_EQ(link_->give(out.data(), 3, 0), 2U);
  EXPECT_NE(out[0]->buf_addr, out[1]->buf_addr);
  EXPECT_EQ(out[0]->data_len, out[1]->data_len);
  EXPECT_EQ(number_in(out[0]), number_in(out[1]));
  rte_pktmbuf_free_bulk(out.data(), 2);
}

TEST_F(AirLinkTest, a_copy_without_a_buffer_is_counted_and_not_made) {
  datapath::test::Pool one(1);
  AirLink link({.copies = one.get(), .ticks_per_s = 1'000'000, .impairments = {.duplicate_percent = 100}});
  std::array<rte_mbuf*, 3> in{frame(1), frame(2), nullptr}, out;
  link.take(in.data(), 2, 0);
  EXPECT_EQ(link.counters().duplicated, 1U);
  EXPECT_EQ(link.counters().no_buffer, 1U);
  const unsigned n = link.give(out.data(), 3, 0);
  EXPECT_EQ(n, 3U);
  rte_pktmbuf_free_bulk(out.data(), n);
}

TEST_F(AirLinkTest, at_the_end_all_are_given_or_freed) {
  make({.delay_us = 1e6});
  for (std::uint32_t i = 0; i < 50; ++i) take(i, 0);
  std::array<rte_mbuf*, kBurst> out;
  ASSERT_EQ(link_->give_all(out.data(), kBurst), kBurst);
  EXPECT_EQ(number_in(out[0]), 0U);
  rte_pktmbuf_free_bulk(out.data(), kBurst);
  EXPECT_EQ(pool_.in_use(), 50U - kBurst);
  link_.reset();
  EXPECT_EQ(pool_.in_use(), 0U);
}

TEST_F(AirLinkTest, the_same_seed_gives_the_same_frames_another_seed_others) {
  const auto passed = [&](std::uint64_t seed) {
    make({.loss_percent = 30, .jitter_us = 50}, 1000, seed);
    for (std::uint32_t i = 0; i < 500; ++i) take(i, i);
    return give(1000);
  };
  EXPECT_EQ(passed(3), passed(3));
  EXPECT_NE(passed(3), passed(4));
}

// Both ends over a port that returns the frames that are sent.
class AirEnds : public AirLinkTest {
 protected:
  void SetUp() override {
    const auto name = "net_ring_" + datapath::test::unique_name("air");
    auto port = datapath::Port::open({.name = name, .device = name}, pool_.get());
    ASSERT_TRUE(port) << port.error().message;
    port_ = *std::move(port);
  }
  void TearDown() override { port_.reset(); }
  std::unique_ptr<datapath::Port> port_;
};

TEST_F(AirEnds, without_a_link_they_are_the_ports) {
  AirSource source{.port = {port_->id(), 0}};
  AirSink sink{.port = {port_->id(), 0}};
  rte_mbuf* m = frame(9);
  EXPECT_EQ(sink.send(&m, 1), 1U);
  Burst burst;
  ASSERT_EQ(source.receive(burst), 1U);
  EXPECT_EQ(number_in(burst.mbuf[0]), 9U);
  EXPECT_EQ(source.take_left(burst), 0U);
  sink.flush();
  sink.finish();
  rte_pktmbuf_free(m);
}

TEST_F(AirEnds, what_is_held_goes_when_it_is_due_or_at_the_end) {
  make({.delay_us = 1e6});  // ticks, here of the TSC
  AirSource source{.port = {port_->id(), 0}};
  AirSink sink{.port = {port_->id(), 0}, .link = &*link_};
  rte_mbuf* m = frame(1);
  const Ticks begin = rte_rdtsc();
  EXPECT_EQ(sink.send(&m, 1), 1U);
  Burst burst;
  while (source.receive(burst) == 0) sink.flush();
  EXPECT_GE(rte_rdtsc() - begin, 1'000'000U);
  EXPECT_EQ(number_in(burst.mbuf[0]), 1U);

  link_->set({.delay_us = 1e7});
  EXPECT_EQ(sink.send(burst.mbuf.data(), 1), 1U);
  sink.finish();
  EXPECT_EQ(source.receive(burst), 1U);
  EXPECT_EQ(link_->counters().passed, 2U);
  rte_pktmbuf_free(burst.mbuf[0]);
}

TEST_F(AirEnds, a_burst_in_becomes_more_than_a_burst_out_and_none_is_left_behind) {
  make({.duplicate_percent = 100});
  AirSource source{.port = {port_->id(), 0}, .link = &*link_};
  AirSink sink{.port = {port_->id(), 0}};
  for (std::uint32_t i = 0; i < 4 * kBurst; ++i) {
    rte_mbuf* m = frame(i);
    ASSERT_EQ(sink.send(&m, 1), 1U);
  }
  Burst burst;
  unsigned total = 0;
  for (int round = 0; round < 9; ++round) {
    total += source.receive(burst);
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
    EXPECT_LE(link_->counters().held, 2 * kBurst);  // the port's queue waits if the air has enough frames
  }
  while (source.take_left(burst) != 0) {
    total += burst.size;
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
  }
  EXPECT_EQ(total, 8 * kBurst);
  EXPECT_TRUE(link_->counters().balanced());
}

TEST_F(AirEnds, a_port_that_stays_full_is_counted) {
  make({});
  AirSink sink{.port = {port_->id(), 0}, .link = &*link_};
  AirSource source{.port = {port_->id(), 0}};
  for (std::uint32_t i = 0; i < 2000; ++i) {
    rte_mbuf* m = frame(i);
    sink.send(&m, 1);
    if (i % kBurst == 0) sink.flush();
  }
  sink.flush();
  Burst burst;
  std::uint64_t arrived = 0;
  while (source.receive(burst) != 0) {
    arrived += burst.size;
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
  }
  const AirCounters counters = link_->counters();
  EXPECT_GT(counters.tx_full, 0U);
  EXPECT_EQ(counters.passed - counters.tx_full, arrived);
}

}  // namespace
}  // namespace splitplane::phy
