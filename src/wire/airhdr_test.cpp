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
  EXPECT_EQ(test::written(8, [&](MutableOctets out) { return write(out, *h); }), test::tidy(test::example("A1").hex));
}

TEST(Airhdr, reserved_bits_are_ignored) {
  const auto h = parse(HeapOctets(from_hex("10db ffff 01020304")));
  ASSERT_TRUE(h);
  EXPECT_EQ(h->bearer, BearerId{0x01020304});
}

TEST(Airhdr, bad_input_gives_the_right_reason) {
  for (std::size_t n = 0; n < 8; ++n) EXPECT_EQ(parse(HeapOctets(n)).reason, Reason::airhdr_truncated) << n;
  EXPECT_EQ(parse(HeapOctets(from_hex("20da000001020304"))).reason, Reason::airhdr_bad_version);
  EXPECT_EQ(parse(HeapOctets(from_hex("11da000001020304"))).reason, Reason::airhdr_bad_kind);
  EXPECT_EQ(parse(HeapOctets(from_hex("10fa000001020304"))).reason, Reason::airhdr_bad_rlc_mode);
  EXPECT_EQ(parse(HeapOctets(from_hex("1048000001020304"))).reason, Reason::airhdr_bad_sn_length) << "AM with 6";
  EXPECT_EQ(parse(HeapOctets(from_hex("1038000001020304"))).reason, Reason::airhdr_bad_sn_length) << "UM with 18";
  EXPECT_EQ(parse(HeapOctets(from_hex("1008000001020304"))).reason, Reason::airhdr_bad_sn_length) << "TM with 6";
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
  HeapOctets out(8);
  RC_ASSERT(write(out, h) == 8U);
  const auto b = parse(out);
  RC_ASSERT(b && b->direction == h.direction && b->rlc_mode == h.rlc_mode && b->rlc_sn_bits == h.rlc_sn_bits);
  RC_ASSERT(b->pdcp_sn_bits == h.pdcp_sn_bits && b->sdap_header == sdap && b->bearer == h.bearer);
  RC_ASSERT(b->epoch == epoch && out.all()[2] == 0);
}

TEST(Airhdr, refuses_to_write_sn_lengths_that_do_not_exist) {
  HeapOctets out(8);
  EXPECT_EQ(write(out, Header{.rlc_mode = RlcMode::kAm, .rlc_sn_bits = 6}), 0U);
  EXPECT_EQ(write(out, Header{.pdcp_sn_bits = 15}), 0U);
}

}  // namespace
}  // namespace splitplane::wire::airhdr
