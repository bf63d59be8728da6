#include "wire/mac.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/mac_ce.h"
#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire::mac {
namespace {

using test::example;
using test::from_hex;
using test::HeapOctets;

struct Seen {
  std::uint32_t lcid;
  Kind kind;
  std::string payload;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> walk(Octets tb, Direction direction, Reason* reason = nullptr) {
  std::vector<Seen> out;
  Cursor cursor(tb, direction);
  for (SubPdu s; cursor.next(s);) out.push_back({s.lcid, s.kind, test::to_hex(s.payload)});
  if (reason != nullptr) *reason = cursor.reason();
  return out;
}

Reason reason_of(std::string_view hex, Direction direction) {
  Reason reason{};
  walk(HeapOctets(from_hex(hex)), direction, &reason);
  return reason;
}

// A writer of transport blocks for these tests: appends, then pads the rest of the span.
class Block {
 public:
  Block(MutableOctets out, Direction direction) : rest_(out), direction_(direction) {}
  void sdu(std::uint8_t lcid, Octets payload) {
    take(write_subheader(rest_, direction_, lcid, payload.size()));
    append(payload);
  }
  template <class Ce>
  void fixed(std::uint8_t lcid, const Ce& ce) {
    take(write_fixed_subheader(rest_, direction_, lcid));
    take(write(rest_, ce));
  }
  void bare(std::uint8_t lcid, Octets payload = {}) {
    take(write_fixed_subheader(rest_, direction_, lcid));
    append(payload);
  }
  void long_bsr(const LongBsr& bsr) {
    take(write_subheader(rest_, direction_, ul::kLongBsr, 1 + popcount8(bsr.present)));
    take(write(rest_, bsr));
  }
  std::size_t pad() { return write_padding(rest_); }

 private:
  void take(std::size_t bytes) {
    EXPECT_NE(bytes, 0U);
    rest_ = rest_.subspan(bytes);
  }
  void append(Octets payload) {
    copy_octets(rest_.data(), payload.data(), payload.size());
    rest_ = rest_.subspan(payload.size());
  }

  MutableOctets rest_;
  Direction direction_;
};

const auto kSdu = from_hex("c005" SPLITPLANE_TEST_DATA);

TEST(Mac, downlink_block_of_example_m1) {
  const auto octets = from_hex(example("M1").hex);
  EXPECT_EQ(walk(HeapOctets(octets), Direction::kDownlink),
            (std::vector<Seen>{{dl::kDrx, Kind::kControlElement, ""},
                               {dl::kTimingAdvance, Kind::kControlElement, "5f"},
                               {4, Kind::kSdu, "c005aabbccddee"},
                               {kLcidPadding, Kind::kPadding, "000000"}}));
  const auto ta = parse_timing_advance(from_hex("5f"));
  EXPECT_EQ(ta->tag_id, 1);
  EXPECT_EQ(ta->command, 31);
  HeapOctets out(octets.size());
  Block block(out, Direction::kDownlink);
  block.bare(dl::kDrx);
  block.fixed(dl::kTimingAdvance, *ta);
  block.sdu(4, kSdu);
  EXPECT_EQ(block.pad(), 4U);
  EXPECT_EQ(test::to_hex(out), test::tidy(example("M1").hex));
}

TEST(Mac, long_length_of_example_m2) {
  const auto octets = from_hex(example("M2").hex);
  const auto seen = walk(HeapOctets(octets), Direction::kDownlink);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].payload.size(), 600U);
  HeapOctets out(octets.size());
  Block block(out, Direction::kDownlink);
  block.sdu(4, Octets(octets).subspan(3));
  EXPECT_EQ(test::to_hex(out), test::tidy(example("M2").hex));
}

TEST(Mac, uplink_block_of_example_m3) {
  const auto octets = from_hex(example("M3").hex);
  const auto seen = walk(HeapOctets(octets), Direction::kUplink);
  EXPECT_EQ(seen, (std::vector<Seen>{{4, Kind::kSdu, "c005aabbccddee"},
                                     {ul::kCrnti, Kind::kControlElement, "4601"},
                                     {ul::kSinglePhr, Kind::kControlElement, "1f2a"},
                                     {ul::kShortBsr, Kind::kControlElement, "49"},
                                     {kLcidPadding, Kind::kPadding, ""}}));
  EXPECT_EQ(parse_crnti(from_hex("4601"))->rnti, 0x4601);
  EXPECT_EQ(parse_single_phr(from_hex("1f2a"))->power_headroom, 31);
  EXPECT_EQ(parse_single_phr(from_hex("1f2a"))->pcmax, 42);
  EXPECT_EQ(parse_short_bsr(from_hex("49"))->lcg, 2);
  EXPECT_EQ(parse_short_bsr(from_hex("49"))->size, 9);
  HeapOctets out(octets.size());
  Block block(out, Direction::kUplink);
  block.sdu(4, kSdu);
  block.fixed(ul::kCrnti, Crnti{0x4601});
  block.fixed(ul::kSinglePhr, SinglePhr{31, 42});
  block.fixed(ul::kShortBsr, ShortBsr{2, 9});
  block.pad();
  EXPECT_EQ(test::to_hex(out), test::tidy(example("M3").hex));
}

TEST(Mac, long_bsr_of_example_m4) {
  const auto seen = walk(HeapOctets(from_hex(example("M4").hex)), Direction::kUplink);
  ASSERT_EQ(seen.size(), 2U);
  const auto bsr = parse_long_bsr(from_hex(seen[0].payload));
  ASSERT_TRUE(bsr);
  EXPECT_EQ(bsr->present, 0x24);
  EXPECT_EQ(bsr->size, (std::array<std::uint8_t, 8>{0, 0, 10, 0, 0, 20, 0, 0}));
  HeapOctets out(6);
  Block block(out, Direction::kUplink);
  block.long_bsr(*bsr);
  block.pad();
  EXPECT_EQ(test::to_hex(out), test::tidy(example("M4").hex));
}

TEST(Mac, uplink_ccch_of_examples_m5_and_m6_has_no_length) {
  EXPECT_EQ(walk(HeapOctets(from_hex(example("M5").hex)), Direction::kUplink),
            (std::vector<Seen>{{kLcidUlCcch, Kind::kSdu, "010203040506"}, {kLcidPadding, Kind::kPadding, "00"}}));
  EXPECT_EQ(walk(HeapOctets(from_hex(example("M6").hex)), Direction::kUplink),
            (std::vector<Seen>{{kLcidCcch, Kind::kSdu, "0102030405060708"}}));
  HeapOctets m5(9);
  Block block(m5, Direction::kUplink);
  block.bare(kLcidUlCcch, from_hex("010203040506"));
  block.pad();
  EXPECT_EQ(test::to_hex(m5), test::tidy(example("M5").hex));
  HeapOctets m6(9);
  Block ccch1(m6, Direction::kUplink);
  ccch1.bare(kLcidCcch, from_hex("0102030405060708"));
  EXPECT_EQ(ccch1.pad(), 0U);
  EXPECT_EQ(test::to_hex(m6), test::tidy(example("M6").hex));
}

TEST(Mac, contention_resolution_of_example_m7) {
  const auto seen = walk(HeapOctets(from_hex(example("M7").hex)), Direction::kDownlink);
  ASSERT_EQ(seen.size(), 2U);
  const auto id = parse_contention_resolution(from_hex(seen[0].payload));
  ASSERT_TRUE(id);
  HeapOctets out(8);
  Block block(out, Direction::kDownlink);
  block.fixed(dl::kContentionResolution, *id);
  block.pad();
  EXPECT_EQ(test::to_hex(out), test::tidy(example("M7").hex));
}

TEST(Mac, whole_stack_of_example_x1) {
  const auto seen = walk(HeapOctets(from_hex(example("X1").hex)), Direction::kDownlink);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].payload, "c00000800000" SPLITPLANE_TEST_IP);
  EXPECT_EQ(seen[1].payload, "00");
}

TEST(Mac, a_small_payload_with_a_long_length_is_accepted) {
  EXPECT_EQ(walk(HeapOctets(from_hex("440001aa")), Direction::kDownlink), (std::vector<Seen>{{4, Kind::kSdu, "aa"}}));
}

TEST(Mac, bad_input_gives_the_right_reason) {
  EXPECT_EQ(reason_of("", Direction::kDownlink), Reason::mac_empty);
  EXPECT_EQ(reason_of("04", Direction::kDownlink), Reason::mac_truncated);
  EXPECT_EQ(reason_of("4401", Direction::kDownlink), Reason::mac_truncated);
  EXPECT_EQ(reason_of("0405aabb", Direction::kDownlink), Reason::mac_bad_length);
  EXPECT_EQ(reason_of("3a46", Direction::kUplink), Reason::mac_bad_length) << "C-RNTI of one octet";
  EXPECT_EQ(reason_of("3e0102030405", Direction::kDownlink), Reason::mac_bad_length);
  EXPECT_EQ(reason_of("2303aabbcc", Direction::kDownlink), Reason::mac_lcid_unknown);
  EXPECT_EQ(reason_of("3301aa", Direction::kUplink), Reason::mac_lcid_unknown);
  EXPECT_EQ(reason_of("22f501aa", Direction::kDownlink), Reason::mac_elcid_unknown);
}

TEST(Mac, what_precedes_an_unknown_lcid_is_kept_and_the_rest_dropped) {
  const HeapOctets tb(from_hex("0401aa 23 0102"));
  Cursor cursor(tb, Direction::kDownlink);
  SubPdu s;
  EXPECT_TRUE(cursor.next(s));
  EXPECT_EQ(s.lcid, 4U);
  EXPECT_FALSE(cursor.next(s));
  EXPECT_FALSE(cursor.next(s)) << "a refusal is final";
  EXPECT_EQ(test::to_hex(cursor.rest()), "230102");
}

TEST(Mac, every_truncation_of_the_examples_ends_in_a_refusal_or_at_a_subpdu_border) {
  for (const test::Example& e : test::kExamples) {
    if (e.parser != test::Parser::kMacDl && e.parser != test::Parser::kMacUl) continue;
    const Direction direction = e.parser == test::Parser::kMacDl ? Direction::kDownlink : Direction::kUplink;
    const auto all = from_hex(e.hex);
    const auto whole = walk(HeapOctets(all), direction);
    for (std::size_t n = 0; n < all.size(); ++n) {
      Reason reason{};
      const auto seen = walk(HeapOctets(Octets(all).first(n)), direction, &reason);
      ASSERT_LE(seen.size(), whole.size());
      for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].lcid, whole[i].lcid) << e.id << " " << n;
        EXPECT_TRUE(seen[i].kind == Kind::kPadding || seen[i].payload == whole[i].payload) << e.id << " " << n;
      }
      std::size_t octets = 0;
      HeapOctets cut(Octets(all).first(n));
      Cursor cursor(cut, direction);
      for (SubPdu s; cursor.next(s);) octets += s.subheader_bytes + s.payload.size();
      EXPECT_EQ(reason == Reason::ok, n != 0 && octets == n) << e.id << " " << n;
    }
  }
}

TEST(Mac, extended_lcids_name_logical_channels_from_320) {
  const auto payload = from_hex("aabb");
  for (const std::uint32_t channel : {320U, 321U, 65855U}) {
    HeapOctets out(6);
    ASSERT_EQ(write_extended_subheader(out, channel, 2), 4U);
    copy_octets(out.all().data() + 4, payload.data(), 2);
    EXPECT_EQ(walk(out, Direction::kDownlink), (std::vector<Seen>{{channel, Kind::kSdu, "aabb"}}));
  }
  HeapOctets big(400);
  ASSERT_EQ(write_extended_subheader(big, 1000, 395), 5U);
  EXPECT_EQ(walk(big, Direction::kUplink).at(0).payload.size(), 790U);
  EXPECT_EQ(write_extended_subheader(big, 319, 1), 0U);
  EXPECT_EQ(write_extended_subheader(big, 65856, 1), 0U);
  EXPECT_EQ(write_extended_subheader(big, 320, 0x10000), 0U);
}

TEST(Mac, refuses_to_write_a_subheader_of_the_wrong_form) {
  HeapOctets out(8);
  EXPECT_EQ(write_subheader(out, Direction::kDownlink, dl::kTimingAdvance, 1), 0U);
  EXPECT_EQ(write_subheader(out, Direction::kUplink, kLcidCcch, 8), 0U);
  EXPECT_EQ(write_subheader(out, Direction::kDownlink, kLcidCcch, 8), 2U);
  EXPECT_EQ(write_subheader(out, Direction::kDownlink, 35, 8), 0U);
  EXPECT_EQ(write_subheader(out, Direction::kDownlink, kLcidTwoOctetElcid, 8), 0U);
  EXPECT_EQ(write_subheader(out, Direction::kDownlink, 4, 0x10000), 0U);
  EXPECT_EQ(write_subheader(out, Direction::kDownlink, 4, 0xFFFF), 3U);
  EXPECT_EQ(write_subheader(out, Direction::kDownlink, 4, 255), 2U);
  EXPECT_EQ(write_subheader(out, Direction::kDownlink, 4, 256), 3U);
  EXPECT_EQ(write_fixed_subheader(out, Direction::kDownlink, 4), 0U);
  EXPECT_EQ(write_fixed_subheader(out, Direction::kDownlink, kLcidPadding), 0U);
  EXPECT_EQ(write_padding(out.all().first(0)), 0U);
}

TEST(Mac, the_most_that_fits_a_room_fits_and_one_octet_more_does_not) {
  for (const std::uint32_t channel : {0U, 4U, 32U, 320U, 65855U}) {
    for (std::size_t room = 0; room < 70000; room += room < 600 ? 1 : 997) {
      const std::size_t most = most_sdu_bytes(channel, room);
      EXPECT_TRUE(most == 0 || sdu_subheader_bytes(channel, most) + most <= room) << room;
      EXPECT_TRUE(most == 0xFFFF || sdu_subheader_bytes(channel, most + 1) + most + 1 > room) << room;
    }
  }
  EXPECT_EQ(most_sdu_bytes(4, 257), 255U);
  EXPECT_EQ(most_sdu_bytes(4, 258), 255U);
  EXPECT_EQ(most_sdu_bytes(4, 259), 256U);
}

TEST(Mac, subheaders_that_are_put_without_a_check_are_those_that_are_written) {
  for (const std::size_t length : {0U, 1U, 255U, 256U, 65535U}) {
    for (const std::uint32_t channel : {0U, 4U, 32U, 320U, 65855U}) {
      HeapOctets put(sdu_subheader_bytes(channel, length)), checked(sdu_subheader_bytes(channel, length));
      EXPECT_EQ(put_sdu_subheader(put.all().data(), channel, length), put.all().data() + put.all().size());
      const std::size_t written =
          channel < kFirstExtendedLcid
              ? write_subheader(checked, Direction::kDownlink, static_cast<std::uint8_t>(channel), length)
              : write_extended_subheader(checked, channel, length);
      EXPECT_EQ(written, put.all().size());
      EXPECT_EQ(test::to_hex(put), test::to_hex(checked));
    }
  }
}

RC_GTEST_PROP(Mac, blocks_of_any_sdus_are_read_back, (bool downlink)) {
  const Direction direction = downlink ? Direction::kDownlink : Direction::kUplink;
  const auto sizes =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::element<std::size_t>(0, 1, 2, 255, 256, 300));
  const auto padding = *rc::gen::inRange<std::size_t>(0, 5);
  std::vector<Seen> expected;
  std::size_t total = padding;
  for (const std::size_t n : sizes) total += subheader_bytes(n) + n;
  RC_PRE(total != 0U);
  HeapOctets out(total);
  Block block(out, direction);
  for (const std::size_t n : sizes) {
    const auto lcid = *rc::gen::inRange<std::uint8_t>(1, 33);
    const std::vector<std::uint8_t> payload(n, lcid);
    block.sdu(lcid, payload);
    expected.push_back({lcid, Kind::kSdu, test::to_hex(payload)});
  }
  RC_ASSERT(block.pad() == padding);
  if (padding != 0) expected.push_back({kLcidPadding, Kind::kPadding, std::string(2 * (padding - 1), '0')});
  Reason reason{};
  RC_ASSERT(walk(out, direction, &reason) == expected && reason == Reason::ok);
}

}  // namespace
}  // namespace splitplane::wire::mac
