#include "wire/rlc_status.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire::rlc {
namespace {

using test::from_hex;
using test::HeapOctets;

bool equal(const Nack& a, const Nack& b) {
  return a.sn == b.sn && a.has_so == b.has_so && a.has_range == b.has_range && a.range == b.range &&
         a.so_start == b.so_start && a.so_end == b.so_end;
}

std::size_t write_status(MutableOctets out, unsigned sn_bits, std::uint32_t ack_sn, const std::vector<Nack>& nacks) {
  StatusWriter writer(out, sn_bits);
  for (const Nack& n : nacks) {
    if (!writer.add(n)) return 0;
  }
  return writer.finish(ack_sn);
}

struct Row {
  const char* id;
  unsigned sn_bits;
  std::uint32_t ack_sn;
  std::vector<Nack> nacks;
};

Nack whole(std::uint32_t sn) {
  return {.sn = sn};
}
Nack part(std::uint32_t sn, std::uint16_t from, std::uint16_t to) {
  return {.sn = sn, .has_so = true, .so_start = from, .so_end = to};
}
Nack range(std::uint32_t sn, std::uint8_t n) {
  return {.sn = sn, .has_range = true, .range = n};
}

const Row kRows[] = {
    {"R12", 12, 10, {}},
    {"R13", 12, 10, {whole(7)}},
    {"R14", 12, 2, {part(1, 20, 39)}},
    {"R15",
     12,
     20,
     {part(7, 20, 39), range(9, 3), {.sn = 15, .has_so = true, .has_range = true, .range = 2, .so_start = 100}}},
    {"R16", 18, 0x2abcf, {}},
    {"R17", 18, 0x2abcf, {part(0x2abcd, 5, kSoEnd)}},
    {"R18", 18, 0x2abcf, {range(0x2ab00, 200)}},
};

TEST(RlcStatus, worked_examples_are_read_and_written) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.id);
    std::string_view hex;
    for (const test::Example& e : test::kExamples) hex = e.id == row.id ? e.hex : hex;
    const HeapOctets in(from_hex(hex));
    const auto status = parse_status(in, row.sn_bits);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->ack_sn, row.ack_sn);
    EXPECT_EQ(status->nack_blocks, row.nacks.size());
    NackCursor cursor(*status);
    Nack nack;
    for (const Nack& expected : row.nacks) {
      ASSERT_TRUE(cursor.next(nack));
      EXPECT_TRUE(equal(nack, expected)) << nack.sn;
    }
    EXPECT_FALSE(cursor.next(nack));
    EXPECT_EQ(test::written(from_hex(hex).size(),
                            [&](MutableOctets out) { return write_status(out, row.sn_bits, row.ack_sn, row.nacks); }),
              test::tidy(hex));
  }
}

TEST(RlcStatus, every_truncation_is_refused) {
  for (const Row& row : kRows) {
    std::string_view hex;
    for (const test::Example& e : test::kExamples) hex = e.id == row.id ? e.hex : hex;
    const auto all = from_hex(hex);
    for (std::size_t n = 0; n < all.size(); ++n) {
      EXPECT_EQ(parse_status(HeapOctets(Octets(all).first(n)), row.sn_bits).reason,
                n < 3 ? Reason::rlc_truncated : Reason::rlc_status_truncated)
          << row.id << " " << n;
    }
  }
}

TEST(RlcStatus, bad_input_gives_the_right_reason) {
  EXPECT_EQ(parse_status(HeapOctets(from_hex("000a0000")), 12).reason, Reason::rlc_status_trailing_octets);
  EXPECT_EQ(parse_status(HeapOctets(from_hex("000a80007000")), 12).reason, Reason::rlc_status_trailing_octets);
  EXPECT_EQ(parse_status(HeapOctets(from_hex("000a80 0072 00")), 12).reason, Reason::rlc_status_bad_range);
  EXPECT_EQ(parse_status(HeapOctets(from_hex("000280 0014 0028 0027")), 12).reason, Reason::rlc_status_bad_segment);
  EXPECT_EQ(parse_status(HeapOctets(from_hex("c005aa")), 12).reason, Reason::rlc_not_control);
  EXPECT_EQ(parse_status(HeapOctets(from_hex("100a00")), 12).reason, Reason::rlc_control_type_unknown);
  EXPECT_EQ(parse_status(HeapOctets(from_hex("000a00")), 6).reason, Reason::rlc_bad_sn_length);
}

TEST(RlcStatus, a_range_may_end_before_it_starts_within_the_sdu) {
  EXPECT_TRUE(parse_status(HeapOctets(from_hex("000a80 0076 0028 0002 02")), 12))
      << "SOend counts in the last SDU of the range, not in the first";
}

TEST(RlcStatus, a_block_that_does_not_fit_leaves_a_whole_pdu) {
  HeapOctets out(8);
  StatusWriter writer(out, 12);
  EXPECT_TRUE(writer.add(whole(1)));
  EXPECT_TRUE(writer.add(range(3, 2)));
  EXPECT_FALSE(writer.add(whole(9)));
  ASSERT_EQ(writer.finish(9), 8U);
  const auto status = parse_status(out, 12);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->nack_blocks, 2U);
  EXPECT_EQ(status->ack_sn, 9U);
}

TEST(RlcStatus, refuses_to_write_fields_out_of_range) {
  HeapOctets out(64);
  StatusWriter writer(out, 12);
  EXPECT_FALSE(writer.add(whole(4096)));
  EXPECT_FALSE(writer.add(range(1, 0)));
  EXPECT_FALSE(writer.add({.sn = 1, .range = 2})) << "a range without its flag";
  EXPECT_FALSE(writer.add(part(1, 5, 4)));
  EXPECT_EQ(writer.finish(4096), 0U);
  EXPECT_EQ(writer.finish(4095), 3U);
  EXPECT_EQ(StatusWriter(out, 18).finish(0x40000), 0U);
  EXPECT_EQ(StatusWriter(out, 18).finish(0x3FFFF), 3U);
  EXPECT_EQ(StatusWriter(out, 6).finish(0), 0U);
}

RC_GTEST_PROP(RlcStatus, reports_are_read_back, (bool sn18)) {
  const unsigned sn_bits = sn18 ? 18 : 12;
  const auto sn = rc::gen::inRange<std::uint32_t>(0, 1U << sn_bits);
  const std::uint32_t ack_sn = *sn;
  const auto count = *rc::gen::inRange<std::size_t>(0, 40);
  std::vector<Nack> nacks;
  for (std::size_t i = 0; i < count; ++i) {
    Nack n;
    n.sn = *sn;
    n.has_so = *rc::gen::arbitrary<bool>();
    n.has_range = *rc::gen::arbitrary<bool>();
    if (n.has_range) n.range = *rc::gen::inRange<std::uint8_t>(1, 255);
    if (n.has_so) n.so_start = *rc::gen::arbitrary<std::uint16_t>();
    if (n.has_so && n.so_start != kSoEnd) n.so_end = *rc::gen::inRange<std::uint16_t>(n.so_start, kSoEnd);
    nacks.push_back(n);
  }
  std::size_t size = 3;
  for (const Nack& n : nacks) size += nack_bytes(sn_bits, n);
  HeapOctets out(size);
  RC_ASSERT(write_status(out, sn_bits, ack_sn, nacks) == size);
  const auto status = parse_status(out, sn_bits);
  RC_ASSERT(status && status->ack_sn == ack_sn && status->nack_blocks == count);
  NackCursor cursor(*status);
  Nack back;
  for (const Nack& n : nacks) RC_ASSERT(cursor.next(back) && equal(back, n));
  RC_ASSERT(!cursor.next(back));
}

}  // namespace
}  // namespace splitplane::wire::rlc
