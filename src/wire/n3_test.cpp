#include "wire/n3.h"

#include <gtest/gtest.h>

#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire::n3 {
namespace {

using test::example;
using test::from_hex;
using test::HeapOctets;

Reason reason_with(std::string_view id_hex, std::size_t at, std::uint8_t value) {
  auto octets = from_hex(id_hex);
  octets.at(at) = value;
  return parse(HeapOctets(octets)).reason;
}

TEST(N3, ipv4_frame_is_followed_to_the_inner_packet) {
  const HeapOctets frame(from_hex(example("N1").hex));
  const auto p = parse(frame);
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->is_ipv6);
  EXPECT_EQ(p->source_port, 2152);
  EXPECT_EQ(p->ip_offset, 14U);
  EXPECT_EQ(p->udp_offset, 34U);
  EXPECT_EQ(p->gtpu_offset, 42U);
  EXPECT_EQ(p->gtpu.psc.qfi, Qfi{9});
  EXPECT_EQ(test::to_hex(Octets(frame).subspan(p->payload_offset, p->payload_bytes)), SPLITPLANE_TEST_IP);
}

TEST(N3, tagged_ipv6_frame_is_followed_to_the_inner_packet) {
  const HeapOctets frame(from_hex(example("N2").hex));
  const auto p = parse(frame);
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->is_ipv6);
  EXPECT_EQ(p->ip_offset, 18U);
  EXPECT_EQ(p->gtpu.teid, Teid{0x01020304});
  EXPECT_EQ(test::to_hex(Octets(frame).subspan(p->payload_offset, p->payload_bytes)), SPLITPLANE_TEST_IP);
}

TEST(N3, link_padding_is_not_payload) {
  auto octets = from_hex(example("N1").hex);
  octets.resize(octets.size() + 9, 0xEE);
  EXPECT_EQ(parse(HeapOctets(octets))->payload_bytes, 30U);
}

TEST(N3, each_layer_gives_its_own_reason) {
  const std::string_view n1 = example("N1").hex;
  const std::string_view n2 = example("N2").hex;
  EXPECT_EQ(reason_with(n1, 13, 0x06), Reason::ethernet_type_unknown);
  EXPECT_EQ(reason_with(n1, 14, 0x65), Reason::ipv4_bad_version);
  EXPECT_EQ(reason_with(n1, 20, 0x20), Reason::ipv4_fragment);
  EXPECT_EQ(reason_with(n1, 23, 6), Reason::ipv4_not_udp);
  EXPECT_EQ(reason_with(n1, 37, 0x69), Reason::udp_port_unknown);
  EXPECT_EQ(reason_with(n1, 39, 0x37), Reason::udp_bad_length);
  EXPECT_EQ(reason_with(n1, 42, 0x14), Reason::gtpu_bad_version);
  EXPECT_EQ(reason_with(n1, 54, 0), Reason::gtpu_extension_bad_length);
  EXPECT_EQ(reason_with(n2, 24, 6), Reason::ipv6_not_udp);
  EXPECT_EQ(reason_with(n2, 18, 0x45), Reason::ipv6_bad_version);
  EXPECT_EQ(reason_with(n2, 24, ipv6::kFragment), Reason::ipv6_fragment)
      << "the UDP length 0x36 stands where the fragment offset would";
}

TEST(N3, every_truncation_is_refused) {
  for (const std::string_view hex : {example("N1").hex, example("N2").hex}) {
    const auto all = from_hex(hex);
    for (std::size_t n = 0; n < all.size(); ++n) EXPECT_FALSE(parse(HeapOctets(Octets(all).first(n)))) << n;
  }
}

}  // namespace
}  // namespace splitplane::wire::n3
