#include "wire/pdcp.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/sdap.h"
#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire {
namespace {

using test::example;
using test::from_hex;
using test::HeapOctets;

TEST(Pdcp, data_header_and_sdap_header_of_example_s1) {
  const HeapOctets in(from_hex(example("S1").hex));
  const auto h = pdcp::parse_data(in, 18);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->sn, 5U);
  EXPECT_EQ(h->header_bytes, 3);
  const auto sdap = sdap::parse_downlink(Octets(in).subspan(3));
  ASSERT_TRUE(sdap);
  EXPECT_TRUE(sdap->rdi);
  EXPECT_FALSE(sdap->rqi);
  EXPECT_EQ(sdap->qfi, Qfi{9});
  EXPECT_EQ(test::written(3, [](MutableOctets out) { return pdcp::write_data(out, 18, 5); }), "800005");
  EXPECT_EQ(test::written(1, [&](MutableOctets out) { return sdap::write(out, *sdap); }), "89");
}

TEST(Pdcp, uplink_data_of_example_s2_and_end_marker_of_s3) {
  const HeapOctets s2(from_hex(example("S2").hex));
  EXPECT_EQ(pdcp::parse_data(s2, 12)->sn, 0xabcU);
  const auto data = sdap::parse_uplink(Octets(s2).subspan(2));
  ASSERT_TRUE(data);
  EXPECT_TRUE(data->is_data);
  EXPECT_EQ(data->qfi, Qfi{5});
  const HeapOctets s3(from_hex(example("S3").hex));
  const auto end = sdap::parse_uplink(Octets(s3).subspan(3));
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->is_data);
  EXPECT_EQ(end->qfi, Qfi{5});
  EXPECT_EQ(test::written(2, [](MutableOctets out) { return pdcp::write_data(out, 12, 0xabc); }), "8abc");
  EXPECT_EQ(test::written(1, [&](MutableOctets out) { return sdap::write(out, *data); }), "85");
  EXPECT_EQ(test::written(1, [&](MutableOctets out) { return sdap::write(out, *end); }), "05");
}

TEST(Pdcp, headers_of_the_ciphered_examples) {
  EXPECT_EQ(pdcp::parse_data(HeapOctets(from_hex(example("C1").hex)), 18)->sn, 0U);
  EXPECT_EQ(pdcp::parse_data(HeapOctets(from_hex(example("C2").hex)), 12)->sn, 1U);
  EXPECT_EQ(pdcp::parse_data(HeapOctets(from_hex(example("C3").hex)), 18)->sn, 7U);
  EXPECT_EQ(pdcp::parse_data(HeapOctets(from_hex(example("C4").hex)), 18)->sn, 0U);
  EXPECT_EQ(pdcp::parse_data(HeapOctets(from_hex(example("C5").hex)), 12)->sn, 1U);
}

TEST(Pdcp, status_report_without_bitmap_of_example_p1) {
  const HeapOctets in(from_hex(example("P1").hex));
  const auto r = pdcp::parse_status_report(in);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->fmc, Count{5});
  EXPECT_TRUE(r->bitmap.empty());
  EXPECT_TRUE(r->confirms(Count{4}));
  EXPECT_FALSE(r->confirms(Count{5}));
  EXPECT_FALSE(r->confirms(Count{6}));
  EXPECT_EQ(test::written(5, [](MutableOctets out) { return pdcp::write_status_report(out, Count{5}, 0); }),
            test::tidy(example("P1").hex));
}

TEST(Pdcp, status_report_with_bitmap_of_example_p2) {
  const HeapOctets in(from_hex(example("P2").hex));
  const auto r = pdcp::parse_status_report(in);
  ASSERT_TRUE(r);
  for (const std::uint32_t count : {6U, 8U, 9U, 4U, 0U}) EXPECT_TRUE(r->confirms(Count{count})) << count;
  for (const std::uint32_t count : {5U, 7U, 10U, 13U, 14U, 0xFFFFFFFFU}) EXPECT_FALSE(r->confirms(Count{count}));
  HeapOctets out(6);
  ASSERT_EQ(pdcp::write_status_report(out, Count{5}, 1), 6U);
  for (const std::uint32_t k : {1U, 3U, 4U}) EXPECT_TRUE(pdcp::mark_received(out, k));
  EXPECT_FALSE(pdcp::mark_received(out, 0)) << "FMC itself is missing";
  EXPECT_FALSE(pdcp::mark_received(out, 9)) << "beyond the bitmap";
  EXPECT_EQ(test::to_hex(out), test::tidy(example("P2").hex));
}

TEST(Pdcp, rohc_feedback_of_example_p3) {
  const HeapOctets in(from_hex(example("P3").hex));
  const auto f = pdcp::parse_rohc_feedback(in);
  ASSERT_TRUE(f);
  EXPECT_EQ(test::to_hex(*f), "201122");
  EXPECT_EQ(test::written(4, [&](MutableOctets out) { return pdcp::write_rohc_feedback(out, *f); }),
            test::tidy(example("P3").hex));
}

TEST(Pdcp, srb_header_has_no_dc_bit) {
  EXPECT_EQ(pdcp::parse_srb(HeapOctets(from_hex("0abc 01 00000000")))->sn, 0xabcU);
  EXPECT_EQ(pdcp::parse_srb(HeapOctets(from_hex("0abc 000000"))).reason, Reason::pdcp_truncated);
  EXPECT_EQ(test::written(2, [](MutableOctets out) { return pdcp::write_srb(out, 0xFFF); }), "0fff");
  HeapOctets out(2);
  EXPECT_EQ(pdcp::write_srb(out, 0x1000), 0U);
}

TEST(Pdcp, every_truncation_inside_a_header_is_refused) {
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(pdcp::parse_data(HeapOctets(Octets(from_hex("800005")).first(n)), 18).reason, Reason::pdcp_truncated);
  }
  for (std::size_t n = 0; n < 5; ++n) {
    EXPECT_EQ(pdcp::parse_status_report(HeapOctets(Octets(from_hex("0000000005")).first(n))).reason,
              Reason::pdcp_truncated);
  }
}

TEST(Pdcp, bad_input_gives_the_right_reason) {
  EXPECT_EQ(pdcp::parse_data(HeapOctets(from_hex("8000")), 15).reason, Reason::pdcp_bad_sn_length);
  EXPECT_EQ(pdcp::parse_data(HeapOctets(from_hex("0000000005")), 12).reason, Reason::pdcp_not_data);
  EXPECT_EQ(pdcp::parse_control(HeapOctets(from_hex("8000"))).reason, Reason::pdcp_not_control);
  EXPECT_EQ(pdcp::parse_status_report(HeapOctets(from_hex("10201122"))).reason, Reason::pdcp_control_type_unknown);
  EXPECT_EQ(pdcp::parse_rohc_feedback(HeapOctets(from_hex("0000000005"))).reason, Reason::pdcp_control_type_unknown);
  EXPECT_EQ(pdcp::parse_rohc_feedback(HeapOctets(from_hex("10"))).reason, Reason::pdcp_empty_feedback);
  const auto ehc = pdcp::parse_control(HeapOctets(from_hex("2000")));
  EXPECT_EQ(ehc.reason, Reason::pdcp_control_type_unknown);
  EXPECT_EQ(*ehc, pdcp::ControlType::kEhcFeedback);
  EXPECT_EQ(sdap::parse_downlink(HeapOctets(0)).reason, Reason::sdap_truncated);
  EXPECT_EQ(sdap::parse_uplink(HeapOctets(0)).reason, Reason::sdap_truncated);
  EXPECT_EQ(sdap::parse_uplink(HeapOctets(from_hex("0500"))).reason, Reason::sdap_bad_control);
}

TEST(Pdcp, limits) {
  HeapOctets big(9001);
  EXPECT_TRUE(pdcp::parse_status_report(Octets(big).first(9000)));
  EXPECT_EQ(pdcp::parse_status_report(big).reason, Reason::pdcp_control_too_long);
  EXPECT_EQ(pdcp::write_status_report(big, Count{0xFFFFFFFF}, 8995), 9000U);
  EXPECT_EQ(pdcp::write_status_report(big, Count{0}, 8996), 0U);
  EXPECT_EQ(pdcp::write_rohc_feedback(big, std::vector<std::uint8_t>(9000)), 0U);
  EXPECT_EQ(pdcp::write_data(big, 12, 0xFFF), 2U);
  EXPECT_EQ(pdcp::write_data(big, 12, 0x1000), 0U);
  EXPECT_EQ(pdcp::write_data(big, 18, 0x3FFFF), 3U);
  EXPECT_EQ(pdcp::write_data(big, 18, 0x40000), 0U);
  EXPECT_EQ(pdcp::write_data(big, 15, 0), 0U);
  EXPECT_EQ(sdap::write(big, sdap::UplinkHeader{true, Qfi{64}}), 0U);
}

RC_GTEST_PROP(Pdcp, data_headers_are_read_back, (bool sn18, std::uint32_t any)) {
  const unsigned sn_bits = sn18 ? 18 : 12;
  const std::uint32_t sn = any & ((1U << sn_bits) - 1);
  HeapOctets out(sn18 ? 3 : 2);
  RC_ASSERT(pdcp::write_data(out, sn_bits, sn) == pdcp::header_bytes(sn_bits));
  const auto h = pdcp::parse_data(out, sn_bits);
  RC_ASSERT(h && h->sn == sn && h->header_bytes == pdcp::header_bytes(sn_bits));
}

RC_GTEST_PROP(Pdcp, status_reports_confirm_exactly_what_was_marked, ()) {
  const auto fmc = *rc::gen::inRange<std::uint32_t>(0, 0xFFFF0000);
  const auto received = *rc::gen::container<std::vector<bool>>(rc::gen::arbitrary<bool>());
  HeapOctets out(5 + (received.size() + 7) / 8);
  RC_ASSERT(pdcp::write_status_report(out, Count{fmc}, (received.size() + 7) / 8) == Octets(out).size());
  for (std::uint32_t i = 0; i < received.size(); ++i) {
    if (received[i]) RC_ASSERT(pdcp::mark_received(out, i + 1));
  }
  const auto r = pdcp::parse_status_report(out);
  RC_ASSERT(r && r->fmc == Count{fmc} && !r->confirms(Count{fmc}));
  for (std::uint32_t i = 0; i < received.size(); ++i) RC_ASSERT(r->confirms(Count{fmc + 1 + i}) == received[i]);
}

RC_GTEST_PROP(Sdap, headers_are_read_back, (bool first, bool second)) {
  const Qfi qfi{*rc::gen::inRange<std::uint8_t>(0, 64)};
  HeapOctets out(1);
  RC_ASSERT(sdap::write(out, sdap::DownlinkHeader{first, second, qfi}) == 1U);
  const auto dl = sdap::parse_downlink(out);
  RC_ASSERT(dl && dl->rdi == first && dl->rqi == second && dl->qfi == qfi);
  RC_ASSERT(sdap::write(out, sdap::UplinkHeader{first, qfi}) == 1U);
  const auto ul = sdap::parse_uplink(out);
  RC_ASSERT(ul && ul->is_data == first && ul->qfi == qfi);
}

}  // namespace
}  // namespace splitplane::wire
