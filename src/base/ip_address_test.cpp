#include "base/ip_address.h"

#include <gtest/gtest.h>

namespace splitplane {
namespace {

TEST(IpAddress, reads_and_writes_both_families) {
  EXPECT_EQ(IpAddress::parse("10.45.0.2")->to_string(), "10.45.0.2");
  EXPECT_EQ(IpAddress::parse("fd00::1")->to_string(), "fd00::1");
  EXPECT_FALSE(IpAddress::parse("10.45.0.2")->is_v6());
  EXPECT_TRUE(IpAddress::parse("fd00::1")->is_v6());
}

TEST(IpAddress, refuses_what_is_no_address_and_names_it) {
  for (const char* bad : {"", "10.0.0", "10.0.0.256", "fd00:::1", "host", "10.0.0.1 "}) {
    const auto got = IpAddress::parse(bad);
    ASSERT_FALSE(got) << bad;
    EXPECT_NE(got.error().message.find(bad), std::string::npos);
  }
}

TEST(IpAddress, plus_carries_over_octets) {
  EXPECT_EQ(IpAddress::parse("10.45.0.255")->plus(1).to_string(), "10.45.1.0");
  EXPECT_EQ(IpAddress::parse("10.45.0.2")->plus(65536).to_string(), "10.46.0.2");
  EXPECT_EQ(IpAddress::parse("fd00::ffff")->plus(1).to_string(), "fd00::1:0");
}

TEST(MacAddress, reads_writes_and_refuses) {
  EXPECT_EQ(MacAddress::parse("02:00:00:00:00:ff")->to_string(), "02:00:00:00:00:ff");
  for (const char* bad : {"", "02:00:00:00:00", "02-00-00-00-00-01", "02:00:00:00:00:0g", "02:00:00:00:00:001"}) {
    EXPECT_FALSE(MacAddress::parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace splitplane
