#include "ran/mac/phr.h"

#include <gtest/gtest.h>

#include "wire/test_octets.h"

namespace splitplane::ran::mac::test {
namespace {

constexpr RadioState kRadio{.power_headroom = 31, .pcmax = 42, .path_loss_db = 90};

TEST(Phr, configuration_triggers_one_and_it_says_what_the_phy_says) {
  PowerHeadroom phr({});
  EXPECT_TRUE(phr.triggered());
  phr.granted(kRadio, 0);
  EXPECT_EQ(wire::test::to_hex(PowerHeadroom::report(kRadio).octets()), "391f2a");
  EXPECT_TRUE(phr.triggered()) << "it is not in a block yet";
  phr.sent(kRadio, 0);
  EXPECT_FALSE(phr.triggered());
}

TEST(Phr, the_periodic_timer_triggers_one) {
  PowerHeadroom phr({.periodic = 100});
  phr.granted(kRadio, 0);
  phr.sent(kRadio, 10);
  phr.granted(kRadio, 109);
  EXPECT_FALSE(phr.triggered());
  phr.granted(kRadio, 110);
  EXPECT_TRUE(phr.triggered());
}

TEST(Phr, a_path_loss_that_changed_triggers_one_unless_it_is_prohibited) {
  PowerHeadroom phr({.prohibit = 50, .change_db = 3});
  phr.granted(kRadio, 0);
  phr.sent(kRadio, 0);
  RadioState far = kRadio;
  far.path_loss_db += 3;
  phr.granted(far, 60);
  EXPECT_FALSE(phr.triggered()) << "not more than the change";
  far.path_loss_db += 1;
  phr.granted(far, 60);
  EXPECT_TRUE(phr.triggered());
  phr.sent(far, 60);
  phr.granted(kRadio, 100);
  EXPECT_FALSE(phr.triggered()) << "phr-ProhibitTimer runs";
  phr.granted(kRadio, 110);
  EXPECT_TRUE(phr.triggered());
}

}  // namespace
}  // namespace splitplane::ran::mac::test
