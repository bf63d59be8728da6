#include "card/control/vf_connections.h"

#include <gmock/gmock.h>

#include "card/control/test_config.h"

namespace splitplane::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class VfConnectionsTest : public testing::Test {
 protected:
  VfConnectionsTest() {
    config.ports = {{.name = "ring", .device = "net_ring0"},
                    {.name = "vf", .device = "net_virtio_user0,path=/tmp/splitplane-no-such-host.sock"}};
    config.vfs = {"ring", "vf"};
  }
  CardConfig config = test::unconnected_card("vfs");
};

TEST_F(VfConnectionsTest, only_virtio_user_devices_are_connected_when_their_host_is_there) {
  const auto vfs = kept_vfs(config);
  ASSERT_EQ(vfs.size(), 1U);
  EXPECT_EQ(vfs[0].port, "vf");
  EXPECT_EQ(vfs[0].socket, "/tmp/splitplane-no-such-host.sock");
}

TEST_F(VfConnectionsTest, a_vf_without_a_host_waits_for_it_and_the_thread_ends_when_it_is_told) {
  CardPorts ports(config);
  CardLoops loops(config);
  std::mutex mutex;
  VfConnections vfs(config, ports, loops, mutex);
  vfs.connect_present();
  EXPECT_THAT(vfs.waiting(), ElementsAre("vf"));
  vfs.start();
  vfs.stop();
  EXPECT_FALSE(vfs.stuck());
  EXPECT_THAT(vfs.waiting(), ElementsAre("vf"));
}

TEST_F(VfConnectionsTest, a_card_without_such_vfs_waits_for_none) {
  config.vfs = {"ring"};
  CardPorts ports(config);
  CardLoops loops(config);
  std::mutex mutex;
  VfConnections vfs(config, ports, loops, mutex);
  vfs.connect_present();
  EXPECT_THAT(vfs.waiting(), IsEmpty());
}

}  // namespace
}  // namespace splitplane::app
