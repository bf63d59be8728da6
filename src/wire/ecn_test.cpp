// The ECN field: fixtures that Python made (struct and a plain sum of 16-bit words), and properties over random
// packets.
#include "wire/ecn.h"

#include <gtest/gtest.h>

#include <random>

#include "wire/test_octets.h"

namespace splitplane::wire::ecn {
namespace {

using Packet = std::vector<std::uint8_t>;

Packet from_hex(std::string_view hex, std::size_t payload) {
  Packet packet = test::from_hex(hex);
  packet.resize(packet.size() + payload, 0x5a);
  return packet;
}

Packet ipv6_packet(std::uint8_t traffic_class, std::size_t payload) {
  Packet packet(ipv6::kHeaderBytes + payload, 0x5a);
  store_be32(packet.data(), 6U << 28 | std::uint32_t{traffic_class} << 20 | 0xabcde);
  store_be16(packet.data() + 4, static_cast<std::uint32_t>(payload));
  packet[6] = ipv6::kProtocolTcp;
  return packet;
}

TEST(Ecn, marked_headers_are_those_that_python_made) {
  const std::array<std::array<std::string_view, 2>, 7> cases{{
      {"4502001c00014000400624a70a0102030a2d0002", "4503001c00014000400624a60a0102030a2d0002"},
      {"45b9001c00014000400623f00a0102030a2d0002", "45bb001c00014000400623ee0a0102030a2d0002"},
      {"470100240001400040068c990a0102030a2d00029404000001010101",
       "470300240001400040068c970a0102030a2d00029404000001010101"},
      {"4502001c24a84000400600000a0102030a2d0002", "4503001c24a840004006fffe0a0102030a2d0002"},
      {"4502001c24a74000400600010a0102030a2d0002", "4503001c24a74000400600000a0102030a2d0002"},
      {"4502001c24a64000400600020a0102030a2d0002", "4503001c24a64000400600010a0102030a2d0002"},
      {"4502001c24a940004006fffe0a0102030a2d0002", "4503001c24a940004006fffd0a0102030a2d0002"},
  }};
  for (const auto& [before, after] : cases) {
    Packet packet = from_hex(before, 8);
    ASSERT_TRUE(is_capable(codepoint_of(packet))) << before;
    set_ce(packet);
    EXPECT_EQ(packet, from_hex(after, 8)) << before;
  }
}

// Judged by the sum over the whole header, which shares nothing with the difference.
TEST(Ecn, the_checksum_of_any_ipv4_header_stays_right) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < 200'000; ++i) {
    Packet options(random() % 11 * 4);
    for (auto& octet : options) octet = static_cast<std::uint8_t>(random());
    Packet packet(128);
    const ipv4::Header header{.tos = static_cast<std::uint8_t>((random() & 0xfc) | (1 + random() % 2)),
                              .identification = static_cast<std::uint16_t>(random()),
                              .fragment = static_cast<std::uint16_t>(random()),
                              .ttl = static_cast<std::uint8_t>(random()),
                              .protocol = static_cast<std::uint8_t>(random()),
                              .source = static_cast<std::uint32_t>(random()),
                              .destination = static_cast<std::uint32_t>(random())};
    packet.resize(ipv4::write(packet, header, 8, options) + 8);
    const Packet before = packet;
    ASSERT_TRUE(is_capable(codepoint_of(packet)));
    set_ce(packet);
    const auto parsed = ipv4::parse(packet);
    ASSERT_TRUE(parsed);
    ASSERT_TRUE(ipv4::checksum_is_good(packet, *parsed)) << i;
    ASSERT_EQ(codepoint_of(packet), Codepoint::kCe);
    ASSERT_EQ(parsed->tos, header.tos | 3);
    for (std::size_t at = 0; at < packet.size(); ++at) {
      if (at == 1 || at == 10 || at == 11) continue;
      ASSERT_EQ(packet[at], before[at]) << at;
    }
  }
}

TEST(Ecn, a_wrong_checksum_stays_wrong) {
  Packet packet = from_hex("4502001c00014000400624a80a0102030a2d0002", 8);
  set_ce(packet);
  EXPECT_FALSE(ipv4::checksum_is_good(packet, *ipv4::parse(packet)));
}

TEST(Ecn, in_ipv6_two_bits_of_the_traffic_class_change_and_nothing_else) {
  for (unsigned traffic_class = 0; traffic_class < 256; ++traffic_class) {
    Packet packet = ipv6_packet(static_cast<std::uint8_t>(traffic_class), 20);
    ASSERT_EQ(static_cast<unsigned>(codepoint_of(packet)), traffic_class & 3);
    if (!is_capable(codepoint_of(packet))) continue;
    set_ce(packet);
    EXPECT_EQ(packet, ipv6_packet(static_cast<std::uint8_t>(traffic_class | 3), 20));
  }
}

TEST(Ecn, a_cut_header_is_not_ecn_capable) {
  for (const Packet& whole : {from_hex("4502001c00014000400624a70a0102030a2d0002", 8), ipv6_packet(2, 20),
                              from_hex("470100240001400040068c990a0102030a2d00029404000001010101", 8)}) {
    ASSERT_TRUE(is_capable(codepoint_of(whole)));
    for (std::size_t octets = 0; octets < whole.size(); ++octets) {
      const Packet cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(octets));  // so that ASan sees it
      EXPECT_EQ(codepoint_of(cut), Codepoint::kNotEct) << octets;
    }
    Packet other = whole;
    for (unsigned version = 0; version < 16; ++version) {
      if (version == whole[0] >> 4) continue;
      other[0] = static_cast<std::uint8_t>(version << 4 | 5);
      EXPECT_FALSE(version != 4 && version != 6 && is_capable(codepoint_of(other))) << version;
    }
  }
  EXPECT_EQ(codepoint_of({}), Codepoint::kNotEct);
}

}  // namespace
}  // namespace splitplane::wire::ecn
