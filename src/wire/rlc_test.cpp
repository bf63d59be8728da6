#include "wire/rlc.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire::rlc {
namespace {

using test::from_hex;
using test::HeapOctets;
using test::Parser;

struct UmRow {
  const char* id;
  unsigned sn_bits;
  UmHeader header;
};
const UmRow kUmRows[] = {{"R1", 12, {Segment::kComplete, 1, 0, 0}},
                         {"R2", 6, {Segment::kFirst, 1, 0, 33}},
                         {"R3", 6, {Segment::kMiddle, 3, 20, 33}},
                         {"R4", 12, {Segment::kFirst, 2, 0, 0xabc}},
                         {"R5", 12, {Segment::kLast, 4, 30, 0xabc}}};

struct AmRow {
  const char* id;
  unsigned sn_bits;
  AmHeader header;
};
const AmRow kAmRows[] = {
    {"R6", 12, {true, Segment::kComplete, 2, 0, 5}},         {"R7", 12, {false, Segment::kFirst, 2, 0, 6}},
    {"R8", 12, {false, Segment::kMiddle, 4, 20, 6}},         {"R9", 12, {true, Segment::kLast, 4, 40, 6}},
    {"R10", 18, {false, Segment::kComplete, 3, 0, 0x2abcd}}, {"R11", 18, {true, Segment::kLast, 5, 30, 0x2abce}}};

std::vector<std::uint8_t> octets_of(std::string_view id) {
  for (const test::Example& e : test::kExamples) {
    if (e.id == id) return from_hex(e.hex);
  }
  ADD_FAILURE() << "no example " << id;
  return {};
}

TEST(RlcUm, worked_examples_are_read_written_and_refused_when_cut) {
  for (const UmRow& row : kUmRows) {
    SCOPED_TRACE(row.id);
    const HeapOctets in(octets_of(row.id));
    const auto h = parse_um(in, row.sn_bits);
    ASSERT_TRUE(h);
    EXPECT_EQ(h->si, row.header.si);
    EXPECT_EQ(h->header_bytes, row.header.header_bytes);
    EXPECT_EQ(h->so, row.header.so);
    EXPECT_EQ(h->sn, row.header.sn);
    EXPECT_EQ(test::to_hex(Octets(in).subspan(h->header_bytes)), SPLITPLANE_TEST_DATA);
    const std::size_t n = row.header.header_bytes;
    EXPECT_EQ(test::written(n, [&](MutableOctets out) { return write_um(out, row.sn_bits, row.header); }),
              test::to_hex(Octets(in).first(n)));
    for (std::size_t cut = 0; cut < n; ++cut) {
      EXPECT_EQ(parse_um(HeapOctets(Octets(in).first(cut)), row.sn_bits).reason, Reason::rlc_truncated) << cut;
    }
    EXPECT_EQ(parse_um(HeapOctets(Octets(in).first(n)), row.sn_bits).reason, Reason::rlc_empty_data);
  }
}

TEST(RlcAm, worked_examples_are_read_written_and_refused_when_cut) {
  for (const AmRow& row : kAmRows) {
    SCOPED_TRACE(row.id);
    const HeapOctets in(octets_of(row.id));
    const auto h = parse_am(in, row.sn_bits);
    ASSERT_TRUE(h);
    EXPECT_EQ(h->poll, row.header.poll);
    EXPECT_EQ(h->si, row.header.si);
    EXPECT_EQ(h->header_bytes, row.header.header_bytes);
    EXPECT_EQ(h->so, row.header.so);
    EXPECT_EQ(h->sn, row.header.sn);
    EXPECT_EQ(test::to_hex(Octets(in).subspan(h->header_bytes)), SPLITPLANE_TEST_DATA);
    const std::size_t n = row.header.header_bytes;
    EXPECT_EQ(test::written(n, [&](MutableOctets out) { return write_am(out, row.sn_bits, row.header); }),
              test::to_hex(Octets(in).first(n)));
    for (std::size_t cut = 0; cut < n; ++cut) {
      EXPECT_EQ(parse_am(HeapOctets(Octets(in).first(cut)), row.sn_bits).reason, Reason::rlc_truncated) << cut;
    }
    EXPECT_EQ(parse_am(HeapOctets(Octets(in).first(n)), row.sn_bits).reason, Reason::rlc_empty_data);
  }
}

TEST(Rlc, tm_is_all_data) {
  EXPECT_EQ(parse_tm(HeapOctets(from_hex("0102")))->size(), 2U);
  EXPECT_EQ(parse_tm(HeapOctets(0)).reason, Reason::rlc_empty_data);
}

TEST(Rlc, reserved_bits_are_ignored) {
  EXPECT_EQ(parse_um(HeapOctets(from_hex("3faa")), 12)->header_bytes, 1);
  EXPECT_EQ(parse_um(HeapOctets(from_hex("7abcaa")), 12)->sn, 0xabcU);
  EXPECT_EQ(parse_am(HeapOctets(from_hex("8eabcdaa")), 18)->sn, 0x2abcdU);
}

TEST(Rlc, bad_input_gives_the_right_reason) {
  EXPECT_EQ(parse_um(HeapOctets(from_hex("00aa")), 18).reason, Reason::rlc_bad_sn_length);
  EXPECT_EQ(parse_am(HeapOctets(from_hex("8000aa")), 6).reason, Reason::rlc_bad_sn_length);
  EXPECT_EQ(parse_am(HeapOctets(from_hex("000a00")), 12).reason, Reason::rlc_not_data);
  EXPECT_EQ(parse_am(HeapOctets(from_hex("b0060000aa")), 12).reason, Reason::rlc_bad_segment_offset);
  EXPECT_EQ(parse_um(HeapOctets(from_hex("e10000aa")), 6).reason, Reason::rlc_bad_segment_offset);
}

TEST(Rlc, the_segment_kind_follows_from_the_position) {
  EXPECT_EQ(segment_of(0, 50, 50), Segment::kComplete);
  EXPECT_EQ(segment_of(0, 49, 50), Segment::kFirst);
  EXPECT_EQ(segment_of(1, 48, 50), Segment::kMiddle);
  EXPECT_EQ(segment_of(1, 49, 50), Segment::kLast);
}

TEST(Rlc, refuses_to_write_what_contradicts_itself) {
  HeapOctets out(8);
  EXPECT_EQ(write_am(out, 12, {.sn = 0xFFF}), 2U);
  EXPECT_EQ(write_am(out, 12, {.sn = 0x1000}), 0U);
  EXPECT_EQ(write_am(out, 18, {.sn = 0x3FFFF}), 3U);
  EXPECT_EQ(write_am(out, 18, {.sn = 0x40000}), 0U);
  EXPECT_EQ(write_am(out, 6, {}), 0U);
  EXPECT_EQ(write_am(out, 12, {.si = Segment::kFirst, .so = 1}), 0U);
  EXPECT_EQ(write_am(out, 12, {.si = Segment::kLast, .so = 0}), 0U);
  EXPECT_EQ(write_um(out, 6, {.si = Segment::kFirst, .sn = 63}), 1U);
  EXPECT_EQ(write_um(out, 6, {.si = Segment::kFirst, .sn = 64}), 0U);
  EXPECT_EQ(write_um(out, 12, {.si = Segment::kFirst, .sn = 4096}), 0U);
  EXPECT_EQ(write_um(out, 18, {}), 0U);
}

RC_GTEST_PROP(Rlc, headers_are_read_back, (bool poll, std::uint32_t any)) {
  const auto si = *rc::gen::element(Segment::kComplete, Segment::kFirst, Segment::kLast, Segment::kMiddle);
  const std::uint16_t so = has_segment_offset(si) ? *rc::gen::inRange<std::uint16_t>(1, 0xFFFF) : std::uint16_t{0};
  for (const unsigned sn_bits : {12U, 18U}) {
    const AmHeader h{poll, si, am_header_bytes(sn_bits, si), so, any & ((1U << sn_bits) - 1)};
    HeapOctets out(h.header_bytes + 1U);
    RC_ASSERT(write_am(out, sn_bits, h) == h.header_bytes);
    const auto b = parse_am(out, sn_bits);
    RC_ASSERT(b && b->poll == poll && b->si == si && b->so == so && b->sn == h.sn);
    RC_ASSERT(b->header_bytes == h.header_bytes);
  }
  for (const unsigned sn_bits : {6U, 12U}) {
    const std::uint32_t sn = si == Segment::kComplete ? 0 : any & ((1U << sn_bits) - 1);
    const UmHeader h{si, um_header_bytes(sn_bits, si), so, sn};
    HeapOctets out(h.header_bytes + 1U);
    RC_ASSERT(write_um(out, sn_bits, h) == h.header_bytes);
    const auto b = parse_um(out, sn_bits);
    RC_ASSERT(b && b->si == si && b->so == so && b->sn == sn && b->header_bytes == h.header_bytes);
  }
}

}  // namespace
}  // namespace splitplane::wire::rlc
