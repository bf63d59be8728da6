#include "wire/mac_nr.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>

#include "wire/test_octets.h"
#include "wire/test_parse_everything.h"

namespace splitplane::wire::mac_nr {
namespace {

using test::from_hex;
using test::HeapOctets;

constexpr std::string_view kSigned = "6d61632d6e72";
HeapOctets frame(std::string_view rest) {
  return HeapOctets(from_hex(std::string(kSigned).append(rest)));
}

// From oracles.md, where tshark read it.
TEST(MacNr, the_example_that_tshark_reads) {
  const HeapOctets in = frame("01 01 03 02 4601 03 0001 06 00 01 3c3f");
  const auto f = parse(in);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->header.radio_type, RadioType::kFdd);
  EXPECT_EQ(f->header.direction, Direction::kDownlink);
  EXPECT_EQ(f->header.rnti_type, RntiType::kCell);
  EXPECT_EQ(f->header.rnti, 0x4601);
  EXPECT_EQ(f->header.ue_id, 1);
  EXPECT_EQ(f->header.harq_process, 0);
  EXPECT_FALSE(f->header.slot);
  EXPECT_EQ(test::to_hex(f->pdu), "3c3f");
  EXPECT_EQ(test::written(18, [&](MutableOctets out) { return write(out, f->header); }),
            "6d61632d6e72010103024601030001060001");
}

TEST(MacNr, every_tag_is_read_and_the_unused_one_is_skipped) {
  const HeapOctets in = frame("02 00 05 04 ffff 07 03ff 004f 05 01 06 0f 03 1234 02 fff3 01 34");
  const auto f = parse(in);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->header.radio_type, RadioType::kTdd);
  EXPECT_EQ(f->header.direction, Direction::kUplink);
  EXPECT_EQ(f->header.rnti_type, RntiType::kConfigured);
  EXPECT_EQ(f->header.slot, (SlotInfo{1023, 79}));
  EXPECT_TRUE(f->header.phr_type2_other_cell);
  EXPECT_EQ(f->header.harq_process, 15);
  EXPECT_EQ(f->header.ue_id, 0x1234);
  EXPECT_EQ(f->header.rnti, 0xfff3);
}

TEST(MacNr, the_last_of_two_equal_tags_counts_and_a_pdu_may_be_empty) {
  const HeapOctets in = frame("01 00 03 06 01 06 02 01");
  const auto f = parse(in);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->header.harq_process, 2);
  EXPECT_TRUE(f->pdu.empty());
}

TEST(MacNr, bad_input_gives_the_right_reason) {
  EXPECT_EQ(parse(HeapOctets(from_hex("6d61632d6e"))).reason, Reason::mac_nr_truncated);
  EXPECT_EQ(parse(HeapOctets(from_hex("726c632d6e72010103"))).reason, Reason::mac_nr_no_signature);
  EXPECT_EQ(parse(HeapOctets(from_hex("00"))).reason, Reason::mac_nr_no_signature);
  for (const std::string_view bad : {"00 01 03 01", "03 01 03 01", "01 02 03 01", "01 01 06 01"})
    EXPECT_EQ(parse(frame(bad)).reason, Reason::mac_nr_bad_value) << bad;
  for (const std::string_view bad : {"01 01 03 00", "01 01 03 08 00", "01 01 03 06 01 ff"})
    EXPECT_EQ(parse(frame(bad)).reason, Reason::mac_nr_tag_unknown) << bad;
}

TEST(MacNr, a_frame_that_ends_before_its_pdu_is_refused_at_each_octet) {
  const auto whole =
      from_hex(std::string(kSigned).append("010103 02 4601 03 0001 04 0000 05 00 06 00 07 0001 0002 01"));
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(parse(HeapOctets(Octets(whole).first(n))).reason, Reason::mac_nr_truncated) << n;
  EXPECT_TRUE(parse(HeapOctets(whole)));
}

template <class T>
std::optional<T> any() {
  return *rc::gen::arbitrary<bool>() ? std::optional<T>(*rc::gen::arbitrary<T>()) : std::nullopt;
}

TEST(MacNr, what_is_written_is_read_back_and_one_octet_less_does_not_fit) {
  EXPECT_TRUE(rc::check("a header comes back", [] {
    Header h{.radio_type = *rc::gen::element(RadioType::kFdd, RadioType::kTdd),
             .direction = *rc::gen::element(Direction::kUplink, Direction::kDownlink),
             .rnti_type = static_cast<RntiType>(*rc::gen::inRange(0, 6)),
             .rnti = any<std::uint16_t>(),
             .ue_id = any<std::uint16_t>(),
             .harq_process = any<std::uint8_t>(),
             .phr_type2_other_cell = *rc::gen::arbitrary<bool>()};
    if (*rc::gen::arbitrary<bool>())
      h.slot = SlotInfo{*rc::gen::arbitrary<std::uint16_t>(), *rc::gen::arbitrary<std::uint16_t>()};
    const auto pdu = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
    HeapOctets room(kMaxHeaderBytes);
    const std::size_t bytes = write(room, h);
    RC_ASSERT(bytes > 0U && bytes <= kMaxHeaderBytes);
    HeapOctets tight(bytes - 1);
    RC_ASSERT(write(tight, h) == 0U);
    std::vector<std::uint8_t> whole(room.all().begin(), room.all().begin() + static_cast<std::ptrdiff_t>(bytes));
    whole.insert(whole.end(), pdu.begin(), pdu.end());
    const HeapOctets in(whole);
    const auto back = parse(in);
    RC_ASSERT(bool{back});
    RC_ASSERT(back->header.radio_type == h.radio_type && back->header.direction == h.direction);
    RC_ASSERT(back->header.rnti_type == h.rnti_type && back->header.rnti == h.rnti);
    RC_ASSERT(back->header.ue_id == h.ue_id && back->header.harq_process == h.harq_process);
    RC_ASSERT(back->header.slot == h.slot && back->header.phr_type2_other_cell == h.phr_type2_other_cell);
    RC_ASSERT(std::equal(back->pdu.begin(), back->pdu.end(), pdu.begin(), pdu.end()));
  }));
}

// Mutations that keep the signature most of the time, so that the tags and the PDU behind them are reached.
TEST(MacNr, random_mutations_are_survived) {
  const auto whole = from_hex(
      std::string(kSigned).append("010103 02 4601 03 0001 05 01 06 00 07 0001 0002 01 3c 3d5f 0407 c005aabbccddee 3f"));
  std::mt19937_64 random(3);
  unsigned accepted = 0;
  for (int run = 0; run < 200'000; ++run) {
    std::vector<std::uint8_t> octets = whole;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t from = random() % 20 == 0 ? 0 : kSignature.size();
      if (octets.size() <= from) break;
      const std::size_t at = from + random() % (octets.size() - from);
      if (random() % 4 == 0) {
        octets.resize(at);
      } else {
        octets[at] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : random() % 9);
      }
    }
    accepted += test::parse_everything(HeapOctets(octets)) != 0 ? 1 : 0;
  }
  EXPECT_GT(accepted, 1000U);
}

}  // namespace
}  // namespace splitplane::wire::mac_nr
