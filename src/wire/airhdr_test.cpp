#include "wire/airhdr.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire::airhdr {
namespace {

using test::from_hex;
using test::HeapOctets;

TEST(Airhdr, downlink_am18_pdcp12_with_sdap) {
  const HeapOctets in(from_hex(test::example("A1").hex));
  const auto h = parse(in);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->direction, Direction::kDownlink);
  EXPECT_EQ(h->rlc_mode, RlcMode::kAm);
  EXPECT_EQ(h->rlc_sn_bits, 18);
  EXPECT_EQ(h->pdcp_sn_bits, 12);
  EXPECT_TRUE(h->sdap_header);
  EXPECT_EQ(h->bearer, BearerId{0x01020304});
  EXPECT_EQ(test::written(10, [&](MutableOctets out) { return write(out, *h); }), test::tidy(test::example("A1").hex));
}

TEST(Airhdr, reserved_bits_are_ignored) {
  const auto h = parse(HeapOctets(from_hex("20db ffff 01020304 0000")));
  ASSERT_TRUE(h);
  EXPECT_EQ(h->bearer, BearerId{0x01020304});
}

TEST(Airhdr, bad_input_gives_the_right_reason) {
  for (std::size_t n = 0; n < 10; ++n) EXPECT_EQ(parse(HeapOctets(n)).reason, Reason::airhdr_truncated) << n;
  EXPECT_EQ(parse(HeapOctets(from_hex("10da0000010203040000"))).reason, Reason::airhdr_bad_version);
  EXPECT_EQ(parse(HeapOctets(from_hex("21da0000010203040000"))).reason, Reason::airhdr_bad_kind);
  EXPECT_EQ(parse(HeapOctets(from_hex("20fa0000010203040000"))).reason, Reason::airhdr_bad_rlc_mode);
  EXPECT_EQ(parse(HeapOctets(from_hex("20480000010203040000"))).reason, Reason::airhdr_bad_sn_length) << "AM with 6";
  EXPECT_EQ(parse(HeapOctets(from_hex("20380000010203040000"))).reason, Reason::airhdr_bad_sn_length) << "UM with 18";
  EXPECT_EQ(parse(HeapOctets(from_hex("20080000010203040000"))).reason, Reason::airhdr_bad_sn_length) << "TM with 6";
}

TEST(Airhdr, the_pdu_ends_where_its_length_says) {
  const auto octets = from_hex("20da 0000 01020304 0003 0a0b0c 0000");
  const HeapOctets padded(octets);
  const auto h = parse(padded);
  ASSERT_TRUE(h);
  EXPECT_EQ(test::to_hex(pdu_of(*h, padded)), "0a0b0c");
  const HeapOctets cut(Octets(octets).first(12));
  EXPECT_EQ(parse(cut).reason, Reason::airhdr_bad_length);
  const auto of_capture = parse(cut, 1);
  ASSERT_TRUE(of_capture);
  EXPECT_EQ(test::to_hex(pdu_of(*of_capture, cut)), "0a0b");
}

RC_GTEST_PROP(Airhdr, what_is_written_is_read_back,
              (std::uint32_t bearer, std::uint8_t epoch, bool downlink, bool pdcp18, bool sdap)) {
  const auto [mode, sn_bits] =
      *rc::gen::element(std::pair{RlcMode::kTm, 0}, std::pair{RlcMode::kUm, 6}, std::pair{RlcMode::kUm, 12},
                        std::pair{RlcMode::kAm, 12}, std::pair{RlcMode::kAm, 18});
  const Header h{downlink ? Direction::kDownlink : Direction::kUplink,
                 mode,
                 static_cast<std::uint8_t>(sn_bits),
                 static_cast<std::uint8_t>(pdcp18 ? 18 : 12),
                 sdap,
                 epoch,
                 BearerId{bearer}};
  HeapOctets out(10);
  RC_ASSERT(write(out, h) == 10U);
  const auto b = parse(out);
  RC_ASSERT(b && b->direction == h.direction && b->rlc_mode == h.rlc_mode && b->rlc_sn_bits == h.rlc_sn_bits);
  RC_ASSERT(b->pdcp_sn_bits == h.pdcp_sn_bits && b->sdap_header == sdap && b->bearer == h.bearer);
  RC_ASSERT(b->epoch == epoch && out.all()[2] == 0);
}

TEST(Airhdr, refuses_to_write_sn_lengths_that_do_not_exist) {
  HeapOctets out(10);
  EXPECT_EQ(write(out, Header{.rlc_mode = RlcMode::kAm, .rlc_sn_bits = 6}), 0U);
  EXPECT_EQ(write(out, Header{.pdcp_sn_bits = 15}), 0U);
}

}  // namespace
}  // namespace splitplane::wire::airhdr
