#include "runtime/port_watch.h"

#include <gtest/gtest.h>

#include <map>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

PortConfig port(const std::string& name, const std::string& device) {
  PortConfig config;
  config.name = name;
  config.device = device;
  return config;
}

class PortWatchTest : public testing::Test {
 protected:
  PortWatch watch(std::vector<WatchedPort> ports) {
    return PortWatch(std::move(ports), [this](const WatchedPort& p) {
      ++looks_;
      return links_.at(p.name);
    });
  }
  std::map<std::string, PortLink> links_{{"n3", {true, 1500}}, {"vf", {true, {}}}};
  int looks_ = 0;
  PortWatch::Clock::time_point now_ = PortWatch::Clock::now();
};

TEST_F(PortWatchTest, a_change_is_told_once) {
  PortWatch watch = this->watch({*watched_port(port("n3", "net_af_packet0,iface=n3"), 0)});
  (void)watch.look(now_);
  links_["n3"].up = false;
  const auto down = watch.look(now_ += 1s);
  ASSERT_EQ(down.size(), 1U);
  EXPECT_FALSE(down[0].link.up);
  EXPECT_TRUE(watch.look(now_ += 1s).empty());
  EXPECT_FALSE(watch.find("n3")->link.up);
  links_["n3"].up = true;
  EXPECT_EQ(watch.look(now_ += 1s).size(), 1U);
}

TEST_F(PortWatchTest, the_smaller_of_the_two_mtus_counts) {
  PortWatch watch = this->watch({*watched_port(port("n3", "net_af_packet0,iface=n3"), 0)});
  links_["n3"].mtu = 1300;
  const auto shrunk = watch.look(now_ += 1s);
  ASSERT_EQ(shrunk.size(), 1U);
  EXPECT_EQ(shrunk[0].mtu(), 1300U);
  links_["n3"].mtu = 9000;
  EXPECT_EQ(watch.look(now_ += 1s).at(0).mtu(), 1500U);
  links_["n3"] = {false, {}};  // removed
  EXPECT_EQ(watch.look(now_ += 1s).at(0).mtu(), 1500U);
}

TEST_F(PortWatchTest, what_connects_once_is_not_looked_at_again_and_what_listens_never) {
  EXPECT_FALSE(watched_port(port("vf", "net_virtio_user0,path=/run/x,server=1"), 0));
  PortWatch watch = this->watch({*watched_port(port("vf", "net_virtio_user0,path=/run/x"), 0)});
  links_["vf"].up = false;
  EXPECT_EQ(watch.look(now_ += 1s).size(), 1U);
  const int before = looks_;
  (void)watch.look(now_ += 1s);
  EXPECT_EQ(looks_, before);
}

TEST_F(PortWatchTest, the_kernel_is_asked_about_its_own_interfaces) {
  const WatchedPort lo = *watched_port(port("l", "net_af_packet0,iface=lo"), 0);
  const PortLink link = PortWatch::look_at(lo);
  ASSERT_TRUE(link.mtu);
  EXPECT_GE(*link.mtu, 1500U);
  const PortLink none = PortWatch::look_at(*watched_port(port("l", "net_tap0,iface=no-such-thing"), 0));
  EXPECT_FALSE(none.up || none.mtu);
}

}  // namespace
}  // namespace splitplane::app
