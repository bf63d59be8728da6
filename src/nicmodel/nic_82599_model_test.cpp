// The model as a NIC: frames of a peer through a driver and back, in lock-step and on a thread.
#include "nicmodel/nic_82599_model.h"

#include <gtest/gtest.h>

#include "nicmodel/test_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

using test::EchoDriver;

void run_until_done(Nic82599Model& model, EchoDriver& driver, const TrafficPeer& peer, std::uint64_t most_rounds) {
  for (std::uint64_t i = 0; i < most_rounds && !peer.done(); ++i) {
    model.step();
    driver.step();
  }
}

TEST(Nic82599ModelTest, returns_every_frame_unchanged_with_credit) {
  for (const std::uint32_t rings : {1U, 2U, 4U, 8U}) {
    TrafficPeer peer({.seed = rings, .sizes = {64, 65, 128, 300, 1000, 1518}, .packets = 6000, .window = 64});
    Nic82599Model model(peer);
    EchoDriver driver(model, rings);
    ASSERT_TRUE(driver.up(model));
    run_until_done(model, driver, peer, 200'000);
    EXPECT_EQ(peer.counters().returned.get(), 6000U) << rings << " rings";
    EXPECT_EQ(peer.counters().changed.get(), 0U);
    EXPECT_EQ(peer.counters().reordered_in_flow.get(), 0U);
    EXPECT_EQ(peer.counters().foreign.get() + peer.counters().duplicated.get(), 0U);
    EXPECT_EQ(model.faults().total(), 0U);
    EXPECT_TRUE(driver.nic().stop());
    EXPECT_EQ(model.faults().total(), 0U);
  }
}

TEST(Nic82599ModelTest, runs_on_a_thread_of_its_own) {
  TrafficPeer peer({.sizes = {64, 1500}, .packets = 50'000, .window = 128, .lost_after_ns = 5'000'000'000});
  Nic82599Model model(peer);
  EchoDriver driver(model, 2);
  model.start();
  ASSERT_TRUE(driver.up(model, &gpu::Nic82599::sleep));
  for (int i = 0; i < 100'000'000 && !peer.done(); ++i) {
    if (driver.step() == 0) sched_yield();
  }
  EXPECT_EQ(peer.counters().returned.get(), 50'000U);
  EXPECT_EQ(driver.nic().statistics().received, 50'000U);
  EXPECT_EQ(driver.nic().statistics().transmitted, 50'000U);
  EXPECT_TRUE(driver.nic().stop());
  model.stop();
  EXPECT_EQ(peer.counters().changed.get() + peer.counters().reordered_in_flow.get(), 0U);
  EXPECT_EQ(model.faults().total(), 0U);
}

}  // namespace
}  // namespace splitplane::nicmodel
