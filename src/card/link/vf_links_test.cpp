// What a host knows of the other ends of its card's VFs.
#include "card/link/vf_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class VfLinksTest : public ::testing::Test {
 protected:
  std::optional<std::string> look(std::chrono::milliseconds after) { return links_.look(begin_ + after); }

  std::set<std::uint16_t> down_;
  unsigned looks_ = 0;
  const VfLinks::Clock::time_point begin_ = VfLinks::Clock::now();
  VfLinks links_{{{"vf0", 3}, {"vf1", 5}}, [this](std::uint16_t id) {
                   ++looks_;
                   return !down_.contains(id);
                 }};
};

TEST_F(VfLinksTest, vfs_without_another_end_are_named) {
  EXPECT_EQ(look(0ms), "");
  down_ = {3};
  EXPECT_THAT(look(100ms).value(), HasSubstr("vf0 is not connected"));
  down_ = {3, 5};
  EXPECT_THAT(look(200ms).value(), HasSubstr("vf0, vf1 are not connected"));
  down_ = {};
  EXPECT_EQ(look(300ms), "");
}

TEST_F(VfLinksTest, links_are_looked_at_ten_times_a_second) {
  EXPECT_TRUE(look(0ms));
  EXPECT_FALSE(look(99ms));
  EXPECT_EQ(looks_, 2U);
  EXPECT_TRUE(look(100ms));
  EXPECT_EQ(looks_, 4U);
}

}  // namespace
}  // namespace splitplane::app
