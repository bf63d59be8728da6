#include "guard/config/server_text.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

std::string address(std::string_view text) {
  guard::ServerRule rule;
  const auto taken = take_address(text, rule);
  return taken ? address_text(rule) : taken.error().message;
}

std::string ports(std::string_view text) {
  guard::ServerRule rule;
  const auto taken = take_ports(text, rule);
  return taken ? ports_text(rule) : taken.error().message;
}

guard::ServerRule rule_of(std::string_view where, std::string_view which) {
  guard::ServerRule rule;
  EXPECT_TRUE(take_address(where, rule)) << where;
  EXPECT_TRUE(take_ports(which, rule)) << which;
  return rule;
}

TEST(ServerText, an_address_is_one_host_or_a_prefix) {
  EXPECT_EQ(address("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(address("10.0.0.1/32"), "10.0.0.1");
  EXPECT_EQ(address("10.0.0.0/24"), "10.0.0.0/24");
  EXPECT_EQ(address("10.0.0.8/29"), "10.0.0.8/29");
  EXPECT_EQ(address("0.0.0.0/0"), "0.0.0.0/0");
  EXPECT_EQ(address("fd00::1"), "fd00::1");
  EXPECT_EQ(address("fd00::/64"), "fd00::/64");
  EXPECT_EQ(address("::/0"), "::/0");
  EXPECT_EQ(rule_of("fc00::/7", "1").prefix, 7);
}

TEST(ServerText, what_is_no_address_of_a_server_is_refused) {
  for (const char* text : {"", "web", "10.0.0", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/x", "10.0.0.1/-1", "fd00::1/129",
                           "10.0.0.1/24/8", "10.0.0.0/ 24"}) {
    EXPECT_THAT(address(text), HasSubstr("; allowed: an address such as")) << text;
  }
  EXPECT_THAT(address("10.0.0.1/24"), HasSubstr("has bits behind its prefix; allowed: 10.0.0.0/24"));
  EXPECT_THAT(address("fd00::1:0:0:0:1/64"), HasSubstr("has bits behind its prefix"));
  for (const char* text : {"0.0.0.0", "224.0.0.1", "239.0.0.0/8", "255.255.255.255", "::", "ff02::1"}) {
    EXPECT_THAT(address(text), HasSubstr("is no address of a host")) << text;
  }
}

TEST(ServerText, ports_are_one_or_a_range) {
  EXPECT_EQ(ports("443"), "443");
  EXPECT_EQ(ports("8000-8099"), "8000-8099");
  EXPECT_EQ(ports("0-65535"), "0-65535");
  EXPECT_EQ(ports("80-80"), "80");
  for (const char* text :
       {"", "-", "80-", "-80", "65536", "1-65536", "81-80", "+80", "0x50", "80,81", " 80", "1-2-3"}) {
    EXPECT_THAT(ports(text), HasSubstr("is no port; allowed: a TCP port such as 443")) << text;
  }
}

TEST(ServerText, a_refused_text_changes_nothing) {
  guard::ServerRule rule = rule_of("10.0.0.1", "80");
  EXPECT_FALSE(take_address("10.0.0.1/24", rule));
  EXPECT_FALSE(take_ports("9-8", rule));
  EXPECT_EQ(address_text(rule), "10.0.0.1");
  EXPECT_EQ(ports_text(rule), "80");
}

TEST(ServerText, two_rules_are_of_one_place_if_addresses_and_ports_are_the_same) {
  EXPECT_TRUE(same_place(rule_of("10.1.0.0/16", "0-1023"), rule_of("10.1.0.0/16", "0-1023")));
  EXPECT_FALSE(same_place(rule_of("10.1.0.0/16", "0-1023"), rule_of("10.1.0.0/17", "0-1023")));
  EXPECT_FALSE(same_place(rule_of("10.1.0.0/16", "0-1023"), rule_of("10.1.0.0/16", "0-1024")));
  EXPECT_FALSE(same_place(rule_of("0.0.0.0/0", "80"), rule_of("::/0", "80")));
}

}  // namespace
}  // namespace splitplane::app
