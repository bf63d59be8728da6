// The engines of the GPU ring driver with the model, brought up by their control plane. No frame is lost, changed or
// reordered within a flow, and the driver breaks no rule of the datasheet.
#include <gtest/gtest.h>

#include "nicmodel/test_ring_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

using test::RingDriver;

constexpr std::uint64_t kPackets = 8000;

// Holds after every run without losses.
void expect_nothing_lost(const TrafficPeer& peer, const Nic82599Model& model, std::uint64_t packets) {
  EXPECT_EQ(peer.counters().returned.get(), packets);
  EXPECT_EQ(peer.counters().changed.get() + peer.counters().foreign.get() + peer.counters().duplicated.get(), 0U);
  EXPECT_EQ(peer.counters().reordered_in_flow.get(), 0U);
  EXPECT_EQ(model.counters().delivered.get(), packets);
  EXPECT_EQ(model.counters().left.get(), packets);
  EXPECT_EQ(model.faults().total(), 0U);
}

TEST(RingDriverTest, loses_nothing_in_lock_step) {
  for (const std::uint32_t rings : {1U, 2U, 8U, 16U}) {
    TrafficPeer peer({.seed = rings, .sizes = {64, 128, 1000, 1518}, .packets = kPackets, .window = 200});
    Nic82599Model model(peer);
    RingDriver driver(model, rings, {});
    ASSERT_TRUE(driver.up(model));
    for (std::uint64_t round = 1; round < 1'000'000 && !peer.done(); ++round) {
      model.step(32, round * 1000);
      driver.set().step(round * 1000);
    }
    expect_nothing_lost(peer, model, kPackets);
    EXPECT_TRUE(driver.nic().stop());
  }
}

TEST(RingDriverTest, reaches_64_rings_by_flow_filters) {
  TrafficPeer peer({.flows = 128, .sizes = {64, 512}, .packets = kPackets, .window = 400});
  Nic82599Model model(peer);
  RingDriver driver(model, 64, {.ring_size = 64, .slots = 128}, {.flows = TrafficPeer::filters(128, 64)});
  ASSERT_TRUE(driver.up(model));
  for (std::uint64_t round = 1; round < 1'000'000 && !peer.done(); ++round) {
    model.step(32, round * 1000);
    driver.set().step(round * 1000);
  }
  expect_nothing_lost(peer, model, kPackets);
  for (std::uint32_t ring = 0; ring < 64; ++ring) EXPECT_GT(driver.view().rx[ring].packets, kPackets / 128) << ring;
}

TEST(RingDriverTest, loses_nothing_on_threads) {
  TrafficPeer peer({.sizes = {64, 1500},
                    .packets = kPackets,
                    .window = 128,
                    .lost_after_ns = 20'000'000'000,
                    .returned = Returned::kMacsSwapped});
  Nic82599Model model(peer);
  RingDriver<gpu::MacSwap> driver(model, 2, {.stall_within_ns = 500'000'000});
  model.start();
  ASSERT_TRUE(driver.up(model, true));
  while (!peer.done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(driver.set().stop(std::chrono::seconds(10)));
  EXPECT_TRUE(driver.nic().stop());
  model.stop();
  expect_nothing_lost(peer, model, kPackets);
  for (std::uint32_t ring = 0; ring < 2; ++ring) EXPECT_TRUE(driver.set().census(ring).is_at_rest());
}

}  // namespace
}  // namespace splitplane::nicmodel
