// Starts DPDK once for all tests of this folder, in ordinary memory. Also tests Eal and Port as far as that needs no
// NIC.
#include "engine/eal.h"

#include <gmock/gmock.h>
#include <rte_ethdev.h>

#include "engine/endpoints.h"
#include "engine/port.h"
#include "engine/test_dpdk.h"
#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

[[maybe_unused]] testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new test::DpdkEnvironment("engine", 256));

TEST(Eal, gives_the_control_thread_and_one_worker_an_lcore_each) {
  EXPECT_EQ(rte_lcore_count(), 2U);
  EXPECT_EQ(rte_lcore_id(), 0U);
  EXPECT_TRUE(rte_lcore_is_enabled(1));
}

TEST(PortDevice, devargs_split_at_the_first_comma) {
  EXPECT_EQ(split_devargs("net_af_packet0,iface=n3,qpairs=2"),
            (std::pair<std::string, std::string>{"net_af_packet0", "iface=n3,qpairs=2"}));
  EXPECT_EQ(split_devargs("net_null0"), (std::pair<std::string, std::string>{"net_null0", ""}));
  EXPECT_EQ(split_devargs(""), (std::pair<std::string, std::string>{"", ""}));
}

TEST(PortDevice, pci_addresses_are_told_from_virtual_devices) {
  for (const char* device : {"0000:3b:00.0", "3b:00.0", "ABCD:00:1f.7"}) EXPECT_TRUE(is_pci_address(device)) << device;
  for (const char* device : {"net_null0", "net_af_packet0,iface=a:b.c", "", "10.100.0.1", "fe80::1"}) {
    EXPECT_FALSE(is_pci_address(device)) << device;
  }
}

PortSettings null_port(const char* device = "net_null_test0,copy=1,size=64") {
  return {.name = "n3", .device = device, .rx_descriptors = 256, .tx_descriptors = 256};
}

TEST(Port, receives_and_transmits_and_goes_away_so_that_its_name_is_free_again) {
  test::Pool pool;
  for (int i = 0; i < 2; ++i) {
    const auto port = Port::open(null_port(), pool.get());
    ASSERT_TRUE(port) << port.error().message;
    EXPECT_EQ((*port)->name(), "n3");
    EXPECT_FALSE((*port)->passes_mbufs());
    Burst burst;
    EthSource source{(*port)->id(), 0};
    ASSERT_EQ(source.receive(burst), kBurst);
    EthSink sink{(*port)->id(), 0};
    EXPECT_EQ(sink.send(burst.mbuf.data(), burst.size), kBurst);
    EXPECT_EQ((*port)->counters().received, kBurst);
    EXPECT_EQ((*port)->counters().transmitted, kBurst);
  }
}

TEST(Port, a_port_that_cannot_be_opened_says_which_and_why) {
  test::Pool pool;
  const auto no_driver = Port::open(null_port("net_nonsense0"), pool.get());
  ASSERT_FALSE(no_driver);
  EXPECT_THAT(no_driver.error().message, testing::HasSubstr("port n3: device 'net_nonsense0' could not be made"));

  PortSettings greedy = null_port();
  greedy.rx_queues = 5000;
  const auto too_many = Port::open(greedy, pool.get());
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().message, testing::HasSubstr("port n3: 5000 rx and 1 tx queues asked for"));
  EXPECT_TRUE(Port::open(null_port(), pool.get())) << "the refused port must not leave its device behind";

  const auto no_card = Port::open(null_port("ffff:00:00.0"), pool.get());
  ASSERT_FALSE(no_card);
  EXPECT_THAT(no_card.error().message, testing::HasSubstr("is not there"));
}

// A frame of the least length; a ring does not look at it.
std::vector<std::uint8_t> any_frame() {
  return std::vector<std::uint8_t>(60);
}

TEST(Port, a_ring_port_hands_the_mbuf_itself_on) {
  test::Pool pool;
  const auto port = Port::open(null_port("net_ring_test0"), pool.get());
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_TRUE((*port)->passes_mbufs());
  rte_mbuf* m = pool.make(any_frame());
  EthSink sink{(*port)->id(), 0, (*port)->passes_mbufs()};
  ASSERT_EQ(sink.send(&m, 1), 1U);
  Burst burst;
  EthSource source{(*port)->id(), 0};
  ASSERT_EQ(source.receive(burst), 1U);
  EXPECT_EQ(burst.mbuf[0], m);
  rte_pktmbuf_free(m);
}

TEST(Port, a_full_queue_gives_the_rest_of_the_burst_back_to_the_caller) {
  test::Pool pool(2048);
  const auto port = Port::open(null_port("net_ring_test1"), pool.get());
  ASSERT_TRUE(port) << port.error().message;
  EthSink sink{(*port)->id(), 0};
  unsigned sent = 0, given = 0;
  std::array<rte_mbuf*, kBurst> mbufs;
  do {
    for (auto& m : mbufs) m = pool.make(any_frame());
    given = sink.send(mbufs.data(), kBurst);
    sent += given;
  } while (given == kBurst && sent < 2000);
  ASSERT_LT(sent, 2000U) << "the ring was never full";
  rte_pktmbuf_free_bulk(mbufs.data() + given, kBurst - given);
  EXPECT_EQ(pool.in_use(), sent);
  Burst burst;
  EthSource source{(*port)->id(), 0};
  unsigned received = 0;
  while (source.receive(burst) != 0) {
    received += burst.size;
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
  }
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace splitplane::datapath
