#include "wire/dci.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "wire/test_octets.h"
#include "wire/test_parse_everything.h"

namespace splitplane::wire::dci {
namespace {

using test::from_hex;
using test::HeapOctets;
using test::tidy;
using test::to_hex;

constexpr Bandwidth kWide{273, 273};  // 100 MHz at 30 kHz

template <class Format>
std::string written(const Format& f, const Bandwidth& b) {
  HeapOctets out((size_bits(b) + 7) / 8);
  EXPECT_EQ(write(out.all(), f, b), size_bits(b));
  for (std::size_t small = 0; small < out.all().size(); ++small) {
    EXPECT_EQ(write(HeapOctets(small).all(), f, b), 0U) << small;
  }
  return to_hex(out);
}

// The octets of these tests were put together field by field on paper.
TEST(Dci, format_1_0_of_a_wide_cell) {
  const Format10 f{.allocation = {0, 273}, .mcs = 27, .ndi = 1, .process = 5, .tpc = 1, .harq_timing = 3};
  // 1 0000001000100001 0000 0 11011 1 00 0101 00 01 000 011: RIV 273 * (273 - 273 + 1) + 273 - 1 - 0 = 545
  const std::string octets = tidy("81 10 83 71 44 30");
  EXPECT_EQ(size_bits(kWide), 44U);
  EXPECT_EQ(written(f, kWide), octets);
  const auto read = parse_1_0(HeapOctets(from_hex(octets)), 44, kWide);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, f);
}

TEST(Dci, format_0_0_is_padded_to_the_size_of_1_0) {
  const Format00 f{.allocation = {10, 20}, .time_row = 3, .mcs = 20, .rv = 3, .process = 15, .tpc = 1};
  // 0 0001010001001101 0011 0 10100 0 11 1111 01 00000000: RIV 273 * 19 + 10 = 5197
  const std::string octets = tidy("0a 26 9a 8f d0 00");
  EXPECT_EQ(written(f, kWide), octets);
  const auto read = parse_0_0(HeapOctets(from_hex(octets)), 44, kWide);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, f);
}

TEST(Dci, format_0_0_loses_its_first_riv_bits_in_a_common_search_space) {
  constexpr Bandwidth kNarrow{6, 273, SearchSpace::kCommon};
  const Format00 f{.allocation = {0, 20}, .mcs = 9, .ndi = 1, .rv = 2, .tpc = 3};
  // 0 1010001000011 0000 0 01001 1 10 0000 11: 13 of 16 bits of RIV 273 * 19 = 5187 are left
  const std::string octets = tidy("51 0c 09 c1 80");
  EXPECT_EQ(size_bits(kNarrow), 33U);
  EXPECT_EQ(written(f, kNarrow), octets);
  EXPECT_EQ(*parse_0_0(HeapOctets(from_hex(octets)), 33, kNarrow), f);
  HeapOctets out(5);
  EXPECT_EQ(write(out.all(), Format00{.allocation = {1, 31}}, kNarrow), 33U);  // RIV 8191
  EXPECT_EQ(write(out.all(), Format00{.allocation = {2, 31}}, kNarrow), 0U);   // RIV 8192
}

TEST(Dci, format_1_0_is_padded_to_the_size_of_0_0_in_a_ue_specific_search_space) {
  constexpr Bandwidth kNarrow{6, 273, SearchSpace::kUeSpecific};
  const Format10 f{
      .allocation = {1, 4}, .time_row = 2, .interleaved = 1, .process = 1, .pucch_resource = 7, .harq_timing = 5};
  // 1 10011 0010 1 00000 0 00 0001 00 00 111 101 000: RIV 6 * 3 + 1 = 19
  const std::string octets = tidy("cc a0 02 1e 80");
  EXPECT_EQ(size_bits(kNarrow), 36U);
  EXPECT_EQ(written(f, kNarrow), octets);
  EXPECT_EQ(*parse_1_0(HeapOctets(from_hex(octets)), 36, kNarrow), f);
}

TEST(Dci, each_allocation_of_each_bandwidth_part_has_a_riv_that_is_only_its) {
  for (std::uint16_t prbs = 1; prbs <= 275; ++prbs) {
    std::vector<bool> used(rivs(prbs));
    for (std::uint16_t first = 0; first < prbs; ++first) {
      for (std::uint16_t count = 1; first + count <= prbs; ++count) {
        const std::uint32_t riv = riv_of({first, count}, prbs);
        ASSERT_LT(riv, rivs(prbs));
        ASSERT_FALSE(used[riv]);
        used[riv] = true;
        ASSERT_EQ(allocation_of(riv, prbs), (Allocation{first, count}));
      }
    }
  }
}

// ceil(log2(N (N + 1) / 2)), in the way of the specification.
TEST(Dci, a_riv_has_as_many_bits_as_the_specification_says) {
  for (unsigned prbs = 1; prbs <= 275; ++prbs) {
    EXPECT_EQ(riv_bits(prbs), static_cast<unsigned>(std::ceil(std::log2(prbs * (prbs + 1) / 2)))) << prbs;
  }
}

TEST(Dci, random_values_come_back_and_values_out_of_range_are_not_written) {
  std::mt19937_64 random(1);
  const auto below = [&random](unsigned n) { return static_cast<std::uint8_t>(random() % n); };
  for (unsigned run = 0; run < 20'000; ++run) {
    const Bandwidth b{static_cast<std::uint16_t>(1 + random() % 275), static_cast<std::uint16_t>(1 + random() % 275),
                      random() % 2 == 0 ? SearchSpace::kCommon : SearchSpace::kUeSpecific};
    const auto allocation = [&random](std::uint16_t prbs) {
      const auto first = static_cast<std::uint16_t>(random() % prbs);
      return Allocation{first, static_cast<std::uint16_t>(1 + random() % (prbs - first))};
    };
    HeapOctets out((size_bits(b) + 7) / 8);
    const Format10 f10{allocation(b.dl_prbs),
                       below(16),
                       below(2),
                       below(32),
                       below(2),
                       below(4),
                       below(16),
                       below(4),
                       below(4),
                       below(8),
                       below(8)};
    ASSERT_EQ(write(out.all(), f10, b), size_bits(b));
    const auto read10 = parse_1_0(out, size_bits(b), b);
    ASSERT_TRUE(read10);
    ASSERT_EQ(*read10, f10);
    ASSERT_EQ(parse_0_0(out, size_bits(b), b).reason, Reason::dci_other_format);
    const Format00 f00{allocation(b.ul_prbs), below(16), below(32), below(2), below(4), below(16), below(4)};
    if (write(out.all(), f00, b) == 0) {
      ASSERT_EQ(b.search_space, SearchSpace::kCommon);  // the RIV needs bits that were cut off
      continue;
    }
    const auto read00 = parse_0_0(out, size_bits(b), b);
    ASSERT_TRUE(read00);
    ASSERT_EQ(*read00, f00);
    ASSERT_EQ(parse_1_0(out, size_bits(b), b).reason, Reason::dci_other_format);
  }
  HeapOctets out(6);
  for (const Format10& f :
       {Format10{.allocation = {0, 0}}, Format10{.allocation = {273, 1}}, Format10{.allocation = {1, 273}},
        Format10{.allocation = {0, 1}, .mcs = 32}, Format10{.allocation = {0, 1}, .ndi = 2},
        Format10{.allocation = {0, 1}, .process = 16}, Format10{.allocation = {0, 1}, .harq_timing = 8}}) {
    EXPECT_EQ(write(out.all(), f, kWide), 0U);
  }
}

TEST(Dci, bad_input_gives_the_right_reason) {
  const HeapOctets good(from_hex("81 10 83 71 44 30"));
  EXPECT_EQ(parse_1_0(good, 43, kWide).reason, Reason::dci_bad_size);
  EXPECT_EQ(parse_1_0(good, 45, kWide).reason, Reason::dci_bad_size);
  EXPECT_EQ(parse_1_0(HeapOctets(from_hex("81 10 83 71 44")), 44, kWide).reason, Reason::dci_bad_size);
  EXPECT_EQ(parse_0_0(good, 44, kWide).reason, Reason::dci_other_format);
  // An order for random access has all bits of the RIV set.
  EXPECT_EQ(parse_1_0(HeapOctets(from_hex("ff ff 83 71 44 30")), 44, kWide).reason, Reason::dci_bad_allocation);
  EXPECT_EQ(parse_0_0(HeapOctets(from_hex("7f ff 9a 8f d0 00")), 44, kWide).reason, Reason::dci_bad_allocation);
  EXPECT_EQ(parse_0_0(HeapOctets(from_hex("0a 26 9a 8f d0 10")), 44, kWide).reason, Reason::dci_bad_padding);
  EXPECT_EQ(parse_0_0(HeapOctets(from_hex("0a 26 9e 8f d0 00")), 44, kWide).reason, Reason::dci_hopping);
  EXPECT_EQ(parse_1_0(HeapOctets(0), 0, {}).reason, Reason::dci_bad_size);
}

TEST(Dci, random_octets_are_survived) {
  std::mt19937_64 random(2);
  unsigned accepted = 0;
  for (unsigned run = 0; run < 100'000; ++run) {
    HeapOctets octets(random() % 8);
    for (std::uint8_t& o : octets.all()) o = static_cast<std::uint8_t>(random());
    accepted += test::parse_dci_all(octets);
  }
  EXPECT_GT(accepted, 10'000U);
}

}  // namespace
}  // namespace splitplane::wire::dci
