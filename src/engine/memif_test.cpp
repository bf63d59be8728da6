// memif ports whose other end leaves while a worker polls: DPDK takes the shared memory away on its interrupt thread.
#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "engine/port.h"
#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;

struct MemifTest : testing::Test {
  void SetUp() override {
#ifdef SPLITPLANE_TSAN
    GTEST_SKIP() << "SKIPPED: the two ends share rings whose order ThreadSanitizer cannot see in DPDK's own library";
#endif
  }
  std::unique_ptr<Port> open(const char* role) {
    const std::string device =
        test::unique_name("net_memif8") + ",id=0,role=" + role + ",socket=" + socket_ + ",socket-abstract=no,rsize=10";
    auto port = Port::open({.name = role, .device = device}, pool_.get());
    if (!port) throw std::runtime_error(port.error().message);
    return std::move(*port);
  }
  static bool is_up(const Port& port) {
    rte_eth_link link{};
    return rte_eth_link_get_nowait(port.id(), &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
  }
  static bool wait_until(const std::function<bool()>& what) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < end) {
      if (what()) return true;
      std::this_thread::sleep_for(100us);
    }
    return false;
  }
  // Sends and receives on a port as a worker does, until it is told to stop.
  void poll(const Port& port) {
    std::array<rte_mbuf*, 32> mbufs{};
    while (!stop_.load(std::memory_order_relaxed)) {
      const std::uint16_t got = rte_eth_rx_burst(port.id(), 0, mbufs.data(), 32);
      const std::uint16_t sent = rte_eth_tx_burst(port.id(), 0, mbufs.data(), got);
      rte_pktmbuf_free_bulk(mbufs.data() + sent, got - sent);
      if (rte_mbuf* m = pool_.make(test::Bytes(200, 1)); m != nullptr && rte_eth_tx_burst(port.id(), 0, &m, 1) == 0)
        rte_pktmbuf_free(m);
    }
  }

  const std::string socket_ = testing::TempDir() + "memif" + std::to_string(::getpid()) + ".sock";
  test::Pool pool_{8192};
  std::atomic<bool> stop_{false};
};

// SPLITPLANE_EXITS: how often the other end leaves.
TEST_F(MemifTest, the_other_end_leaves_while_a_worker_polls_and_nothing_breaks) {
  const char* const asked = std::getenv("SPLITPLANE_EXITS");
  const int exits = asked == nullptr ? 60 : std::atoi(asked);
  auto server = open("server");
  std::thread worker([&] { poll(*server); });
  for (int i = 0; i < exits; ++i) {
    auto client = open("client");
    EXPECT_TRUE(wait_until([&] { return is_up(*server); })) << i;
    std::array<rte_mbuf*, 32> mbufs{};
    EXPECT_TRUE(wait_until([&] {
      const std::uint16_t got = rte_eth_rx_burst(client->id(), 0, mbufs.data(), 32);
      rte_pktmbuf_free_bulk(mbufs.data(), got);
      return got != 0;
    })) << i;
    client.reset();
    EXPECT_TRUE(wait_until([&] { return !is_up(*server); })) << i;
  }
  stop_ = true;
  worker.join();
}

TEST_F(MemifTest, what_was_counted_stays_when_the_other_end_leaves) {
  auto server = open("server");
  for (std::uint64_t round = 1; round <= 3; ++round) {
    auto client = open("client");
    ASSERT_TRUE(wait_until([&] { return is_up(*server) && is_up(*client); }));
    rte_mbuf* m = pool_.make(test::Bytes(100, 1));
    ASSERT_TRUE(wait_until([&] { return rte_eth_tx_burst(client->id(), 0, &m, 1) == 1; }));
    rte_mbuf* got = nullptr;
    ASSERT_TRUE(wait_until([&] { return rte_eth_rx_burst(server->id(), 0, &got, 1) == 1; }));
    rte_pktmbuf_free(got);
    EXPECT_EQ(server->counters().received, round);
    client.reset();
    ASSERT_TRUE(wait_until([&] { return !is_up(*server); }));
    EXPECT_EQ(server->counters().received, round);
    EXPECT_EQ(server->counters().received_bytes, round * 100);
  }
}

}  // namespace
}  // namespace splitplane::datapath
