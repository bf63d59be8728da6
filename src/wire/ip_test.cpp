// Tests of ipv4.h, ipv6.h and udp.h: the layers between Ethernet and GTP-U.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/test_examples.h"
#include "wire/test_octets.h"
#include "wire/udp.h"

namespace splitplane::wire {
namespace {

using test::from_hex;
using test::HeapOctets;

std::vector<std::uint8_t> changed(std::string_view hex, std::size_t at, std::uint8_t value) {
  auto octets = from_hex(hex);
  octets.at(at) = value;
  return octets;
}

TEST(Ipv4, inner_packet_of_the_examples_is_read_and_its_checksum_is_good) {
  const HeapOctets in(from_hex(SPLITPLANE_TEST_IP));
  const auto h = ipv4::parse(in);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->header_bytes, 20);
  EXPECT_EQ(h->total_bytes, 30);
  EXPECT_EQ(h->payload_bytes(), 10U);
  EXPECT_EQ(h->identification, 1);
  EXPECT_EQ(h->ttl, 64);
  EXPECT_EQ(h->protocol, ipv4::kProtocolUdp);
  EXPECT_EQ(h->source, 0x0a2d0002U);
  EXPECT_EQ(h->destination, 0x08080808U);
  EXPECT_FALSE(h->is_fragment());
  EXPECT_TRUE(ipv4::checksum_is_good(in, *h));
}

TEST(Ipv4, a_flipped_octet_spoils_the_checksum) {
  for (std::size_t at = 4; at < 20; ++at) {
    const HeapOctets in(
        changed(SPLITPLANE_TEST_IP, at, static_cast<std::uint8_t>(from_hex(SPLITPLANE_TEST_IP)[at] ^ 0x10)));
    const auto h = ipv4::parse(in);
    ASSERT_TRUE(h);
    EXPECT_FALSE(ipv4::checksum_is_good(in, *h)) << at;
  }
}

TEST(Ipv4, options_are_skipped_by_header_length) {
  const HeapOctets in(from_hex(test::example("I1").hex));
  const auto h = ipv4::parse(in);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->header_bytes, 28);
  EXPECT_EQ(h->payload_bytes(), 0U);
}

TEST(Ipv4, bad_input_gives_the_right_reason) {
  EXPECT_EQ(ipv4::parse(HeapOctets(changed(SPLITPLANE_TEST_IP, 0, 0x55))).reason, Reason::ipv4_bad_version);
  EXPECT_EQ(ipv4::parse(HeapOctets(changed(SPLITPLANE_TEST_IP, 0, 0x44))).reason, Reason::ipv4_bad_header_length);
  EXPECT_EQ(ipv4::parse(HeapOctets(changed(SPLITPLANE_TEST_IP, 0, 0x4F))).reason, Reason::ipv4_truncated);
  EXPECT_EQ(ipv4::parse(HeapOctets(changed(SPLITPLANE_TEST_IP, 3, 19))).reason, Reason::ipv4_bad_total_length);
  EXPECT_EQ(ipv4::parse(HeapOctets(changed(SPLITPLANE_TEST_IP, 3, 31))).reason, Reason::ipv4_bad_total_length);
}

TEST(Ipv4, both_kinds_of_fragment_are_flagged_and_dont_fragment_is_not) {
  EXPECT_TRUE(ipv4::parse(HeapOctets(changed(SPLITPLANE_TEST_IP, 6, 0x20)))->is_fragment());
  EXPECT_TRUE(ipv4::parse(HeapOctets(changed(SPLITPLANE_TEST_IP, 7, 0x01)))->is_fragment());
  EXPECT_FALSE(ipv4::parse(HeapOctets(changed(SPLITPLANE_TEST_IP, 6, 0x40)))->is_fragment());
}

TEST(Ipv4, octets_behind_the_total_length_are_not_payload) {
  auto padded = from_hex(SPLITPLANE_TEST_IP);
  padded.resize(46);
  EXPECT_EQ(ipv4::parse(HeapOctets(padded))->payload_bytes(), 10U);
}

RC_GTEST_PROP(Ipv4, what_is_written_is_read_back_with_a_good_checksum, ()) {
  ipv4::Header h;
  h.tos = *rc::gen::arbitrary<std::uint8_t>();
  h.identification = *rc::gen::arbitrary<std::uint16_t>();
  h.fragment = *rc::gen::arbitrary<std::uint16_t>();
  h.ttl = *rc::gen::arbitrary<std::uint8_t>();
  h.protocol = *rc::gen::arbitrary<std::uint8_t>();
  h.source = *rc::gen::arbitrary<std::uint32_t>();
  h.destination = *rc::gen::arbitrary<std::uint32_t>();
  const auto payload = *rc::gen::inRange<std::size_t>(0, 64);
  const auto options = *rc::gen::container<std::vector<std::uint8_t>>(
      4 * static_cast<std::size_t>(*rc::gen::inRange(0, 11)), rc::gen::arbitrary<std::uint8_t>());
  HeapOctets out(20 + options.size() + payload);
  RC_ASSERT(ipv4::write(out, h, payload, options) == 20 + options.size());
  const auto back = ipv4::parse(out);
  RC_ASSERT(static_cast<bool>(back));
  RC_ASSERT(back->header_bytes == 20 + options.size() && back->payload_bytes() == payload);
  RC_ASSERT(back->tos == h.tos && back->identification == h.identification && back->fragment == h.fragment);
  RC_ASSERT(back->ttl == h.ttl && back->protocol == h.protocol);
  RC_ASSERT(back->source == h.source && back->destination == h.destination);
  RC_ASSERT(ipv4::checksum_is_good(out, *back));
}

TEST(Ipv4, refuses_to_write_what_does_not_fit) {
  HeapOctets out(19);
  EXPECT_EQ(ipv4::write(out, {}, 0), 0U);
  HeapOctets enough(128);
  EXPECT_EQ(ipv4::write(enough, {}, 0xFFFF - 19), 0U);
  EXPECT_EQ(ipv4::write(enough, {}, 0xFFFF - 20), 20U);
  EXPECT_EQ(ipv4::write(enough, {}, 0, std::vector<std::uint8_t>(3)), 0U);
  EXPECT_EQ(ipv4::write(enough, {}, 0, std::vector<std::uint8_t>(44)), 0U);
}

TEST(Ipv6, the_walk_skips_four_kinds_of_extension_header) {
  const HeapOctets in(from_hex(test::example("I2").hex));
  const auto h = ipv6::parse(in);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->extension_count, 4);
  EXPECT_EQ(h->upper_protocol, ipv6::kProtocolUdp);
  EXPECT_EQ(h->upper_offset, 72U);
  EXPECT_EQ(h->upper_bytes(), 16U);
  EXPECT_FALSE(h->is_fragment) << "an atomic fragment is a whole packet (RFC 6946)";
}

TEST(Ipv6, fragments_are_flagged_and_later_ones_end_the_walk) {
  const auto first = changed(test::example("I2").hex, 64 + 3, 0x01);
  EXPECT_TRUE(ipv6::parse(HeapOctets(first))->is_fragment);
  auto later = changed(test::example("I2").hex, 64 + 2, 0x10);
  later.at(64) = ipv6::kDestinationOptions;
  const auto h = ipv6::parse(HeapOctets(later));
  ASSERT_TRUE(h);
  EXPECT_TRUE(h->is_fragment);
  EXPECT_EQ(h->upper_offset, 72U) << "the middle of a packet holds no header to walk";
}

TEST(Ipv6, bad_input_gives_the_right_reason) {
  const std::string_view hex = test::example("I2").hex;
  EXPECT_EQ(ipv6::parse(HeapOctets(changed(hex, 0, 0x40))).reason, Reason::ipv6_bad_version);
  EXPECT_EQ(ipv6::parse(HeapOctets(changed(hex, 5, 0x31))).reason, Reason::ipv6_bad_payload_length);
  EXPECT_EQ(ipv6::parse(HeapOctets(changed(hex, 41, 0x05))).reason, Reason::ipv6_truncated) << "extension too long";
  EXPECT_EQ(ipv6::parse(HeapOctets(changed(hex, 5, 0x04))).reason, Reason::ipv6_truncated) << "payload ends early";
}

TEST(Ipv6, a_chain_of_eight_passes_and_of_nine_does_not) {
  for (const unsigned headers : {8U, 9U}) {
    auto octets = from_hex("60000000 0000 3c 40 fd000000000000000000000000000001 fd000000000000000000000000000002");
    octets[5] = static_cast<std::uint8_t>(headers * 8);
    for (unsigned i = 0; i < headers; ++i) {
      const auto option = from_hex(i + 1 < headers ? "3c00010400000000" : "3b00010400000000");
      octets.insert(octets.end(), option.begin(), option.end());
    }
    const auto h = ipv6::parse(HeapOctets(octets));
    EXPECT_EQ(h.reason, headers == 8 ? Reason::ok : Reason::ipv6_extension_chain_too_long);
  }
}

RC_GTEST_PROP(Ipv6, what_is_written_is_read_back, ()) {
  ipv6::Header h;
  h.traffic_class = *rc::gen::arbitrary<std::uint8_t>();
  h.flow_label = *rc::gen::inRange<std::uint32_t>(0, 1U << 20);
  h.hop_limit = *rc::gen::arbitrary<std::uint8_t>();
  h.next_header = *rc::gen::element<std::uint8_t>(6, 17, 58, 59, 132);
  const auto from = *rc::gen::arbitrary<std::array<std::uint8_t, 16>>();
  const auto to = *rc::gen::arbitrary<std::array<std::uint8_t, 16>>();
  const auto payload = *rc::gen::inRange<std::size_t>(0, 64);
  HeapOctets out(40 + payload);
  RC_ASSERT(ipv6::write(out, h, from, to, payload) == 40U);
  const auto back = ipv6::parse(out);
  RC_ASSERT(static_cast<bool>(back));
  RC_ASSERT(back->traffic_class == h.traffic_class && back->flow_label == h.flow_label);
  RC_ASSERT(back->hop_limit == h.hop_limit && back->upper_protocol == h.next_header);
  RC_ASSERT(back->payload_length == payload && back->upper_offset == 40U);
  RC_ASSERT(std::equal(from.begin(), from.end(), ipv6::source(out).begin()));
  RC_ASSERT(std::equal(to.begin(), to.end(), ipv6::destination(out).begin()));
}

TEST(Ipv6, refuses_to_write_what_does_not_fit) {
  HeapOctets out(40);
  const std::array<std::uint8_t, 16> address{};
  EXPECT_EQ(ipv6::write(out.all().first(39), {}, address, address, 0), 0U);
  EXPECT_EQ(ipv6::write(out, {}, address, address, 0x10000), 0U);
  ipv6::Header h;
  h.flow_label = 1U << 20;
  EXPECT_EQ(ipv6::write(out, h, address, address, 0), 0U);
}

TEST(Udp, length_bounds_the_payload) {
  const HeapOctets in(from_hex("9c41 9c42 000a 1234 6869 ffff"));
  const auto h = udp::parse(in);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->source_port, 40001);
  EXPECT_EQ(h->destination_port, 40002);
  EXPECT_EQ(h->payload_bytes(), 2U);
  EXPECT_EQ(h->checksum, 0x1234);
}

TEST(Udp, bad_lengths_give_the_right_reason) {
  EXPECT_EQ(udp::parse(HeapOctets(from_hex("9c419c42000a00"))).reason, Reason::udp_truncated);
  EXPECT_EQ(udp::parse(HeapOctets(from_hex("9c419c4200070000"))).reason, Reason::udp_bad_length);
  EXPECT_EQ(udp::parse(HeapOctets(from_hex("9c419c4200090000"))).reason, Reason::udp_bad_length);
  EXPECT_TRUE(udp::parse(HeapOctets(from_hex("9c419c4200080000"))));
}

TEST(Udp, checksum_equals_a_value_computed_by_hand) {
  // 0a2d + 0002 + 0808 + 0808 + 0011 + 000a + 9c41 + 9c42 + 000a + 6869 = 1bb50, folded bb51, inverted 44ae
  const auto datagram = from_hex("9c419c42000a00006869");
  EXPECT_EQ(udp::checksum(from_hex("0a2d0002"), from_hex("08080808"), datagram), 0x44ae);
}

RC_GTEST_PROP(Udp, a_written_checksum_is_good_and_a_flipped_bit_is_seen, (bool v6)) {
  const std::size_t address_bytes = v6 ? 16 : 4;
  const auto octet = rc::gen::arbitrary<std::uint8_t>();
  const auto from = *rc::gen::container<std::vector<std::uint8_t>>(address_bytes, octet);
  const auto to = *rc::gen::container<std::vector<std::uint8_t>>(address_bytes, octet);
  const auto payload = *rc::gen::container<std::vector<std::uint8_t>>(octet);
  HeapOctets out(8 + payload.size());
  std::copy(payload.begin(), payload.end(), out.all().begin() + 8);
  RC_ASSERT(udp::write(out, 40001, 2152, payload.size()) == 8U);
  RC_ASSERT(udp::checksum_is_good(from, to, out) == !v6);  // none: allowed over IPv4 only
  const auto sum = udp::checksum(from, to, out);
  RC_ASSERT(sum != 0);
  udp::write(out, 40001, 2152, payload.size(), sum);
  RC_ASSERT(udp::checksum_is_good(from, to, out));
  const auto at = *rc::gen::inRange<std::size_t>(0, 6);
  out.all()[at] ^= 0x40;
  RC_ASSERT(!udp::checksum_is_good(from, to, out));
}

TEST(Udp, refuses_to_write_what_does_not_fit) {
  HeapOctets out(8);
  EXPECT_EQ(udp::write(out.all().first(7), 1, 2, 0), 0U);
  EXPECT_EQ(udp::write(out, 1, 2, 0xFFFF - 7), 0U);
  EXPECT_EQ(udp::write(out, 1, 2, 0xFFFF - 8), 8U);
}

}  // namespace
}  // namespace splitplane::wire
