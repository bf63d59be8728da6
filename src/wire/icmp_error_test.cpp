// Tests of icmp_error.h: which messages quote a packet, and what a cut quotation tells.
#include "wire/icmp_error.h"

#include <gtest/gtest.h>

#include "wire/tcp.h"
#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire {
namespace {

using icmp_error::Version;
using test::from_hex;
using test::HeapOctets;

TEST(IcmpError, only_errors_quote) {
  for (unsigned type = 0; type < 256; ++type) {
    std::vector<std::uint8_t> message(8);
    message[0] = static_cast<std::uint8_t>(type);
    const bool v4 = type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
    EXPECT_EQ(icmp_error::parse(message, Version::kIcmp).reason, v4 ? Reason::ok : Reason::icmp_not_error) << type;
    const bool v6 = type >= 1 && type <= 4;
    EXPECT_EQ(icmp_error::parse(message, Version::kIcmpv6).reason, v6 ? Reason::ok : Reason::icmp_not_error) << type;
  }
  EXPECT_EQ(icmp_error::parse(HeapOctets(7), Version::kIcmp).reason, Reason::icmp_truncated);
}

TEST(IcmpError, fragmentation_needed_tells_the_mtu_and_the_segment) {
  const HeapOctets in(from_hex(test::example("Q1").hex));
  const auto h = icmp_error::parse(in, Version::kIcmp);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->type, 3);
  EXPECT_EQ(h->code, 4);
  EXPECT_EQ(h->rest & 0xFFFF, 1400U);
  EXPECT_EQ(h->checksum, icmp_error::checksum(in));
  const Octets packet = icmp_error::quoted(in);
  EXPECT_EQ(ipv4::parse(packet).reason, Reason::ipv4_bad_total_length) << "the quotation is cut";
  const auto q = icmp_error::parse_quoted(packet, Version::kIcmp);
  ASSERT_TRUE(q);
  EXPECT_EQ(q->protocol, tcp::kProtocol);
  EXPECT_FALSE(q->is_later_fragment);
  EXPECT_EQ(load_be32(packet.data() + q->source_at), 0x0a000002U);
  EXPECT_EQ(load_be32(packet.data() + q->destination_at), 0x0a000001U);
  const auto segment = tcp::parse_quoted(packet.subspan(q->upper_offset));
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->source_port, 80);
  EXPECT_EQ(segment->destination_port, 40000);
  EXPECT_EQ(segment->sequence, 0x01020304U);
  EXPECT_FALSE(segment->has_acknowledgment);
}

TEST(IcmpError, packet_too_big_quotes_over_extension_headers) {
  const HeapOctets in(from_hex(test::example("Q2").hex));
  const auto h = icmp_error::parse(in, Version::kIcmpv6);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->type, 2);
  EXPECT_EQ(h->rest, 1280U);
  const Octets packet = icmp_error::quoted(in);
  EXPECT_EQ(ipv6::parse(packet).reason, Reason::ipv6_bad_payload_length);
  const auto q = icmp_error::parse_quoted(packet, Version::kIcmpv6);
  ASSERT_TRUE(q);
  EXPECT_EQ(q->protocol, tcp::kProtocol);
  EXPECT_EQ(q->upper_offset, 48);
  EXPECT_EQ(packet[q->source_at + 15U], 2);
  EXPECT_EQ(packet[q->destination_at + 15U], 1);
  const auto segment = tcp::parse_quoted(packet.subspan(q->upper_offset));
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->sequence, 0x01020304U);
  EXPECT_TRUE(segment->has_acknowledgment);
  const auto from = from_hex("fd000000000000000000000000000009");
  const auto to = from_hex("fd000000000000000000000000000002");
  EXPECT_EQ(h->checksum, icmp_error::checksum_v6(Octets(from).first<16>(), Octets(to).first<16>(), in));
}

TEST(IcmpError, a_quotation_that_ends_in_ip_headers_is_refused) {
  const HeapOctets v4(from_hex(test::example("Q1").hex));
  const HeapOctets v6(from_hex(test::example("Q2").hex));
  for (std::size_t bytes = 0; bytes <= 28; ++bytes) {
    const HeapOctets cut(icmp_error::quoted(v4).first(bytes));
    EXPECT_EQ(icmp_error::parse_quoted(cut, Version::kIcmp).reason, bytes < 20 ? Reason::ipv4_truncated : Reason::ok);
  }
  for (std::size_t bytes = 0; bytes <= 60; ++bytes) {
    const HeapOctets cut(icmp_error::quoted(v6).first(bytes));
    EXPECT_EQ(icmp_error::parse_quoted(cut, Version::kIcmpv6).reason, bytes < 48 ? Reason::ipv6_truncated : Reason::ok);
  }
}

TEST(IcmpError, a_quoted_later_fragment_is_told) {
  auto v4 = from_hex(test::example("Q1").hex);
  v4.at(8 + 6) = 0x20;
  EXPECT_FALSE(icmp_error::parse_quoted(Octets(v4).subspan(8), Version::kIcmp)->is_later_fragment);
  v4.at(8 + 7) = 0x01;
  EXPECT_TRUE(icmp_error::parse_quoted(Octets(v4).subspan(8), Version::kIcmp)->is_later_fragment);
  auto v6 = from_hex(test::example("Q2").hex);
  v6.at(8 + 6) = ipv6::kFragment;
  v6.at(8 + 40 + 2) = 0;
  v6.at(8 + 40 + 3) = 0x01;  // more fragments, offset 0
  EXPECT_FALSE(icmp_error::parse_quoted(Octets(v6).subspan(8), Version::kIcmpv6)->is_later_fragment);
  v6.at(8 + 40 + 3) = 0x08;
  EXPECT_TRUE(icmp_error::parse_quoted(Octets(v6).subspan(8), Version::kIcmpv6)->is_later_fragment);
}

TEST(IcmpError, is_written_with_a_checksum_that_is_good) {
  HeapOctets out(36);
  ASSERT_EQ(icmp_error::write(out, {.type = 3, .code = 4, .rest = 1400}), 8U);
  const auto quoted = from_hex("4500003c000040004006000008080808 0a2d0002 0050 9c40 11223344");
  std::copy(quoted.begin(), quoted.end(), out.all().begin() + 8);
  store_be16(out.all().data() + icmp_error::kChecksumAt, icmp_error::checksum(out));
  EXPECT_EQ(checksum_finish(checksum_add(0, out)), 0);
  EXPECT_EQ(icmp_error::parse(out, Version::kIcmp)->rest, 1400U);
  EXPECT_EQ(icmp_error::write(out.all().first(7), {}), 0U);
}

}  // namespace
}  // namespace splitplane::wire
