#include "ue/reflective_qos.h"

#include <gtest/gtest.h>

#include "ue/ue_test_frames.h"

namespace splitplane::ue {
namespace {

using namespace test;

// 10.46.0.1:5201 > 10.45.0.2:40001 and back; `more`: what differs.
std::vector<std::uint8_t> udp(bool downlink, std::uint8_t protocol = 17, std::uint16_t ue_port = 40001,
                              std::uint16_t fragment = 0) {
  std::vector<std::uint8_t> packet(28);
  packet[0] = 0x45;
  packet[3] = 28;
  packet[6] = static_cast<std::uint8_t>(fragment >> 8);
  packet[7] = static_cast<std::uint8_t>(fragment);
  packet[9] = protocol;
  const std::array<std::uint8_t, 4> server{10, 46, 0, 1}, ue{10, 45, 0, 2};
  std::ranges::copy(downlink ? server : ue, packet.begin() + 12);
  std::ranges::copy(downlink ? ue : server, packet.begin() + 16);
  wire::store_be16(packet.data() + (downlink ? 20 : 22), 5201);
  wire::store_be16(packet.data() + (downlink ? 22 : 20), ue_port);
  return packet;
}

IpPacket ip_packet(const std::vector<std::uint8_t>& octets) {
  return {UeOutcome::ok, octets, octets[0] >> 4 == 6};
}

TEST(ReflectiveQos, the_answers_of_a_connection_use_the_flow_of_its_downlink) {
  ReflectiveQos rules(100);
  const auto down = udp(true), up = udp(false);
  EXPECT_EQ(rules.flow_of(ip_packet(up), 0), std::nullopt);
  rules.learn(ip_packet(down), Qfi{5}, 0);
  EXPECT_EQ(rules.flow_of(ip_packet(up), 1), Qfi{5});
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false, 6)), 1), std::nullopt) << "TCP is another connection";
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false, 17, 40002)), 1), std::nullopt);
  EXPECT_EQ(rules.flow_of(ip_packet(down), 1), std::nullopt) << "the other way round it is no packet of the UE";
  rules.learn(ip_packet(down), Qfi{7}, 2);
  EXPECT_EQ(rules.flow_of(ip_packet(up), 3), Qfi{7}) << "the latest counts";
  EXPECT_EQ(rules.size(), 1U);
}

TEST(ReflectiveQos, other_protocols_are_told_by_their_addresses_alone) {
  ReflectiveQos rules(100);
  rules.learn(ip_packet(udp(true, 1, 1)), Qfi{3}, 0);
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false, 1, 999)), 0), Qfi{3});
  std::vector<std::uint8_t> six = from_hex(kPacketV6);
  std::swap_ranges(six.begin() + 8, six.begin() + 24, six.begin() + 24);
  std::swap_ranges(six.begin() + 40, six.begin() + 42, six.begin() + 42);
  rules.learn(ip_packet(six), Qfi{4}, 0);
  const auto up = from_hex(kPacketV6);
  EXPECT_EQ(rules.flow_of(ip_packet(up), 0), Qfi{4});
}

TEST(ReflectiveQos, a_later_fragment_has_no_ports_and_no_rule) {
  ReflectiveQos rules(100);
  rules.learn(ip_packet(udp(true, 17, 40001, 0x00b9)), Qfi{5}, 0);
  EXPECT_EQ(rules.size(), 0U);
  rules.learn(ip_packet(udp(true)), Qfi{5}, 0);
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false, 17, 40001, 0x00b9)), 0), std::nullopt);
}

TEST(ReflectiveQos, a_rule_ends_when_it_is_not_confirmed) {
  ReflectiveQos rules(100);
  rules.learn(ip_packet(udp(true)), Qfi{5}, 0);
  rules.learn(ip_packet(udp(true)), Qfi{5}, 90);
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false)), 189), Qfi{5});
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false)), 190), std::nullopt);
}

TEST(ReflectiveQos, the_rule_that_was_confirmed_longest_ago_makes_room) {
  ReflectiveQos rules(1000);
  for (std::uint16_t port = 0; port <= ReflectiveQos::kMaxRules; ++port) {
    rules.learn(ip_packet(udp(true, 17, port)), Qfi{5}, port);
    if (port == 2) rules.learn(ip_packet(udp(true, 17, 0)), Qfi{5}, port);
  }
  EXPECT_EQ(rules.size(), ReflectiveQos::kMaxRules);
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false, 17, 0)), 64), Qfi{5});
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false, 17, 1)), 64), std::nullopt);
  EXPECT_EQ(rules.flow_of(ip_packet(udp(false, 17, 2)), 64), Qfi{5});
}

}  // namespace
}  // namespace splitplane::ue
