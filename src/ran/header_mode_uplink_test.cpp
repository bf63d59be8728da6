// The uplink half of header mode: how read_uplink classifies data, control, segments and damage, and how the receive
// numbers continue through loss, reordering and wraps.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>

#include "ran/header_mode.h"
#include "ran/test_variants.h"
#include "wire/test_octets.h"

namespace splitplane::ran {
namespace {

using test::Bytes;

const Bytes kSdu{0xaa, 0xbb, 0xcc, 0xdd, 0xee};

// Calls read_uplink on heap memory that holds only airhdr and the PDU. read_uplink may read the eight octets before the
// PDU, which are airhdr, and no octet after it.
UplinkPdu read(BearerUplink& bearer, const Bytes& from_airhdr) {
  const wire::test::HeapOctets exact{wire::Octets(from_airhdr)};
  const wire::Octets all = exact;
  return read_uplink(bearer, all.data() + kAirhdrBytes, all.size() - kAirhdrBytes);
}

bool same(const BearerUplink& a, const BearerUplink& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Reads a PDU that is no data PDU: the kind is as expected, and the line is unchanged except for the control counter.
void expect_refused(const BearerConfig& config, const Bytes& from_airhdr, UplinkKind kind, const char* what) {
  BearerUplink bearer = make_uplink(config, PeerId{0});
  bearer.pdcp_rx_next = 77;
  bearer.rlc_rx_next_highest = 78;
  BearerUplink before = bearer;
  const UplinkPdu pdu = read(bearer, from_airhdr);
  EXPECT_EQ(pdu.kind, kind) << what << ": " << wire::test::to_hex(from_airhdr);
  if (kind == UplinkKind::kControl) ++before.control;
  EXPECT_TRUE(same(bearer, before)) << what << " moved the bearer's numbers";
}

class Uplink : public testing::TestWithParam<BearerConfig> {};
class UplinkNotTm : public Uplink {};  // TM does not segment
class UplinkWithSdap : public Uplink {};
class UplinkNumbers : public Uplink {};  // the uplink does not depend on pollPDU

TEST_P(Uplink, a_data_pdu_is_taken_with_its_qfi) {
  const BearerConfig& config = GetParam();
  BearerUplink bearer = make_uplink(config, PeerId{0});
  for (std::uint32_t n = 0; n < 70; ++n) {
    const Qfi qfi{static_cast<std::uint8_t>(n % 64)};
    const UplinkPdu pdu = read(bearer, test::uplink_pdu(config, n, n, qfi, kSdu, n % 2 == 0));
    ASSERT_EQ(pdu.kind, UplinkKind::kData);
    EXPECT_EQ(pdu.qfi, config.sdap_header_ul ? qfi.value : config.qfi.value);
    EXPECT_EQ(bearer.pdcp_rx_next, n + 1);
    EXPECT_EQ(bearer.rlc_rx_next_highest, config.rlc_mode == RlcMode::kAm ? n + 1 : 0);
  }
  EXPECT_EQ(bearer.received, 70U);
  EXPECT_EQ(bearer.bytes, 70 * kSdu.size());
}

TEST_P(Uplink, the_sdu_begins_behind_header_bytes) {
  const BearerConfig& config = GetParam();
  const BearerUplink bearer = make_uplink(config, PeerId{0});
  const Bytes frame = test::uplink_pdu(config, 3, 3, Qfi{1}, kSdu);
  EXPECT_EQ(Bytes(frame.begin() + static_cast<std::ptrdiff_t>(kAirhdrBytes + bearer.header_bytes), frame.end()), kSdu);
}

TEST_P(Uplink, reserved_bits_are_ignored) {
  const BearerConfig& config = GetParam();
  BearerUplink bearer = make_uplink(config, PeerId{0});
  Bytes frame = test::uplink_pdu(config, 5, 6, Qfi{2}, kSdu);
  std::size_t at = kAirhdrBytes;
  if (config.rlc_mode == RlcMode::kAm) {
    if (config.rlc_sn_bits == 18) frame[at] |= 0x0c;
    at += config.rlc_sn_bits == 18 ? 3 : 2;
  } else if (config.rlc_mode == RlcMode::kUm) {
    frame[at++] |= 0x3f;
  }
  frame[at] = static_cast<std::uint8_t>(frame[at] | (config.pdcp_sn_bits == 18 ? 0x7c : 0x70));
  at += config.pdcp_sn_bits == 18 ? 3 : 2;
  if (config.sdap_header_ul) frame[at] |= 0x40;
  const UplinkPdu pdu = read(bearer, frame);
  ASSERT_EQ(pdu.kind, UplinkKind::kData);
  EXPECT_EQ(pdu.qfi, config.sdap_header_ul ? 2 : config.qfi.value);
  EXPECT_EQ(bearer.pdcp_rx_next, 6U);
}

TEST_P(Uplink, every_truncation_is_too_short_until_the_first_octet_of_the_sdu) {
  const BearerConfig& config = GetParam();
  const Bytes frame = test::uplink_pdu(config, 3, 3, Qfi{1}, kSdu);
  const std::size_t headers = frame.size() - kSdu.size();
  for (std::size_t bytes = kAirhdrBytes; bytes <= headers; ++bytes) {
    expect_refused(config, {frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes)}, UplinkKind::kTooShort,
                   "a piece");
  }
  for (std::size_t bytes = headers + 1; bytes <= frame.size(); ++bytes) {
    BearerUplink bearer = make_uplink(config, PeerId{0});
    EXPECT_EQ(read(bearer, {frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes)}).kind,
              UplinkKind::kData);
    EXPECT_EQ(bearer.bytes, bytes - headers);
  }
}

TEST_P(UplinkNotTm, segments_are_told_apart_from_complete_sdus) {
  const BearerConfig& config = GetParam();
  for (const auto si : {wire::rlc::Segment::kFirst, wire::rlc::Segment::kMiddle, wire::rlc::Segment::kLast}) {
    for (std::size_t data = 1; data < 12; ++data) {
      Bytes frame;
      test::put_airhdr(frame, config, Direction::kUplink);
      test::put_rlc(frame, config, 9, true, si);
      for (std::size_t i = 0; i < data; ++i) frame.push_back(static_cast<std::uint8_t>(0x80 + i));
      expect_refused(config, frame, UplinkKind::kSegment, "a segment");
    }
  }
}

TEST_P(Uplink, pdcp_control_is_recognised) {
  const BearerConfig& config = GetParam();
  for (const char* control : {"0000000005", "0000000005b0", "10201122", "1000"}) {
    Bytes frame;
    test::put_airhdr(frame, config, Direction::kUplink);
    test::put_rlc(frame, config, 9, false);
    const Bytes octets = wire::test::from_hex(control);
    frame.insert(frame.end(), octets.begin(), octets.end());
    expect_refused(config, frame, UplinkKind::kPdcpControl, "PDCP control");
  }
}

TEST_P(UplinkWithSdap, an_sdap_end_marker_is_no_sdu) {
  const BearerConfig& config = GetParam();
  Bytes frame;
  test::put_airhdr(frame, config, Direction::kUplink);
  test::put_rlc(frame, config, 9, false);
  test::put_pdcp(frame, config, 9);
  frame.push_back(wire::sdap::encode(wire::sdap::UplinkHeader{.is_data = false, .qfi = Qfi{5}}));
  expect_refused(config, frame, UplinkKind::kSdapEndMarker, "an end marker");
}

TEST_P(Uplink, rlc_control_exists_in_am_only) {
  const BearerConfig& config = GetParam();
  for (const char* status : {"00", "000a00", "000a800070", "0aaf3eaaf3500005ffff"}) {
    Bytes frame;
    test::put_airhdr(frame, config, Direction::kUplink);
    const Bytes octets = wire::test::from_hex(status);
    frame.insert(frame.end(), octets.begin(), octets.end());
    if (config.rlc_mode == RlcMode::kAm) {
      expect_refused(config, frame, UplinkKind::kControl, "a STATUS PDU");
    } else {
      BearerUplink bearer = make_uplink(config, PeerId{0});
      EXPECT_NE(read(bearer, frame).kind, UplinkKind::kControl);
      EXPECT_EQ(bearer.control, 0U);
    }
  }
}

TEST_P(Uplink, random_octets_are_judged_without_reading_too_far) {
  const BearerConfig& config = GetParam();
  EXPECT_TRUE(rc::check([&config] {
    const auto pdu = *rc::gen::container<Bytes>(rc::gen::arbitrary<std::uint8_t>());
    Bytes frame;
    test::put_airhdr(frame, config, Direction::kUplink);
    frame.insert(frame.end(), pdu.begin(), pdu.end());
    BearerUplink bearer = make_uplink(config, PeerId{0});
    const BearerUplink before = bearer;
    const UplinkPdu got = read(bearer, frame);
    RC_ASSERT(got.kind == UplinkKind::kControl || got.kind == UplinkKind::kData || same(bearer, before));
    RC_ASSERT(got.kind != UplinkKind::kData || (pdu.size() > bearer.header_bytes && got.qfi <= 63));
  }));
}

// Loss, duplicates and reordering within half a number space: the highest number seen, plus one, counts.
TEST_P(UplinkNumbers, receive_numbers_follow_the_highest_count_through_loss_and_wraps) {
  const BearerConfig& config = GetParam();
  EXPECT_TRUE(rc::check([&config] {
    const bool am = config.rlc_mode == RlcMode::kAm;
    const std::int64_t window = std::int64_t{1} << (config.pdcp_sn_bits - 1);
    const std::int64_t rlc_window = am ? std::int64_t{1} << (config.rlc_sn_bits - 1) : window;
    const std::int64_t reach = std::min(window, rlc_window);
    std::int64_t next = *rc::gen::inRange<std::int64_t>(window, 0x7fff0000);  // RX_NEXT in the model
    const std::int64_t rlc_offset = *rc::gen::inRange<std::int64_t>(0, 0x40000000);
    BearerUplink bearer = make_uplink(config, PeerId{0});
    bearer.pdcp_rx_next = static_cast<std::uint32_t>(next);
    bearer.rlc_rx_next_highest = am ? static_cast<std::uint32_t>(next + rlc_offset) : 0;
    for (const std::int64_t step : *rc::gen::container<std::vector<std::int64_t>>(
             rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-5, 6), rc::gen::inRange<std::int64_t>(-reach, reach),
                            rc::gen::element<std::int64_t>(-reach, reach - 1)))) {
      const std::int64_t count = next + step;
      if (count < 0) continue;
      const auto pdu = test::uplink_pdu(config, static_cast<std::uint32_t>(count),
                                        static_cast<std::uint32_t>(count + rlc_offset), Qfi{1}, kSdu);
      RC_ASSERT(read(bearer, pdu).kind == UplinkKind::kData);
      next = std::max(next, count + 1);
      RC_ASSERT(bearer.pdcp_rx_next == static_cast<std::uint32_t>(next));
      RC_ASSERT(bearer.rlc_rx_next_highest == (am ? static_cast<std::uint32_t>(next + rlc_offset) : 0));
    }
  }));
}

TEST_P(Uplink, a_number_half_a_space_ahead_counts_as_old) {
  const BearerConfig& config = GetParam();
  const std::uint32_t half = 1U << (config.pdcp_sn_bits - 1);
  BearerUplink bearer = make_uplink(config, PeerId{0});
  bearer.pdcp_rx_next = 10 * half;
  (void)read(bearer, test::uplink_pdu(config, 11 * half, 0, Qfi{1}, kSdu));
  EXPECT_EQ(bearer.pdcp_rx_next, 10 * half);
  (void)read(bearer, test::uplink_pdu(config, 11 * half - 1, 0, Qfi{1}, kSdu));
  EXPECT_EQ(bearer.pdcp_rx_next, 11 * half);
}

INSTANTIATE_TEST_SUITE_P(AllVariants, Uplink, testing::ValuesIn(test::all_variants()));
INSTANTIATE_TEST_SUITE_P(Variants, UplinkNotTm, testing::ValuesIn(test::variants_where([](const BearerConfig& c) {
                           return c.rlc_mode != RlcMode::kTm;
                         })));
INSTANTIATE_TEST_SUITE_P(Variants, UplinkWithSdap, testing::ValuesIn(test::variants_where([](const BearerConfig& c) {
                           return c.sdap_header_ul;
                         })));
INSTANTIATE_TEST_SUITE_P(Variants, UplinkNumbers, testing::ValuesIn(test::variants_where([](const BearerConfig& c) {
                           return c.poll_pdu == 0;
                         })));

}  // namespace
}  // namespace splitplane::ran
