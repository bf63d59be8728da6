#include "runtime/config/device.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

TEST(Device, reads_every_known_driver_with_and_without_index) {
  for (const char* text :
       {"net_null", "net_null0", "net_ring1", "net_pcap0,rx_pcap=a.pcap", "net_memif,role=client", "net_tap7",
        "net_af_packet0,iface=eth1", "net_af_xdp,iface=eth1", "net_vhost0,iface=/run/x", "eth_vhost0,iface=/run/x",
        "net_virtio_user12,path=/run/x", "0000:3b:00.0", "3b:00.1", "0000:3b:00.0,queues=[0-3,5]"}) {
    EXPECT_TRUE(parse_device(text)) << text << ": " << parse_device(text).error().message;
  }
}

TEST(Device, takes_name_and_arguments_apart) {
  const auto device = parse_device("net_pcap3,rx_pcap=a.pcap,rx_pcap=b.pcap,infinite_rx=1");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->driver, Driver::kPcap);
  EXPECT_EQ(device->name, "net_pcap3");
  EXPECT_EQ(device->count("rx_pcap"), 2U);
  EXPECT_EQ(device->arg("infinite_rx"), "1");
  EXPECT_EQ(device->arg("tx_pcap"), std::nullopt);
}

TEST(Device, one_pci_device_has_one_name) {
  EXPECT_EQ(parse_device("3B:00.1")->name, parse_device("0000:3b:00.1")->name);
}

TEST(Device, knows_how_many_queues_the_arguments_give) {
  EXPECT_EQ(parse_device("net_af_packet0,iface=e")->queues(), 1U);
  EXPECT_EQ(parse_device("net_af_packet0,iface=e,qpairs=4")->queues(), 4U);
  EXPECT_EQ(parse_device("net_af_xdp0,iface=e,queue_count=2")->queues(), 2U);
  EXPECT_EQ(parse_device("net_null0")->queues(), std::nullopt);
}

TEST(Device, refuses_the_rest_and_says_what_is_allowed) {
  for (const auto& [text, why] : {std::pair{"", "no device known"},
                                  {"eth1", "no device known"},
                                  {"net_nul0", "did you mean 'net_null'?"},
                                  {"net_null0x", "no device known"},
                                  {"net_null-0", "no device known"},
                                  {"net_null0 ", "space"},
                                  {"net_null0\n", "space"},
                                  {"net_null0,", "no argument"},
                                  {"net_null0,copy", "no argument"},
                                  {"net_null0,=1", "no argument"},
                                  {"net_null0,copy=", "no argument"},
                                  {"net_af_packet0", "needs the argument iface="},
                                  {"net_af_packet0,ifcae=eth1", "but 'ifcae'"},
                                  {"net_af_packet0,iface=a,iface=b", "iface= once"},
                                  {"net_pcap0", "no source or sink"},
                                  {"net_virtio_user0", "path="},
                                  {"net_af_packet0,iface=abcdefghijklmnop", "too long"},
                                  {"0000:3b:00.8", "no device known"},
                                  {"0000:3g:00.0", "no device known"},
                                  {"net_null00000000000000000000000000000000000", "no device known"}}) {
    const auto device = parse_device(text);
    ASSERT_FALSE(device) << text;
    EXPECT_THAT(device.error().message, HasSubstr(why)) << text;
    EXPECT_THAT(device.error().message, HasSubstr("; allowed: ")) << text;
    EXPECT_EQ(device.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace splitplane::app
