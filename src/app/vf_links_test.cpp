// What is said of VFs whose host goes away or comes back, and which links are never looked at.
#include "app/vf_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class VfLinksTest : public ::testing::Test {
 protected:
  // What is said at a look, so long after the first.
  std::vector<std::string> look(std::chrono::milliseconds after) {
    std::vector<std::string> lines;
    for (const VfLink& link : links_.look(begin_ + after)) lines.push_back(to_string(link));
    return lines;
  }

  std::set<std::uint16_t> down_;
  unsigned looks_ = 0;
  const VfLinks::Clock::time_point begin_ = VfLinks::Clock::now();
  VfLinks links_{{{"vf0", 3, false, true}, {"vf1", 5, true, true}}, [this](std::uint16_t id) {
                   ++looks_;
                   return !down_.contains(id);
                 }};
};

TEST_F(VfLinksTest, a_link_that_goes_down_is_said_once) {
  EXPECT_THAT(look(0s), IsEmpty());
  down_ = {3};
  EXPECT_THAT(look(1s), ElementsAre("port vf0: its link is down: its host is gone; start the card again when the host "
                                    "is back"));
  EXPECT_THAT(look(2s), IsEmpty());
}

TEST_F(VfLinksTest, a_link_that_comes_back_is_said_and_one_that_cannot_is_not_looked_at_again) {
  down_ = {3, 5};
  EXPECT_THAT(look(0s), Contains("port vf1: its link is down: its host is gone"));
  EXPECT_EQ(looks_, 2U);
  down_ = {};
  EXPECT_THAT(look(1s), ElementsAre("port vf1: its link is up: the host is there"));
  EXPECT_EQ(looks_, 3U);
}

TEST_F(VfLinksTest, links_are_looked_at_once_a_second) {
  EXPECT_THAT(look(0s), IsEmpty());
  EXPECT_THAT(look(999ms), IsEmpty());
  EXPECT_EQ(looks_, 2U);
  EXPECT_THAT(look(1s), IsEmpty());
  EXPECT_EQ(looks_, 4U);
}

TEST(VfLink, a_virtio_user_device_that_listens_is_not_looked_at) {
  PortConfig port;
  port.name = "vf0";
  port.device = "net_virtio_user0,path=/run/vf.sock";
  ASSERT_TRUE(vf_link(port, 7));
  EXPECT_EQ(vf_link(port, 7)->id, 7);
  EXPECT_FALSE(vf_link(port, 7)->comes_back);
  port.device += ",server=1";
  EXPECT_FALSE(vf_link(port, 7));
  port.device = "net_af_packet0,iface=lo";
  EXPECT_FALSE(vf_link(port, 7));
  port.device = "net_vhost0,iface=/run/vf.sock";
  ASSERT_TRUE(vf_link(port, 7));
  EXPECT_TRUE(vf_link(port, 7)->comes_back);
}

}  // namespace
}  // namespace splitplane::app
