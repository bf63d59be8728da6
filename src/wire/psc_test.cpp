#include "wire/psc.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/test_octets.h"

namespace splitplane::wire::psc {
namespace {

using test::from_hex;
using test::HeapOctets;

TEST(Psc, downlink_flow_has_qfi_rqi_and_ppi) {
  const auto f = parse_flow(HeapOctets(from_hex("00 c9 60 000000")));
  ASSERT_TRUE(f);
  EXPECT_EQ(f->type, PduType::kDownlink);
  EXPECT_EQ(f->qfi, Qfi{9});
  EXPECT_TRUE(f->rqi);
  EXPECT_TRUE(f->has_ppi);
  EXPECT_EQ(f->ppi, 3);
}

TEST(Psc, uplink_bits_that_mean_rqi_and_ppp_in_downlink_are_not_read_as_such) {
  const auto f = parse_flow(HeapOctets(from_hex("10 c9 00000001 00 000000 0000")));
  ASSERT_TRUE(f);
  EXPECT_EQ(f->type, PduType::kUplink);
  EXPECT_EQ(f->qfi, Qfi{9});
  EXPECT_FALSE(f->rqi);
  EXPECT_FALSE(f->has_ppi);
}

TEST(Psc, reserved_types_are_refused) {
  for (unsigned type = 2; type < 16; ++type) {
    const HeapOctets octets(std::vector<std::uint8_t>{static_cast<std::uint8_t>(type << 4), 9});
    EXPECT_EQ(parse_flow(octets).reason, Reason::psc_bad_type);
    EXPECT_EQ(parse(octets).reason, Reason::psc_bad_type);
  }
}

TEST(Psc, fields_that_flags_announce_must_be_there) {
  EXPECT_EQ(parse_flow(HeapOctets(from_hex("00"))).reason, Reason::psc_truncated);
  EXPECT_EQ(parse_flow(HeapOctets(from_hex("0089"))).reason, Reason::psc_truncated) << "PPP without PPI";
  EXPECT_EQ(parse_flow(HeapOctets(from_hex("0809 00000000"))).reason, Reason::psc_truncated) << "QMP";
  EXPECT_EQ(parse_flow(HeapOctets(from_hex("0409"))).reason, Reason::psc_truncated) << "SNP";
  EXPECT_EQ(parse_flow(HeapOctets(from_hex("1809"))).reason, Reason::psc_truncated) << "UL QMP";
  EXPECT_EQ(parse(HeapOctets(from_hex("1049 01"))).reason, Reason::psc_truncated) << "new IE flag without its field";
  EXPECT_TRUE(parse(HeapOctets(from_hex("1049 00"))));
}

TEST(Psc, bits_for_later_releases_are_ignored) {
  const auto c = parse(HeapOctets(from_hex("0309")));
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->has_mbs_sequence_number);
  EXPECT_EQ(c->flow.qfi, Qfi{9});
  EXPECT_TRUE(parse(HeapOctets(from_hex("1049 fe 11223344"))));
}

Content arbitrary_content() {
  Content c;
  c.flow.type = *rc::gen::element(PduType::kDownlink, PduType::kUplink);
  c.flow.qfi = Qfi{*rc::gen::inRange<std::uint8_t>(0, 64)};
  c.has_qos_monitoring = *rc::gen::arbitrary<bool>();
  c.has_sequence_number = *rc::gen::arbitrary<bool>();
  if (c.has_qos_monitoring) c.dl_send_time = *rc::gen::arbitrary<std::uint64_t>();
  if (c.has_sequence_number) c.sequence_number = *rc::gen::inRange<std::uint32_t>(0, 1U << 24);
  if (c.flow.type == PduType::kDownlink) {
    c.flow.rqi = *rc::gen::arbitrary<bool>();
    c.flow.has_ppi = *rc::gen::arbitrary<bool>();
    if (c.flow.has_ppi) c.flow.ppi = *rc::gen::inRange<std::uint8_t>(0, 8);
    return c;
  }
  if (c.has_qos_monitoring) c.dl_receive_time = *rc::gen::arbitrary<std::uint64_t>();
  if (c.has_qos_monitoring) c.ul_send_time = *rc::gen::arbitrary<std::uint64_t>();
  c.has_dl_delay = *rc::gen::arbitrary<bool>();
  if (c.has_dl_delay) c.dl_delay = *rc::gen::arbitrary<std::uint32_t>();
  c.has_ul_delay = *rc::gen::arbitrary<bool>();
  if (c.has_ul_delay) c.ul_delay = *rc::gen::arbitrary<std::uint32_t>();
  c.has_n3_n9_delay = *rc::gen::arbitrary<bool>();
  if (c.has_n3_n9_delay) c.n3_n9_delay = *rc::gen::arbitrary<std::uint32_t>();
  c.has_new_ie_flags = *rc::gen::arbitrary<bool>();
  if (c.has_new_ie_flags) c.new_ie_flags = *rc::gen::inRange<std::uint8_t>(0, 2);
  if (c.new_ie_flags != 0) c.d1_ul_pdcp_delay = *rc::gen::arbitrary<bool>();
  return c;
}

RC_GTEST_PROP(Psc, every_combination_of_fields_is_read_back, ()) {
  const Content c = arbitrary_content();
  HeapOctets scratch(64);
  const std::size_t bytes = write(scratch, c);
  RC_ASSERT(bytes >= 2 && bytes % 4 == 2);
  HeapOctets out(bytes);
  RC_ASSERT(write(out, c) == bytes);
  RC_ASSERT(write(out.all().first(bytes - 1), c) == 0U);
  const auto b = parse(out);
  RC_ASSERT(static_cast<bool>(b));
  RC_ASSERT(b->flow.type == c.flow.type && b->flow.qfi == c.flow.qfi && b->flow.rqi == c.flow.rqi);
  RC_ASSERT(b->flow.has_ppi == c.flow.has_ppi && b->flow.ppi == c.flow.ppi);
  RC_ASSERT(b->has_qos_monitoring == c.has_qos_monitoring && b->dl_send_time == c.dl_send_time);
  RC_ASSERT(b->dl_receive_time == c.dl_receive_time && b->ul_send_time == c.ul_send_time);
  RC_ASSERT(b->has_sequence_number == c.has_sequence_number && b->sequence_number == c.sequence_number);
  RC_ASSERT(b->has_dl_delay == c.has_dl_delay && b->dl_delay == c.dl_delay);
  RC_ASSERT(b->has_ul_delay == c.has_ul_delay && b->ul_delay == c.ul_delay);
  RC_ASSERT(b->has_n3_n9_delay == c.has_n3_n9_delay && b->n3_n9_delay == c.n3_n9_delay);
  RC_ASSERT(b->has_new_ie_flags == c.has_new_ie_flags && b->new_ie_flags == c.new_ie_flags);
  RC_ASSERT(b->d1_ul_pdcp_delay == c.d1_ul_pdcp_delay);
  // The parser refuses any content shorter than the used octets and never reads past it.
  for (std::size_t n = 0; n + 3 < bytes; ++n) RC_ASSERT(!parse(HeapOctets(Octets(out).first(n))));
}

TEST(Psc, refuses_to_write_fields_out_of_range_or_of_the_other_direction) {
  HeapOctets out(64);
  EXPECT_EQ(write(out, Content{.flow = {.qfi = Qfi{64}}}), 0U);
  EXPECT_EQ(write(out, Content{.flow = {.has_ppi = true, .ppi = 8}}), 0U);
  EXPECT_EQ(write(out, Content{.flow = {}, .has_sequence_number = true, .sequence_number = 1U << 24}), 0U);
  EXPECT_EQ(write(out, Content{.flow = {.type = PduType::kUplink, .rqi = true}}), 0U);
  EXPECT_EQ(write(out, Content{.flow = {}, .has_dl_delay = true}), 0U);
  EXPECT_EQ(write(out, Content{.flow = {}, .has_mbs_sequence_number = true}), 0U);
}

}  // namespace
}  // namespace splitplane::wire::psc
