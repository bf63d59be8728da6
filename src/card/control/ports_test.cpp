#include "card/control/ports.h"

#include <gmock/gmock.h>

#include "card/control/test_config.h"

namespace splitplane::app {
namespace {

using testing::ElementsAre;

TEST(CardPorts, a_side_that_is_not_connected_is_a_pair_of_rings) {
  const CardConfig config = test::unconnected_card("ports-a");
  CardPorts ports(config);
  ASSERT_TRUE(ports.open(SOCKET_ID_ANY, {}));
  ASSERT_TRUE(ports.make_endpoints());
  ASSERT_EQ(ports.endpoints().size(), 3U) << "N3, air, and one VF";
  for (const auto& endpoint : ports.endpoints()) {
    EXPECT_NE(endpoint.in, nullptr);
    EXPECT_NE(endpoint.out, nullptr);
  }
  EXPECT_THAT(ports.names(), ElementsAre("", "", ""));
  EXPECT_FALSE(ports.passes_mbufs());
}

class CardPortsOfVfs : public testing::Test {
 protected:
  CardPortsOfVfs() {
    config.ports = {{.name = "vf0", .device = "net_null0"}, {.name = "vf1", .device = "net_null1"}};
    config.vfs = {"vf0", "vf1"};
  }
  CardConfig config = test::unconnected_card("ports-b");
};

TEST_F(CardPortsOfVfs, each_queue_of_a_port_is_a_vf) {
  config.ports[0].rx_queues = 2;
  CardPorts ports(config);
  ASSERT_TRUE(ports.open(SOCKET_ID_ANY, {"vf0", "vf1"}));
  ASSERT_TRUE(ports.make_endpoints());
  EXPECT_THAT(ports.names(), ElementsAre("", "", "vf0/0", "vf0/1", "vf1"));
  EXPECT_THAT(ports.endpoint_ports(), ElementsAre("", "", "vf0", "vf0", "vf1"));
  EXPECT_EQ(ports.first_vf("vf0"), 0U);
  EXPECT_EQ(ports.first_vf("vf1"), 2U);
  EXPECT_EQ(ports.endpoints()[3].queue, 1U);
}

TEST_F(CardPortsOfVfs, a_vf_has_no_device_until_its_host_is_there) {
  CardPorts ports(config);
  ASSERT_TRUE(ports.open(SOCKET_ID_ANY, {"vf1"}));
  ASSERT_TRUE(ports.make_endpoints());
  EXPECT_EQ(ports.endpoints()[2].port, ports.device("vf0").id());
  EXPECT_EQ(ports.endpoints()[3].port, nic::kNoDevice);

  auto device = ports.open_device(config.ports[1]);
  ASSERT_TRUE(device) << device.error().message;
  const std::uint16_t id = (*device)->id();
  ports.put("vf1", *std::move(device));
  EXPECT_EQ(ports.endpoints()[3].port, nic::kNoDevice) << "the loops serve it only after use_device()";
  ports.use_device("vf1", id);
  EXPECT_EQ(ports.endpoints()[3].port, id);
  ports.use_device("vf1", nic::kNoDevice);
  EXPECT_NE(ports.take("vf1"), nullptr);
  EXPECT_EQ(ports.endpoints()[3].port, nic::kNoDevice);
}

TEST_F(CardPortsOfVfs, what_the_card_counted_is_shown_by_port) {
  config.ports[0].rx_queues = 2;
  CardPorts ports(config);
  ASSERT_TRUE(ports.open(SOCKET_ID_ANY, {"vf0", "vf1"}));
  ASSERT_TRUE(ports.make_endpoints());
  nic::CardCounters counters;
  counters.ports = {{.in = 100}, {.in = 100}, {.in = 1, .out = 10}, {.in = 2, .clones = 5, .tx_full = 1}, {.in = 4}};
  const auto rows = ports.observe(counters);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].workers_received, 3U) << "both queues";
  EXPECT_EQ(rows[0].workers_transmitted, 14U);
  EXPECT_EQ(rows[1].workers_received, 4U);
}

TEST(CardPortCounters, of_devices_that_follow_one_another_are_added_up) {
  datapath::PortCounters sum{}, more{};
  sum.received = 5;
  more.received = 3;
  more.tx_errors = 2;
  add(sum, more);
  EXPECT_EQ(sum.received, 8U);
  EXPECT_EQ(sum.tx_errors, 2U);
}

}  // namespace
}  // namespace splitplane::app
