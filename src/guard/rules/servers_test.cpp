// Which rule is a packet's, and what happens to rules while the guard runs.
#include "guard/rules/servers.h"

#include <gtest/gtest.h>

namespace splitplane::guard {
namespace {

ServerRule at(const char* name, const char* address, unsigned prefix, std::uint16_t first = 0,
              std::uint16_t last = 0xFFFF) {
  ServerRule rule;
  rule.name = name;
  rule.address = IpAddress::parse(address).value();
  rule.prefix = static_cast<std::uint8_t>(prefix);
  rule.first_port = first;
  rule.last_port = last;
  return rule;
}

std::string matched(const ServerList& list, const char* address, std::uint16_t port) {
  const IpAddress to = IpAddress::parse(address).value();
  const std::uint16_t index = list.match(to.is_v6(), to.octets().data(), port);
  return index == ServerList::kNone ? "" : list.at(index).rule.name;
}

TEST(ServerList, a_rule_covers_its_prefix_and_its_ports) {
  ServerList list;
  ASSERT_TRUE(list.put(at("web", "10.1.2.0", 24, 80, 443)));
  EXPECT_EQ(matched(list, "10.1.2.255", 80), "web");
  EXPECT_EQ(matched(list, "10.1.2.0", 443), "web");
  EXPECT_EQ(matched(list, "10.1.2.0", 79), "");
  EXPECT_EQ(matched(list, "10.1.2.0", 444), "");
  EXPECT_EQ(matched(list, "10.1.3.0", 80), "");
  EXPECT_EQ(matched(list, "a01:200::", 80), "") << "an IPv6 address with the same octets";
}

TEST(ServerList, prefixes_of_ipv6_count_across_both_halves) {
  ServerList list;
  ASSERT_TRUE(list.put(at("half", "2001:db8:0:1::", 64)));
  ASSERT_TRUE(list.put(at("long", "2001:db8:0:2::5600", 120)));
  ASSERT_TRUE(list.put(at("short", "2001:dc0::", 30)));
  EXPECT_EQ(matched(list, "2001:db8:0:1:ffff::1", 1), "half");
  EXPECT_EQ(matched(list, "2001:db8:0:2::56ff", 1), "long");
  EXPECT_EQ(matched(list, "2001:db8:0:2::57ff", 1), "");
  EXPECT_EQ(matched(list, "2001:dc3:ffff::", 1), "short");
  EXPECT_EQ(matched(list, "2001:dc4::", 1), "");
}

TEST(ServerList, prefix_0_is_every_address_of_the_family) {
  ServerList list;
  ASSERT_TRUE(list.put(at("all", "0.0.0.0", 0)));
  ASSERT_TRUE(list.put(at("all6", "::", 0)));
  EXPECT_EQ(matched(list, "203.0.113.9", 1), "all");
  EXPECT_EQ(matched(list, "2001:db8::9", 1), "all6");
}

TEST(ServerList, the_longest_prefix_wins_then_the_fewest_ports_whatever_the_order_is) {
  ServerList list;
  ASSERT_TRUE(list.put(at("net", "10.0.0.0", 8)));
  ASSERT_TRUE(list.put(at("host", "10.0.0.1", 32)));
  ASSERT_TRUE(list.put(at("port", "10.0.0.1", 32, 443, 443)));
  EXPECT_EQ(matched(list, "10.0.0.1", 443), "port");
  EXPECT_EQ(matched(list, "10.0.0.1", 80), "host");
  EXPECT_EQ(matched(list, "10.9.0.1", 80), "net");
}

TEST(ServerList, a_rule_keeps_its_index_when_others_come_and_go) {
  ServerList list;
  const std::uint16_t a = list.put(at("a", "10.0.0.1", 32)).value();
  const std::uint16_t b = list.put(at("b", "10.0.0.2", 32)).value();
  EXPECT_TRUE(list.remove("a"));
  EXPECT_FALSE(list.remove("a"));
  EXPECT_EQ(list.find("b"), b);
  EXPECT_EQ(matched(list, "10.0.0.1", 1), "");
  EXPECT_EQ(matched(list, "10.0.0.2", 1), "b");
  EXPECT_EQ(list.put(at("c", "10.0.0.3", 32)).value(), a) << "the free place";
}

TEST(ServerList, a_changed_rule_keeps_what_was_learnt) {
  ServerList list;
  const std::uint16_t index = list.put(at("a", "10.0.0.1", 32)).value();
  list.at(index).mss = 1400;
  list.at(index).scale = 9;
  ServerRule changed = at("a", "10.0.0.1", 32);
  changed.mode = Mode::kProxy;
  EXPECT_EQ(list.put(changed).value(), index);
  EXPECT_EQ(list.at(index).mode, Mode::kProxy);
  EXPECT_EQ(list.at(index).mss, 1400);
  EXPECT_EQ(list.at(index).scale, 9);
  changed.mss = 536;
  changed.window_scale = 0;
  ASSERT_TRUE(list.put(changed));
  EXPECT_EQ(list.at(index).mss, 536);
  EXPECT_EQ(list.at(index).scale, 0);
  EXPECT_FALSE(list.at(index).learns_mss);
}

TEST(ServerList, a_server_acts_in_auth_and_proxy_only) {
  ServerList list;
  for (const Mode mode : {Mode::kBypass, Mode::kObserve, Mode::kAuth, Mode::kProxy}) {
    ServerRule rule = at("a", "10.0.0.1", 32);
    rule.mode = mode;
    rule.arm = Arm::kAlways;
    const std::uint16_t index = list.put(rule).value();
    EXPECT_EQ(list.at(index).acts, mode == Mode::kAuth || mode == Mode::kProxy) << name_of(mode);
    rule.arm = Arm::kAuto;
    ASSERT_TRUE(list.put(rule));
    EXPECT_FALSE(list.at(index).acts) << "nothing has armed it";
  }
}

TEST(ServerList, a_packet_without_ports_is_of_the_rule_that_acts) {
  ServerList list;
  ServerRule idle = at("idle", "10.0.0.1", 32, 80, 80), acting = at("acting", "10.0.0.1", 32, 100, 900);
  acting.arm = Arm::kAlways;
  ASSERT_TRUE(list.put(idle));
  ASSERT_TRUE(list.put(acting));
  const auto octets = IpAddress::parse("10.0.0.1").value().octets(),
             other = IpAddress::parse("10.0.0.2").value().octets();
  EXPECT_EQ(list.at(list.match_address(false, octets.data())).rule.name, "acting");
  EXPECT_TRUE(list.remove("acting"));
  EXPECT_EQ(list.at(list.match_address(false, octets.data())).rule.name, "idle");
  EXPECT_EQ(list.match_address(false, other.data()), ServerList::kNone);
}

TEST(ServerList, refuses_what_cannot_be_a_rule) {
  ServerList list;
  EXPECT_FALSE(list.put(at("", "10.0.0.1", 32)));
  EXPECT_FALSE(list.put(at("a", "10.0.0.1", 33)));
  EXPECT_FALSE(list.put(at("a", "2001:db8::", 129)));
  EXPECT_FALSE(list.put(at("a", "10.0.0.1", 32, 90, 80)));
  ServerRule scale = at("a", "10.0.0.1", 32);
  scale.window_scale = 15;
  EXPECT_FALSE(list.put(scale));
  EXPECT_TRUE(list.used().empty());
}

TEST(ServerList, takes_64_rules_and_no_more) {
  ServerList list;
  for (unsigned i = 0; i < kMaxServers; ++i)
    ASSERT_TRUE(list.put(
        at(std::to_string(i).c_str(), "10.0.0.1", 32, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(i))));
  EXPECT_FALSE(list.put(at("one more", "10.0.0.2", 32)));
  EXPECT_TRUE(list.put(at("7", "10.0.0.9", 32))) << "a change is no new rule";
  EXPECT_EQ(matched(list, "10.0.0.1", 63), "63");
}

}  // namespace
}  // namespace splitplane::guard
