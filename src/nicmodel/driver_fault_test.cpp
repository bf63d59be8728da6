// The ring driver with a NIC that makes faults. The driver detects and counts each fault of the model, and recovers or
// reports it. Every packet is accounted for, and every slot comes back.
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/rings/watchdog.h"
#include "nicmodel/test_ring_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

using gpu::Fault;
using gpu::Finding;
using gpu::Verdict;
using test::RingDriver;

constexpr std::uint64_t kRoundNs = 1000;
constexpr std::uint64_t kStallNs = 100 * kRoundNs;

// Model, one ring's driver and the far end in lock-step; time is the test's.
struct LockStep {
  explicit LockStep(const PeerSettings& traffic, gpu::RingSettings settings = {}, std::uint32_t rings = 1)
      : peer(traffic),
        model(peer),
        driver(model, rings, with_stall(settings)),
        watchdog(driver.view(), rings, 1000 * kRoundNs) {
    const auto up = driver.up(model);
    if (!up) throw std::runtime_error(up.error().message);
  }
  static gpu::RingSettings with_stall(gpu::RingSettings settings) {
    settings.stall_within_ns = kStallNs;
    return settings;
  }
  void run(std::uint64_t rounds) {
    for (std::uint64_t i = 0; i < rounds; ++i, now += kRoundNs) {
      model.step(32, now);
      driver.set().step(now);
    }
  }
  // Runs until the far end is done; returns false after a million rounds.
  bool run_to_the_end() {
    for (unsigned i = 0; i < 1'000'000 && !peer.done(); ++i) run(1);
    run(200);
    return peer.done();
  }
  [[nodiscard]] std::uint64_t count(Verdict v) const {
    return driver.view().verdicts[0].count[static_cast<std::size_t>(v)];
  }
  // The only fault is `lost` lost packets, and all slots are back.
  void expect_sound(std::uint64_t lost) {
    EXPECT_EQ(peer.lost(), lost);
    EXPECT_EQ(peer.counters().changed.get() + peer.counters().foreign.get() + peer.counters().duplicated.get(), 0U);
    EXPECT_EQ(peer.counters().reordered_in_flow.get(), 0U);
    EXPECT_EQ(model.faults().total(), 0U);
    EXPECT_TRUE(watchdog.look(now).empty());
    for (std::size_t r = 0; r < driver.set().rings(); ++r) EXPECT_TRUE(driver.set().census(r).is_at_rest());
  }

  TrafficPeer peer;
  Nic82599Model model;
  RingDriver<gpu::Echo> driver;
  gpu::Watchdog watchdog;
  std::uint64_t now = kRoundNs;
};

PeerSettings traffic(std::uint64_t packets = 5000, std::uint32_t window = 100) {
  return {.sizes = {64, 300, 1500}, .packets = packets, .window = window, .lost_after_ns = 2000 * kRoundNs};
}

TEST(DriverFaults, a_corrupted_descriptor_costs_its_frame_only) {
  LockStep s(traffic());
  s.model.inject(InjectedFault::corrupts_descriptor, 0, 700);
  s.model.inject(InjectedFault::corrupts_descriptor, 0, 1900);
  ASSERT_TRUE(s.run_to_the_end());
  EXPECT_EQ(s.count(Verdict::bad_length), 2U);
  EXPECT_EQ(s.model.injected(), 2U);
  s.expect_sound(2);
}

TEST(DriverFaults, a_frame_with_an_error_is_dropped_and_counted) {
  LockStep s(traffic());
  s.model.inject(InjectedFault::reports_error, 0, 10);
  ASSERT_TRUE(s.run_to_the_end());
  EXPECT_EQ(s.count(Verdict::broken_frame), 1U);
  s.expect_sound(1);
}

TEST(DriverFaults, an_early_done_is_waited_for_where_slots_are_watched) {
  LockStep s(traffic(5000, 20), {.early_within_ns = 50 * kRoundNs});  // nothing waits: each frame is looked at at once
  for (const std::uint64_t after : {0U, 33U, 1000U}) s.model.inject(InjectedFault::early_done, 0, after);
  ASSERT_TRUE(s.run_to_the_end());
  EXPECT_EQ(s.model.injected(), 3U);
  EXPECT_EQ(s.driver.view().rx[0].recovered, 3U);
  EXPECT_EQ(s.count(Verdict::early_write_back), 0U);
  s.expect_sound(0);
}

TEST(DriverFaults, an_early_done_that_nobody_watches_for_is_seen_by_the_far_end) {
  PeerSettings settings = traffic(5000, 20);
  settings.returned = Returned::kMacsSwapped;
  TrafficPeer peer(settings);
  Nic82599Model model(peer);
  RingDriver<gpu::MacSwap> driver(model, 1, {});
  ASSERT_TRUE(driver.up(model));
  model.inject(InjectedFault::early_done, 0, 500);
  for (std::uint64_t round = 1; round < 100'000 && !peer.done(); ++round) {
    model.step(32, round * kRoundNs);
    driver.set().step(round * kRoundNs);
  }
  const PeerCounters& c = peer.counters();
  EXPECT_EQ(c.changed.get() + c.foreign.get() + c.duplicated.get(), 1U) << "what was in the slot before went out";
}

TEST(DriverFaults, a_lost_transmit_doorbell_is_repeated) {
  // One packet at a time, so that no later doorbell replaces the lost one.
  PeerSettings one_by_one = traffic(100);
  one_by_one.window = 1;
  LockStep s(one_by_one);
  s.model.inject(InjectedFault::loses_transmit_doorbell, 0, 50);
  ASSERT_TRUE(s.run_to_the_end());
  EXPECT_EQ(s.model.injected(), 1U);
  EXPECT_GE(s.driver.view().tx[0].repeated, 1U);
  EXPECT_EQ(s.driver.view().tx[0].recovered, 1U);
  s.expect_sound(0);
}

TEST(DriverFaults, a_lost_receive_doorbell_is_repeated) {
  LockStep s(traffic(20'000), {.ring_size = 32, .slots = 128, .doorbell_every = 32});
  for (unsigned i = 0; i < 20; ++i) s.model.inject(InjectedFault::loses_receive_doorbell, 0, 5);
  (void)s.run_to_the_end();
  EXPECT_EQ(s.model.injected(), 20U);
  EXPECT_EQ(s.peer.lost(), s.model.counters().dropped_of(NicDrop::no_descriptor)) << "what it cost was lost at the NIC";
  EXPECT_EQ(s.peer.counters().changed.get(), 0U);
  EXPECT_TRUE(s.driver.set().census(0).is_at_rest());
}

TEST(DriverFaults, a_stopped_nic_is_reported_and_a_reset_brings_it_back) {
  LockStep s(traffic(2000));
  s.model.inject(InjectedFault::stops, 0, 1001);
  s.run(5000);
  const auto found = s.watchdog.look(s.now);
  EXPECT_NE(std::find(found.begin(), found.end(), Finding{0, false, Fault::sender_stalled}), found.end());
  EXPECT_FALSE(s.peer.done() && s.peer.lost() == 0);
  EXPECT_TRUE(s.driver.set().census(0).is_sound());
  EXPECT_GT(s.driver.view().tx[0].repeated, 1U);
  (void)s.driver.nic().stop();

  RingDriver again(s.model, 1, {});
  ASSERT_TRUE(again.up(s.model)) << "bring-up resets the NIC";
  for (unsigned i = 0; i < 100'000 && !s.peer.done(); ++i, s.now += kRoundNs) {
    s.model.step(32, s.now);
    again.set().step(s.now);
  }
  EXPECT_TRUE(s.peer.done());
  EXPECT_LE(s.peer.lost(), 300U) << "a window each time that the far end gave up waiting";
  EXPECT_TRUE(again.set().census(0).is_at_rest());
}

TEST(DriverFaults, overload_is_lost_at_the_nic_and_counted_there) {
  PeerSettings flood = traffic(50'000);
  flood.window = 0;  // as fast as the NIC takes frames
  LockStep s(flood, {.ring_size = 64, .slots = 128});
  for (unsigned i = 0; i < 100'000 && s.peer.counters().sent.get() < 50'000; ++i) {
    s.model.step(32, s.now);
    s.model.step(32, s.now);
    s.model.step(32, s.now);
    s.run(1);
  }
  s.run(1000);
  const std::uint64_t dropped = s.model.counters().dropped_of(NicDrop::no_descriptor) +
                                s.model.counters().dropped_of(NicDrop::packet_buffer_full);
  EXPECT_GT(dropped, 10'000U);
  EXPECT_EQ(s.driver.view().rx[0].packets, s.peer.counters().returned.get());
  s.expect_sound(dropped);
}

TEST(DriverFaults, a_hundred_starts_and_stops_leak_nothing) {
  for (unsigned cycle = 0; cycle < 100; ++cycle) {
    LockStep s({.seed = cycle, .sizes = {64, 1500}, .packets = 400, .window = 0}, {.ring_size = 64, .slots = 128}, 2);
    s.run(cycle % 7);  // stopped at any point
    ASSERT_TRUE(s.driver.nic().stop());
    for (std::size_t r = 0; r < 2; ++r) ASSERT_TRUE(s.driver.set().census(r).is_sound()) << "cycle " << cycle;
    ASSERT_EQ(s.model.faults().total(), 0U);
    RingDriver again(s.model, 2, s.with_stall({}));
    ASSERT_TRUE(again.up(s.model));
    for (unsigned i = 0; i < 100; ++i, s.now += kRoundNs) {
      s.model.step(32, s.now);
      again.set().step(s.now);
    }
    for (std::size_t r = 0; r < 2; ++r) ASSERT_TRUE(again.set().census(r).is_at_rest()) << "cycle " << cycle;
  }
}

TEST(DriverOrder, is_lost_across_rings_kept_in_flows_and_restored_if_asked_for) {
  for (const bool restore : {false, true}) {
    TrafficPeer peer({.sizes = {64}, .packets = 20'000, .window = 400});
    Nic82599Model model(peer);
    RingDriver driver(model, 4, {}, {}, restore ? std::optional(gpu::RestoreSettings{}) : std::nullopt);
    ASSERT_TRUE(driver.up(model));
    for (std::uint64_t round = 1; round < 1'000'000 && !peer.done(); ++round) {
      model.step(32, round * kRoundNs);
      driver.set().step(round * kRoundNs);
    }
    EXPECT_EQ(peer.counters().returned.get(), 20'000U);
    EXPECT_EQ(peer.counters().reordered_in_flow.get(), 0U);
    if (restore) {
      EXPECT_EQ(peer.counters().reordered.get(), 0U);
    } else {
      EXPECT_GT(peer.counters().reordered.get(), 1000U);
    }
    EXPECT_EQ(model.faults().total(), 0U);
  }
}

}  // namespace
}  // namespace splitplane::nicmodel
