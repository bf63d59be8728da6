#include "wire/mac_ce.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/mac_bsr.h"
#include "wire/test_octets.h"

namespace splitplane::wire::mac {
namespace {

using test::from_hex;
using test::HeapOctets;

RC_GTEST_PROP(MacCe, every_ce_is_read_back, ()) {
  HeapOctets one(1);
  HeapOctets two(2);
  const TimingAdvance ta{*rc::gen::inRange<std::uint8_t>(0, 4), *rc::gen::inRange<std::uint8_t>(0, 64)};
  RC_ASSERT(write(one, ta) == 1U);
  RC_ASSERT(parse_timing_advance(one)->tag_id == ta.tag_id && parse_timing_advance(one)->command == ta.command);
  const ShortBsr bsr{*rc::gen::inRange<std::uint8_t>(0, 8), *rc::gen::inRange<std::uint8_t>(0, 32)};
  RC_ASSERT(write(one, bsr) == 1U);
  RC_ASSERT(parse_short_bsr(one)->lcg == bsr.lcg && parse_short_bsr(one)->size == bsr.size);
  const ScellActivation scells{static_cast<std::uint8_t>(*rc::gen::arbitrary<std::uint8_t>() & 0xFE)};
  RC_ASSERT(write(one, scells) == 1U && parse_scell_activation(one)->active == scells.active);
  const Crnti crnti{*rc::gen::arbitrary<std::uint16_t>()};
  RC_ASSERT(write(two, crnti) == 2U && parse_crnti(two)->rnti == crnti.rnti);
  const SinglePhr phr{*rc::gen::inRange<std::uint8_t>(0, 64), *rc::gen::inRange<std::uint8_t>(0, 64)};
  RC_ASSERT(write(two, phr) == 2U);
  RC_ASSERT(parse_single_phr(two)->power_headroom == phr.power_headroom && parse_single_phr(two)->pcmax == phr.pcmax);
  LongBsr longer{*rc::gen::arbitrary<std::uint8_t>(), {}};
  for (unsigned lcg = 0; lcg < kLcgs; ++lcg) {
    if ((longer.present >> lcg & 1) != 0) longer.size[lcg] = *rc::gen::arbitrary<std::uint8_t>();
  }
  HeapOctets exact(1 + popcount8(longer.present));
  RC_ASSERT(write(exact, longer) == Octets(exact).size());
  RC_ASSERT(parse_long_bsr(exact)->present == longer.present && parse_long_bsr(exact)->size == longer.size);
  const auto sizes = *rc::gen::container<std::vector<std::uint8_t>>(
      *rc::gen::inRange<std::size_t>(0, popcount8(longer.present) + 1), rc::gen::arbitrary<std::uint8_t>());
  HeapOctets truncated(1 + sizes.size());
  RC_ASSERT(write(truncated, LongTruncatedBsr{longer.present, sizes}) == Octets(truncated).size());
  const auto back = parse_long_truncated_bsr(truncated);
  RC_ASSERT(back && back->with_data == longer.present && test::to_hex(back->sizes) == test::to_hex(sizes));
}

TEST(MacCe, wrong_lengths_and_values_are_refused) {
  EXPECT_EQ(parse_timing_advance(HeapOctets(0)).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_crnti(HeapOctets(1)).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_single_phr(HeapOctets(3)).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_short_bsr(HeapOctets(2)).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_long_bsr(HeapOctets(0)).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_long_bsr(HeapOctets(from_hex("240a"))).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_long_bsr(HeapOctets(from_hex("240a0b0c"))).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_long_truncated_bsr(HeapOctets(from_hex("240a0b0c"))).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_scell_activation(HeapOctets(0)).reason, Reason::mac_ce_bad_length);
  EXPECT_EQ(parse_contention_resolution(HeapOctets(5)).reason, Reason::mac_ce_bad_length);
  HeapOctets out(8);
  EXPECT_EQ(write(out, TimingAdvance{4, 0}), 0U);
  EXPECT_EQ(write(out, TimingAdvance{0, 64}), 0U);
  EXPECT_EQ(write(out, ShortBsr{8, 0}), 0U);
  EXPECT_EQ(write(out, ShortBsr{0, 32}), 0U);
  EXPECT_EQ(write(out, SinglePhr{64, 0}), 0U);
  EXPECT_EQ(write(out, ScellActivation{1}), 0U);
}

TEST(MacBsr, indices_follow_the_tables) {
  EXPECT_EQ(bsr5_index(0), 0);
  EXPECT_EQ(bsr5_index(1), 1);
  EXPECT_EQ(bsr5_index(10), 1);
  EXPECT_EQ(bsr5_index(11), 2);
  EXPECT_EQ(bsr5_index(150000), 30);
  EXPECT_EQ(bsr5_index(150001), kBsr5Above);
  EXPECT_EQ(bsr8_index(0), 0);
  EXPECT_EQ(bsr8_index(10), 1);
  EXPECT_EQ(bsr8_index(11), 2);
  EXPECT_EQ(bsr8_index(81338368), 253);
  EXPECT_EQ(bsr8_index(81338369), kBsr8Above);
  EXPECT_EQ(bsr5_octets(kBsr5Above), kUnbounded);
  EXPECT_EQ(bsr8_octets(kBsr8Above), kUnbounded);
  EXPECT_EQ(bsr8_octets(kBsr8Reserved), 0U);
}

TEST(MacBsr, every_index_comes_back_from_its_own_bound_and_the_next_octet_needs_the_next_one) {
  for (std::uint8_t i = 0; i < kBsr5.size(); ++i) {
    EXPECT_EQ(bsr5_index(bsr5_octets(i)), i);
    EXPECT_EQ(bsr5_index(bsr5_octets(i) + 1), i + 1);
  }
  for (std::uint8_t i = 0; i < kBsr8.size(); ++i) {
    EXPECT_EQ(bsr8_index(bsr8_octets(i)), i);
    EXPECT_EQ(bsr8_index(bsr8_octets(i) + 1), i + 1);
  }
}

}  // namespace
}  // namespace splitplane::wire::mac
