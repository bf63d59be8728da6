// Tests of tcp.h and tcp_options.h: headers, checksums, and options at any place.
#include "wire/tcp.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/tcp_options.h"
#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire {
namespace {

using test::from_hex;
using test::HeapOctets;

// A segment of the header's 20 octets and these options, with the data offset that follows.
std::vector<std::uint8_t> with_options(std::string_view options_hex) {
  auto segment = from_hex("9c40 0050 11223344 00000000 0002 faf0 0000 0000");
  const auto options = from_hex(options_hex);
  segment.insert(segment.end(), options.begin(), options.end());
  segment.at(12) = static_cast<std::uint8_t>(segment.size() / 4 << 4);
  return segment;
}

Result<tcp::SynOptions> syn_options(std::string_view hex) {
  const HeapOctets segment(with_options(hex));
  return tcp::parse_syn_options(segment, *tcp::parse(segment));
}

Result<tcp::OptionPlaces> places(std::string_view hex) {
  const HeapOctets segment(with_options(hex));
  return tcp::find_options(segment, *tcp::parse(segment));
}

constexpr std::string_view kLinuxSyn = "020405b4 0402 080a 12345678 00000000 01 030307";

TEST(Tcp, header_of_a_linux_syn_is_read) {
  const HeapOctets in(from_hex(test::example("T1").hex));
  const auto h = tcp::parse(in);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->source_port, 40000);
  EXPECT_EQ(h->destination_port, 80);
  EXPECT_EQ(h->sequence, 0x11223344U);
  EXPECT_EQ(h->acknowledgment, 0U);
  EXPECT_EQ(h->header_bytes, 40);
  EXPECT_EQ(h->flags, tcp::kSyn | tcp::kEce | tcp::kCwr);
  EXPECT_TRUE(h->has(tcp::kSyn | tcp::kEce));
  EXPECT_FALSE(h->has(tcp::kSyn | tcp::kAck));
  EXPECT_EQ(h->window, 64240);
}

TEST(Tcp, checksums_of_another_implementation_are_good) {
  for (const std::string_view hex : {test::example("T1").hex, test::example("T2").hex}) {
    const auto segment = from_hex(hex);
    EXPECT_TRUE(tcp::checksum_is_good(from_hex("0a000001"), from_hex("0a000002"), segment));
    EXPECT_EQ(tcp::checksum(from_hex("0a000001"), from_hex("0a000002"), segment), load_be16(&segment[16]));
  }
}

TEST(Tcp, bad_input_gives_the_right_reason) {
  auto segment = with_options("");
  EXPECT_TRUE(tcp::parse(HeapOctets(segment)));
  EXPECT_EQ(tcp::parse(HeapOctets(Octets(segment).first(19))).reason, Reason::tcp_truncated);
  segment[12] = 0x40;
  EXPECT_EQ(tcp::parse(HeapOctets(segment)).reason, Reason::tcp_bad_header_length);
  segment[12] = 0x60;
  EXPECT_EQ(tcp::parse(HeapOctets(segment)).reason, Reason::tcp_truncated);
}

TEST(Tcp, checksum_equals_a_value_computed_by_hand) {
  // 0a00+0001+0a00+0002+0006+0014 + 9c40+0050+1122+3344+5002+faf0 = 24005, folded 4007, inverted bff8
  auto segment = with_options("");
  segment[13] = 0x02;
  EXPECT_EQ(tcp::checksum(from_hex("0a000001"), from_hex("0a000002"), segment), 0xBFF8);
}

RC_GTEST_PROP(Tcp, what_is_written_is_read_back_and_its_checksum_is_good, (bool v6)) {
  const auto octet = rc::gen::arbitrary<std::uint8_t>();
  const auto from = *rc::gen::container<std::vector<std::uint8_t>>(v6 ? 16 : 4, octet);
  const auto to = *rc::gen::container<std::vector<std::uint8_t>>(v6 ? 16 : 4, octet);
  const auto payload = *rc::gen::container<std::vector<std::uint8_t>>(octet);
  tcp::Header h;
  h.source_port = *rc::gen::arbitrary<std::uint16_t>();
  h.destination_port = *rc::gen::arbitrary<std::uint16_t>();
  h.sequence = *rc::gen::arbitrary<std::uint32_t>();
  h.acknowledgment = *rc::gen::arbitrary<std::uint32_t>();
  h.flags = *octet;
  h.window = *rc::gen::arbitrary<std::uint16_t>();
  h.header_bytes = static_cast<std::uint8_t>(4 * *rc::gen::inRange(5, 16));
  HeapOctets out(h.header_bytes + payload.size());
  std::copy(payload.begin(), payload.end(), out.all().begin() + h.header_bytes);
  RC_ASSERT(tcp::write(out, h) == tcp::kMinHeaderBytes);
  const std::uint16_t sum = tcp::checksum(from, to, out);
  RC_ASSERT(sum != 0xFFFF);
  store_be16(out.all().data() + tcp::kChecksumAt, sum);
  RC_ASSERT(tcp::checksum(from, to, out) == sum);
  RC_ASSERT(tcp::checksum_is_good(from, to, out));
  const auto back = tcp::parse(out);
  RC_ASSERT(static_cast<bool>(back));
  RC_ASSERT(back->source_port == h.source_port && back->destination_port == h.destination_port);
  RC_ASSERT(back->sequence == h.sequence && back->acknowledgment == h.acknowledgment);
  RC_ASSERT(back->flags == h.flags && back->window == h.window && back->header_bytes == h.header_bytes);
  const auto at = *rc::gen::inRange<std::size_t>(0, h.header_bytes + payload.size());
  out.all()[at] ^= 0x10;
  RC_ASSERT(!tcp::checksum_is_good(from, to, out));
}

TEST(Tcp, refuses_to_write_what_does_not_fit) {
  HeapOctets out(60);
  tcp::Header h;
  h.header_bytes = 24;
  EXPECT_EQ(tcp::write(out.all().first(23), h), 0U);
  EXPECT_EQ(tcp::write(out.all().first(24), h), 20U);
  for (const int bytes : {0, 16, 21, 64}) {
    h.header_bytes = static_cast<std::uint8_t>(bytes);
    EXPECT_EQ(tcp::write(out, h), 0U) << bytes;
  }
}

TEST(Tcp, eight_quoted_octets_tell_ports_and_sequence_number) {
  const auto segment = from_hex("9c40 0050 11223344 55667788 5010 faf0 abcd 0000");
  EXPECT_EQ(tcp::parse_quoted(HeapOctets(Octets(segment).first(7))).reason, Reason::tcp_truncated);
  const auto shortest = tcp::parse_quoted(HeapOctets(Octets(segment).first(8)));
  ASSERT_TRUE(shortest);
  EXPECT_EQ(shortest->source_port, 40000);
  EXPECT_EQ(shortest->destination_port, 80);
  EXPECT_EQ(shortest->sequence, 0x11223344U);
  EXPECT_FALSE(shortest->has_acknowledgment);
  EXPECT_FALSE(tcp::parse_quoted(HeapOctets(Octets(segment).first(11)))->has_acknowledgment);
  EXPECT_EQ(tcp::parse_quoted(HeapOctets(Octets(segment).first(12)))->acknowledgment, 0x55667788U);
  EXPECT_FALSE(tcp::parse_quoted(HeapOctets(Octets(segment).first(17)))->has_checksum);
  EXPECT_TRUE(tcp::parse_quoted(HeapOctets(Octets(segment).first(18)))->has_checksum);
}

TEST(Tcp, sequence_numbers_are_compared_over_the_wrap) {
  EXPECT_TRUE(tcp::is_before(0xFFFFFFFF, 0));
  EXPECT_FALSE(tcp::is_before(0, 0xFFFFFFFF));
  EXPECT_FALSE(tcp::is_before(7, 7));
}

TEST(TcpOptions, of_a_linux_syn_are_read) {
  const auto o = syn_options(kLinuxSyn);
  ASSERT_TRUE(o);
  EXPECT_EQ(o->mss, 1460);
  EXPECT_EQ(o->window_scale, 7);
  EXPECT_TRUE(o->sack_permitted);
  EXPECT_TRUE(o->has_timestamps);
  EXPECT_EQ(o->ts_value, 0x12345678U);
  EXPECT_EQ(o->ts_echo, 0U);
  EXPECT_FALSE(o->has_fast_open);
}

// parse_syn_options() knows this order; another order of the same options says the same.
TEST(TcpOptions, of_a_linux_syn_mean_the_same_in_another_order) {
  const auto one = syn_options("020405b4 0402 080a 12345678 9abcdef0 01 03030f");
  const auto other = syn_options("01 03030f 020405b4 080a 12345678 9abcdef0 0402");
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->mss, other->mss);
  EXPECT_EQ(one->window_scale, 14);
  EXPECT_EQ(one->window_scale, other->window_scale);
  EXPECT_EQ(one->sack_permitted, other->sack_permitted);
  EXPECT_EQ(one->has_timestamps, other->has_timestamps);
  EXPECT_EQ(one->ts_value, other->ts_value);
  EXPECT_EQ(one->ts_echo, other->ts_echo);
  EXPECT_EQ(one->has_fast_open, other->has_fast_open);
  EXPECT_EQ(syn_options("020505b4 0402 080a 12345678 9abcdef0 01 030307").reason, Reason::tcp_bad_option);
}

TEST(TcpOptions, absent_ones_are_absent) {
  const auto o = syn_options("");
  ASSERT_TRUE(o);
  EXPECT_EQ(o->mss, 0);
  EXPECT_FALSE(o->window_scale || o->sack_permitted || o->has_timestamps || o->has_fast_open);
}

TEST(TcpOptions, a_window_scale_above_14_counts_as_14) {
  EXPECT_EQ(syn_options("0303ff00")->window_scale, 14);
  EXPECT_EQ(syn_options("03030e00")->window_scale, 14);
}

TEST(TcpOptions, unknown_kinds_are_skipped_and_fast_open_is_seen) {
  const auto o = syn_options("fd06 aabbccdd 2202 0204 0218 1e03 05 00");
  ASSERT_TRUE(o);
  EXPECT_TRUE(o->has_fast_open);
  EXPECT_EQ(o->mss, 0x218);
}

TEST(TcpOptions, the_first_of_a_kind_counts_and_the_end_ends) {
  EXPECT_EQ(syn_options("020405b4 02040218")->mss, 1460);
  EXPECT_EQ(syn_options("03030700 020405b4")->mss, 0);
  EXPECT_EQ(places("080a 00000001 00000002 080a 00000003 00000004")->timestamps, 22);
}

TEST(TcpOptions, bad_lengths_are_refused) {
  for (const std::string_view hex : {
           "01010102",  // no room for the length
           "01010200",  // length 0
           "01010201",  // length 1
           "01010204",  // beyond the header
           "02030101",
           "0205aabb cc010101",  // MSS
           "03020101",
           "03040101",  // window scale
           "04030101",  // SACK permitted
           "0502 0101",
           "0509 11223344 556677 010101",
           "05121122",  // SACK: no block, part of one, beyond
           "0809 11223344 112233 010101",
           "080b 11223344 11223344 55 01",  // timestamps
           "fd000000",
           "fd010000",  // an unknown kind
       }) {
    EXPECT_EQ(syn_options(hex).reason, Reason::tcp_bad_option) << hex;
    EXPECT_EQ(places(hex).reason, Reason::tcp_bad_option) << hex;
  }
}

TEST(TcpOptions, places_of_timestamps_and_sack_blocks_are_found_at_any_alignment) {
  EXPECT_EQ(places("")->timestamps, 0);
  EXPECT_EQ(places("0101 080a 11111111 22222222")->timestamps, 24);
  const auto both = places("0101 080a 11111111 22222222 0101 0512 11111111 22222222 33333333 44444444");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->timestamps, 24);
  EXPECT_EQ(both->sack, 36);
  EXPECT_EQ(both->sack_blocks, 2);
  const auto odd = places("01 050a 11111111 22222222 080a 11111111 22222222 000000");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->sack, 23);
  EXPECT_EQ(odd->sack_blocks, 1);
  EXPECT_EQ(odd->timestamps, 33);
  EXPECT_EQ(places("0522" + std::string(64, 'a') + "0101")->sack_blocks, 4);
  EXPECT_EQ(places("0101 080a 11111111 22222222 00000000")->timestamps, 24);
}

TEST(TcpOptions, are_written_as_linux_writes_them) {
  using test::tidy;
  using test::written;
  const auto write = [](const tcp::SynOptions& o, std::size_t bytes) {
    return written(bytes, [&](MutableOctets out) { return tcp::write_syn_options(out, o); });
  };
  EXPECT_EQ(
      write({.mss = 1460, .window_scale = 7, .sack_permitted = true, .has_timestamps = true, .ts_value = 0x12345678},
            20),
      tidy(kLinuxSyn));
  EXPECT_EQ(write({.mss = 1460}, 4), tidy("020405b4"));
  EXPECT_EQ(write({.mss = 1460, .window_scale = 14, .sack_permitted = true}, 12), tidy("020405b4 01010402 0103030e"));
  EXPECT_EQ(write({.mss = 536, .has_timestamps = true, .ts_value = 1, .ts_echo = 2}, 16),
            tidy("02040218 0101080a 00000001 00000002"));
  EXPECT_EQ(write({.window_scale = 15}, 4), tidy("0103030e"));
  HeapOctets nothing(0);
  EXPECT_EQ(tcp::write_syn_options(nothing, {}), 0U);
}

RC_GTEST_PROP(TcpOptions, what_is_written_is_read_back, ()) {
  tcp::SynOptions o;
  o.mss = *rc::gen::arbitrary<std::uint16_t>();
  if (*rc::gen::arbitrary<bool>()) o.window_scale = static_cast<std::uint8_t>(*rc::gen::inRange(0, 15));
  o.sack_permitted = *rc::gen::arbitrary<bool>();
  o.has_timestamps = *rc::gen::arbitrary<bool>();
  if (o.has_timestamps) {
    o.ts_value = *rc::gen::arbitrary<std::uint32_t>();
    o.ts_echo = *rc::gen::arbitrary<std::uint32_t>();
  }
  std::array<std::uint8_t, tcp::kMaxSynOptionBytes> room{};
  const std::size_t bytes = tcp::write_syn_options(room, o);
  RC_ASSERT(bytes % 4 == 0);
  const HeapOctets segment(with_options(test::to_hex(Octets(room).first(bytes))));
  const auto back = tcp::parse_syn_options(segment, *tcp::parse(segment));
  RC_ASSERT(static_cast<bool>(back));
  RC_ASSERT(back->mss == o.mss && back->window_scale == o.window_scale && back->sack_permitted == o.sack_permitted);
  RC_ASSERT(back->has_timestamps == o.has_timestamps);
  RC_ASSERT(back->ts_value == o.ts_value && back->ts_echo == o.ts_echo);
}

// What a translation does: numbers in options move by a difference, and the checksum follows.
RC_GTEST_PROP(TcpOptions, a_translation_in_place_keeps_the_checksum_good, (std::uint32_t delta)) {
  std::string hex;
  const int nops = *rc::gen::inRange(0, 4);
  for (int i = 0; i < nops; ++i) hex += "01";
  hex += "0512" + std::string(32, 'a') + "080a" + std::string(16, 'b');
  hex += std::string(static_cast<std::size_t>(2 * ((4 - (hex.size() / 2) % 4) % 4)), '0');
  HeapOctets segment(with_options(hex));
  const auto from = from_hex("0a000001");
  const auto to = from_hex("0a000002");
  std::uint8_t* const p = segment.all().data();
  store_be16(p + tcp::kChecksumAt, tcp::checksum(from, to, segment));
  const auto found = tcp::find_options(segment, *tcp::parse(segment));
  RC_ASSERT(found && found->sack_blocks == 2 && found->timestamps != 0);
  ChecksumChange change;
  const auto move = [&](std::size_t at) {
    const std::uint32_t before = load_be32(p + at);
    store_be32(p + at, before + delta);
    change.replace32_at(at, before, before + delta);
  };
  for (std::size_t i = 0; i < 4; ++i) move(found->sack + 4 * i);
  move(found->timestamps);
  move(tcp::kSequenceAt);
  store_be16(p + tcp::kChecksumAt, change.applied_to(load_be16(p + tcp::kChecksumAt)));
  RC_ASSERT(tcp::checksum_is_good(from, to, segment));
}

}  // namespace
}  // namespace splitplane::wire
