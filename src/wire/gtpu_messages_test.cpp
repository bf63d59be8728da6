#include "wire/gtpu_messages.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire::gtpu {
namespace {

using test::example;
using test::from_hex;
using test::HeapOctets;

// The header of a message that is well formed up to its information elements.
Header header_of(Octets in) {
  const auto h = parse(in);
  EXPECT_TRUE(h) << name_of(h.reason);
  return h.value;
}

TEST(GtpuMessages, echo_request_and_response_of_examples_g6_and_g7) {
  const HeapOctets request(from_hex(example("G6").hex));
  const HeapOctets response(from_hex(example("G7").hex));
  EXPECT_EQ(parse_echo(request, header_of(request), kEchoRequest)->sequence_number, 7);
  EXPECT_EQ(parse_echo(response, header_of(response), kEchoResponse)->sequence_number, 7);
  EXPECT_EQ(parse_echo(response, header_of(response), kEchoRequest).reason, Reason::gtpu_unexpected_message);
  EXPECT_EQ(test::written(12, [](MutableOctets out) { return write_echo_request(out, {7}); }),
            test::tidy(example("G6").hex));
  EXPECT_EQ(test::written(14, [](MutableOctets out) { return write_echo_response(out, {7}); }),
            test::tidy(example("G7").hex));
}

TEST(GtpuMessages, echo_response_without_recovery_is_accepted_and_with_half_of_one_is_not) {
  const HeapOctets without(from_hex("32020004 00000000 0007 0000"));
  EXPECT_TRUE(parse_echo(without, header_of(without), kEchoResponse));
  const HeapOctets half(from_hex("32020005 00000000 0007 0000 0e"));
  EXPECT_EQ(parse_echo(half, header_of(half), kEchoResponse).reason, Reason::gtpu_ie_truncated);
  const HeapOctets with_private_extension(from_hex("3202000b 00000000 0007 0000 0e00 ff0002 abcd"));
  EXPECT_TRUE(parse_echo(with_private_extension, header_of(with_private_extension), kEchoResponse));
}

TEST(GtpuMessages, echo_without_sequence_number_is_refused) {
  const HeapOctets in(from_hex("30010000 00000000"));
  EXPECT_EQ(parse_echo(in, header_of(in), kEchoRequest).reason, Reason::gtpu_missing_sequence_number);
}

TEST(GtpuMessages, error_indication_of_example_g8) {
  const HeapOctets in(from_hex(example("G8").hex));
  const auto e = parse_error_indication(in, header_of(in));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->teid, Teid{0xdeadbeef});
  EXPECT_EQ(e->address_bytes, 4);
  EXPECT_EQ(test::to_hex(Octets(e->address).first(4)), "0a000002");
  EXPECT_TRUE(e->has_udp_port);
  EXPECT_EQ(e->udp_port, 2152);
  EXPECT_EQ(test::written(28, [&](MutableOctets out) { return write_error_indication(out, *e); }),
            test::tidy(example("G8").hex));
}

TEST(GtpuMessages, error_indication_with_bad_elements_gives_the_right_reason) {
  const auto reason_of = [](std::string_view hex) {
    const HeapOctets in(from_hex(hex));
    return parse_error_indication(in, header_of(in)).reason;
  };
  EXPECT_EQ(reason_of("321a0009 00000000 00000000 10deadbeef"), Reason::gtpu_ie_missing);
  EXPECT_EQ(reason_of("321a0008 00000000 00000000 10deadbe"), Reason::gtpu_ie_truncated);
  EXPECT_EQ(reason_of("321a0010 00000000 00000000 10deadbeef 850005 0a000002"), Reason::gtpu_ie_truncated);
  EXPECT_EQ(reason_of("321a000f 00000000 00000000 10deadbeef 850003 0a0000"), Reason::gtpu_ie_bad_length);
  EXPECT_EQ(reason_of("321a000b 00000000 00000000 7f00 10deadbeef"), Reason::gtpu_ie_unknown);
  EXPECT_EQ(reason_of("321a0012 00000000 00000000 10deadbeef 850004 0a000002 7f00"), Reason::ok)
      << "what follows the mandatory elements does not matter";
  EXPECT_EQ(reason_of(example("G9").hex), Reason::gtpu_unexpected_message);
}

TEST(GtpuMessages, end_marker_of_example_g9) {
  const HeapOctets in(from_hex(example("G9").hex));
  EXPECT_EQ(parse_end_marker(header_of(in)).value, Teid{0x01020304});
  EXPECT_EQ(test::written(8, [](MutableOctets out) { return write_end_marker(out, Teid{0x01020304}); }),
            test::tidy(example("G9").hex));
  EXPECT_EQ(parse_end_marker(header_of(HeapOctets(from_hex("30fe000000000000")))).reason, Reason::gtpu_bad_teid);
  EXPECT_EQ(parse_end_marker(header_of(HeapOctets(from_hex("30ff000001020304")))).reason,
            Reason::gtpu_unexpected_message);
}

TEST(GtpuMessages, end_marker_may_carry_a_container) {
  const auto h = header_of(HeapOctets(from_hex("34fe0008 01020304 00000085 01000900")));
  EXPECT_TRUE(parse_end_marker(h));
  EXPECT_EQ(h.psc.qfi, Qfi{9});
}

TEST(GtpuMessages, supported_extension_headers_of_example_g10) {
  const HeapOctets in(from_hex(example("G10").hex));
  const auto s = parse_supported_extensions(in, header_of(in));
  ASSERT_TRUE(s);
  EXPECT_EQ(test::to_hex(s->types), "85");
  const auto types = from_hex("85");
  EXPECT_EQ(test::written(15, [&](MutableOctets out) { return write_supported_extensions(out, types); }),
            test::tidy(example("G10").hex));
}

TEST(GtpuMessages, supported_extension_headers_with_bad_elements_gives_the_right_reason) {
  const auto reason_of = [](std::string_view hex) {
    const HeapOctets in(from_hex(hex));
    return parse_supported_extensions(in, header_of(in)).reason;
  };
  EXPECT_EQ(reason_of("321f0004 00000000 00000000"), Reason::gtpu_ie_missing);
  EXPECT_EQ(reason_of("321f0007 00000000 00000000 8d0285"), Reason::gtpu_ie_truncated);
  EXPECT_EQ(reason_of("321f0005 00000000 00000000 8d"), Reason::gtpu_ie_truncated);
  EXPECT_EQ(reason_of(example("G9").hex), Reason::gtpu_unexpected_message);
  HeapOctets out(300);
  EXPECT_EQ(write_supported_extensions(out, std::vector<std::uint8_t>(256)), 0U);
  EXPECT_EQ(write_supported_extensions(out, std::vector<std::uint8_t>(255)), 12U + 2U + 255U);
}

RC_GTEST_PROP(GtpuMessages, error_indications_are_read_back, (bool v6, bool has_port)) {
  ErrorIndication e;
  e.teid = Teid{*rc::gen::arbitrary<std::uint32_t>()};
  e.address_bytes = v6 ? 16 : 4;
  for (std::size_t i = 0; i < e.address_bytes; ++i) e.address[i] = *rc::gen::arbitrary<std::uint8_t>();
  e.has_udp_port = has_port;
  if (has_port) e.udp_port = *rc::gen::arbitrary<std::uint16_t>();
  HeapOctets out(12U + (has_port ? 4U : 0U) + 8U + e.address_bytes);
  RC_ASSERT(write_error_indication(out, e) == Octets(out).size());
  const auto back = parse_error_indication(out, parse(out).value);
  RC_ASSERT(static_cast<bool>(back));
  RC_ASSERT(back->teid == e.teid && back->address_bytes == e.address_bytes && back->address == e.address);
  RC_ASSERT(back->has_udp_port == has_port && back->udp_port == e.udp_port);
}

TEST(GtpuMessages, refuses_an_address_that_is_neither_v4_nor_v6) {
  HeapOctets out(64);
  EXPECT_EQ(write_error_indication(out, ErrorIndication{.address_bytes = 6}), 0U);
}

}  // namespace
}  // namespace splitplane::wire::gtpu
