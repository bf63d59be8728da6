#include "wire/gtpu.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire::gtpu {
namespace {

using test::example;
using test::from_hex;
using test::HeapOctets;

constexpr std::size_t kInnerBytes = 30;

std::vector<std::uint8_t> changed(std::string_view hex, std::size_t at, std::uint8_t value) {
  auto octets = from_hex(hex);
  octets.at(at) = value;
  return octets;
}

TEST(Gtpu, plain_gpdu_of_example_g1) {
  const HeapOctets in(from_hex(example("G1").hex));
  const auto h = parse(in);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->message_type, kGpdu);
  EXPECT_EQ(h->teid, Teid{0x01020304});
  EXPECT_EQ(h->payload_offset, 8U);
  EXPECT_EQ(test::to_hex(payload(in, *h)), SPLITPLANE_TEST_IP);
  EXPECT_FALSE(h->has_psc);
  EXPECT_FALSE(h->has_sequence_number());
  EXPECT_EQ(test::written(8, [](MutableOctets out) { return write_gpdu(out, Teid{0x01020304}, kInnerBytes); }),
            test::tidy(example("G1").hex).substr(0, 16));
}

TEST(Gtpu, downlink_psc_of_example_g2) {
  const HeapOctets in(from_hex(example("G2").hex));
  const auto h = parse(in);
  ASSERT_TRUE(h);
  EXPECT_TRUE(h->has_psc);
  EXPECT_EQ(h->psc.type, psc::PduType::kDownlink);
  EXPECT_EQ(h->psc.qfi, Qfi{9});
  EXPECT_TRUE(h->psc.rqi);
  EXPECT_EQ(h->payload_offset, 16U);
  EXPECT_EQ(h->payload_bytes, kInnerBytes);
  EXPECT_EQ(
      test::written(
          16, [](MutableOctets out) { return write_gpdu_psc_dl(out, Teid{0x01020304}, kInnerBytes, Qfi{9}, true); }),
      test::tidy(example("G2").hex).substr(0, 32));
}

TEST(Gtpu, uplink_psc_of_example_g3) {
  const auto h = parse(HeapOctets(from_hex(example("G3").hex)));
  ASSERT_TRUE(h);
  EXPECT_EQ(h->teid, Teid{0x0a0b0c0d});
  EXPECT_EQ(h->psc.type, psc::PduType::kUplink);
  EXPECT_EQ(h->psc.qfi, Qfi{9});
  EXPECT_EQ(test::written(
                16, [](MutableOctets out) { return write_gpdu_psc_ul(out, Teid{0x0a0b0c0d}, kInnerBytes, Qfi{9}); }),
            test::tidy(example("G3").hex).substr(0, 32));
}

TEST(Gtpu, paging_policy_of_example_g4) {
  const auto h = parse(HeapOctets(from_hex(example("G4").hex)));
  ASSERT_TRUE(h);
  EXPECT_TRUE(h->psc.has_ppi);
  EXPECT_EQ(h->psc.ppi, 3);
  EXPECT_EQ(h->psc_bytes, 6);
  EXPECT_EQ(h->payload_offset, 20U);
  const auto written = test::written(20, [](MutableOctets out) -> std::size_t {
    std::array<std::uint8_t, 6> content{};
    const psc::Content psc{.flow = {.qfi = Qfi{9}, .has_ppi = true, .ppi = 3}};
    const Extension extension{kExtensionPsc, Octets(content).first(psc::write(content, psc))};
    return write(out, Fields{.teid = Teid{0x01020304}}, std::span(&extension, 1), kInnerBytes);
  });
  EXPECT_EQ(written, test::tidy(example("G4").hex).substr(0, 40));
}

TEST(Gtpu, chain_of_two_extension_headers_of_example_g5) {
  const auto h = parse(HeapOctets(from_hex(example("G5").hex)));
  ASSERT_TRUE(h);
  EXPECT_EQ(h->extension_count, 2);
  EXPECT_TRUE(h->has_pdcp_number);
  EXPECT_EQ(h->pdcp_number, 42U);
  EXPECT_EQ(h->psc.qfi, Qfi{5});
  EXPECT_EQ(h->payload_bytes, kInnerBytes);
  const auto written = test::written(20, [](MutableOctets out) {
    const auto number = from_hex("002a");
    const auto psc = from_hex("0005");
    const std::array<Extension, 2> extensions{{{kExtensionPdcpNumber, number}, {kExtensionPsc, psc}}};
    return write(out, Fields{.teid = Teid{0x01020304}}, extensions, kInnerBytes);
  });
  EXPECT_EQ(written, test::tidy(example("G5").hex).substr(0, 40));
}

TEST(Gtpu, octets_behind_the_length_are_not_payload) {
  auto octets = from_hex(example("G2").hex);
  octets.resize(octets.size() + 7, 0xEE);
  const HeapOctets in(octets);
  const auto h = parse(in);
  ASSERT_TRUE(h);
  EXPECT_EQ(test::to_hex(payload(in, *h)), SPLITPLANE_TEST_IP);
}

TEST(Gtpu, fields_without_their_flag_are_not_evaluated) {
  const auto h = parse(HeapOctets(from_hex("31ff0004 01020304 abcd 07 85")));
  ASSERT_TRUE(h);
  EXPECT_EQ(h->sequence_number, 0);
  EXPECT_EQ(h->n_pdu_number, 7);
  EXPECT_EQ(h->extension_count, 0) << "E is 0: the type octet means nothing";
}

TEST(Gtpu, every_truncation_is_refused) {
  for (const char* id : {"G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10"}) {
    for (const test::Example& e : test::kExamples) {
      if (e.id != id) continue;
      const auto whole = from_hex(e.hex);
      ASSERT_TRUE(parse(HeapOctets(whole)));
      for (std::size_t n = 0; n < whole.size(); ++n) {
        const auto reason = parse(HeapOctets(Octets(whole).first(n))).reason;
        EXPECT_EQ(reason, n < 8 ? Reason::gtpu_truncated : Reason::gtpu_bad_length) << id << " " << n;
      }
    }
  }
}

TEST(Gtpu, bad_input_gives_the_right_reason) {
  const std::string_view g2 = example("G2").hex;
  EXPECT_EQ(parse(HeapOctets(changed(g2, 0, 0x54))).reason, Reason::gtpu_bad_version);
  EXPECT_EQ(parse(HeapOctets(changed(g2, 0, 0x24))).reason, Reason::gtpu_not_gtp);
  EXPECT_EQ(parse(HeapOctets(from_hex("34ff0003 01020304 000000 00"))).reason, Reason::gtpu_bad_length);
  EXPECT_EQ(parse(HeapOctets(changed(g2, 12, 0))).reason, Reason::gtpu_extension_bad_length);
  EXPECT_EQ(parse(HeapOctets(changed(g2, 12, 10))).reason, Reason::gtpu_extension_bad_length);
  EXPECT_EQ(parse(HeapOctets(from_hex("34ff0004 01020304 00000085"))).reason, Reason::gtpu_extension_bad_length)
      << "a type, but no header";
  EXPECT_EQ(parse(HeapOctets(changed(g2, 13, 0x20))).reason, Reason::psc_bad_type);
  EXPECT_EQ(parse(HeapOctets(changed(g2, 14, 0x89))).reason, Reason::psc_truncated);
  EXPECT_EQ(parse(HeapOctets(from_hex("34ff0008 01020304 00000082 01000000"))).reason,
            Reason::gtpu_extension_bad_length)
      << "a long PDCP PDU number has 8 octets";
}

TEST(Gtpu, unknown_extension_headers_follow_their_comprehension_bits) {
  for (unsigned type = 1; type < 256; ++type) {
    const bool known = type == 0x03 || type == 0x20 || type == 0x40 || (type >= 0x81 && type <= 0x85) || type == 0xC0;
    if (known) continue;
    const auto h = parse(HeapOctets(changed(example("G2").hex, 11, static_cast<std::uint8_t>(type))));
    EXPECT_EQ(h.reason, type >= 0x80 ? Reason::gtpu_extension_unknown_required : Reason::ok) << type;
    EXPECT_EQ(h->unknown_extension, type);
    EXPECT_EQ(h->teid, Teid{0x01020304}) << "valid also on refusal, for the answer";
  }
}

TEST(Gtpu, long_pdcp_number_and_nr_container_are_found) {
  const auto h = parse(HeapOctets(from_hex("34ff0014 01020304 00000082 020 2abcd 000000 84 02 000000000000 00 ")));
  ASSERT_TRUE(h);
  EXPECT_EQ(h->pdcp_number, 0x2abcdU);
  EXPECT_EQ(h->nr_container_bytes, 6);
  EXPECT_EQ(h->nr_container_offset, 21U);
}

TEST(Gtpu, a_chain_of_eight_passes_and_of_nine_does_not) {
  for (const unsigned headers : {kMaxExtensions, kMaxExtensions + 1}) {
    const std::vector<Extension> extensions(headers, Extension{kExtensionServiceClass, {}});
    HeapOctets out(12 + 4 * headers);
    ASSERT_EQ(write(out, Fields{}, extensions, 0), 12 + 4 * headers);
    EXPECT_EQ(parse(out).reason, headers == kMaxExtensions ? Reason::ok : Reason::gtpu_extension_chain_too_long);
  }
}

TEST(Gtpu, the_first_of_two_containers_counts) {
  const auto h = parse(HeapOctets(from_hex("34ff000c 01020304 00000085 01000585 01000900")));
  ASSERT_TRUE(h);
  EXPECT_EQ(h->psc.qfi, Qfi{5});
}

TEST(Gtpu, refuses_to_write_beyond_its_limits) {
  HeapOctets out(2000);
  EXPECT_EQ(write_gpdu(out, Teid{0xFFFFFFFF}, 0xFFFF), 8U);
  EXPECT_EQ(write_gpdu(out, Teid{1}, 0x10000), 0U);
  EXPECT_EQ(write_gpdu_psc_ul(out, Teid{0xFFFFFFFF}, 0xFFFF - 8, Qfi{63}), 16U);
  EXPECT_EQ(write_gpdu_psc_ul(out, Teid{1}, 0xFFFF - 7, Qfi{63}), 0U);
  EXPECT_EQ(write_gpdu_psc_ul(out, Teid{1}, 0, Qfi{64}), 0U);
  EXPECT_EQ(write_gpdu_psc_dl(out, Teid{1}, 0, Qfi{64}), 0U);
  const std::vector<std::uint8_t> content(1019);
  Extension longest{kExtensionPsc, Octets(content).first(1018)};
  EXPECT_EQ(write(out, Fields{}, std::span(&longest, 1), 0), 12U + 1020U);
  longest.content = content;
  EXPECT_EQ(write(out, Fields{}, std::span(&longest, 1), 0), 0U);
  const Extension untyped{0, {}};
  EXPECT_EQ(write(out, Fields{}, std::span(&untyped, 1), 0), 0U);
}

RC_GTEST_PROP(Gtpu, what_is_written_is_read_back, ()) {
  Fields f;
  f.message_type = *rc::gen::arbitrary<std::uint8_t>();
  f.teid = Teid{*rc::gen::arbitrary<std::uint32_t>()};
  f.has_sequence_number = *rc::gen::arbitrary<bool>();
  f.has_n_pdu_number = *rc::gen::arbitrary<bool>();
  if (f.has_sequence_number) f.sequence_number = *rc::gen::arbitrary<std::uint16_t>();
  if (f.has_n_pdu_number) f.n_pdu_number = *rc::gen::arbitrary<std::uint8_t>();
  const auto qfi = *rc::gen::inRange<std::uint8_t>(0, 64);
  const auto with_psc = *rc::gen::arbitrary<bool>();
  const auto others = *rc::gen::inRange(0, 4);
  const auto size = *rc::gen::inRange<std::size_t>(0, 1019);
  const std::vector<std::uint8_t> filler(size, 0xA5);
  const std::array<std::uint8_t, 2> psc{0x10, qfi};
  std::vector<Extension> extensions(static_cast<std::size_t>(others), Extension{0x12, filler});
  if (with_psc) extensions.push_back({kExtensionPsc, psc});
  const auto payload_bytes = *rc::gen::inRange<std::size_t>(0, 100);
  HeapOctets scratch(8192);
  const std::size_t header = write(scratch, f, extensions, payload_bytes);
  RC_ASSERT(header >= 8U);
  HeapOctets out(header + payload_bytes);
  RC_ASSERT(write(out, f, extensions, payload_bytes) == header);
  const auto h = parse(out);
  RC_ASSERT(static_cast<bool>(h));
  RC_ASSERT(h->message_type == f.message_type && h->teid == f.teid);
  RC_ASSERT(h->has_sequence_number() == f.has_sequence_number && h->sequence_number == f.sequence_number);
  RC_ASSERT(h->has_n_pdu_number() == f.has_n_pdu_number && h->n_pdu_number == f.n_pdu_number);
  RC_ASSERT(h->extension_count == extensions.size() && h->has_psc == with_psc);
  RC_ASSERT(!with_psc || (h->psc.qfi == Qfi{qfi} && h->psc.type == psc::PduType::kUplink));
  RC_ASSERT(h->payload_offset == header && h->payload_bytes == payload_bytes);
}

}  // namespace
}  // namespace splitplane::wire::gtpu
