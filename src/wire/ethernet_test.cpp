#include "wire/ethernet.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::wire::ethernet {
namespace {

using test::from_hex;
using test::HeapOctets;

constexpr MacOctets kTo{2, 0, 0, 0, 0, 2};
constexpr MacOctets kFrom{2, 0, 0, 0, 0, 1};

TEST(Ethernet, untagged_frame_has_fourteen_octets_and_no_vlan) {
  const HeapOctets frame(from_hex("020000000002 020000000001 88b5"));
  const auto h = parse(frame);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->header_bytes, 14);
  EXPECT_EQ(h->ether_type, kTypeAirhdr);
  EXPECT_FALSE(h->has_vlan());
  EXPECT_EQ(h->vlan_id(), 0);
  EXPECT_EQ(test::to_hex(destination(frame)), "020000000002");
  EXPECT_EQ(test::to_hex(source(frame)), "020000000001");
}

TEST(Ethernet, qinq_frame_gives_both_tags_and_the_inner_vlan) {
  const HeapOctets frame(from_hex(test::example("E1").hex));
  const auto h = parse(frame);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->header_bytes, 22);
  EXPECT_EQ(h->ether_type, kTypeIpv4);
  EXPECT_EQ(h->tag_count, 2);
  EXPECT_EQ(h->tags[0], 0x0064);
  EXPECT_EQ(h->tags[1], 0x2065);
  EXPECT_EQ(h->vlan_id(), 0x065);
}

TEST(Ethernet, a_third_tag_is_refused) {
  const HeapOctets frame(from_hex("020000000002 020000000001 88a8 0064 8100 0065 8100 0066 0800"));
  EXPECT_EQ(parse(frame).reason, Reason::ethernet_too_many_tags);
}

TEST(Ethernet, a_length_field_is_no_type) {
  EXPECT_EQ(parse(HeapOctets(from_hex("020000000002 020000000001 05ff"))).reason, Reason::ethernet_type_unknown);
  EXPECT_TRUE(parse(HeapOctets(from_hex("020000000002 020000000001 0600"))));
}

TEST(Ethernet, each_cut_inside_the_header_is_truncated) {
  const auto whole = from_hex(test::example("E1").hex);
  for (std::size_t n = 0; n < 22; ++n) {
    EXPECT_EQ(parse(HeapOctets(Octets(whole).first(n))).reason, Reason::ethernet_truncated) << n;
  }
}

TEST(Ethernet, writes_the_worked_example) {
  constexpr std::array<std::uint16_t, 2> kTags{0x0064, 0x2065};
  EXPECT_EQ(test::written(22, [&](MutableOctets out) { return write(out, kTo, kFrom, kTypeIpv4, kTags); }),
            test::tidy(test::example("E1").hex).substr(0, 44));
  constexpr std::array<std::uint16_t, 3> kThree{1, 2, 3};
  HeapOctets out(64);
  EXPECT_EQ(write(out, kTo, kFrom, kTypeIpv4, kThree), 0U);
}

RC_GTEST_PROP(Ethernet, what_is_written_is_read_back, ()) {
  const auto tags =
      *rc::gen::container<std::vector<std::uint16_t>>(*rc::gen::inRange(0, 3), rc::gen::arbitrary<std::uint16_t>());
  const auto type = *rc::gen::suchThat(rc::gen::inRange<std::uint16_t>(0x0600, 0xFFFF),
                                       [](std::uint16_t t) { return t != kTypeVlan && t != kTypeServiceVlan; });
  HeapOctets out(14 + 4 * tags.size());
  RC_ASSERT(write(out, kTo, kFrom, type, tags) == 14 + 4 * tags.size());
  const auto h = parse(out);
  RC_ASSERT(h && h->ether_type == type && h->tag_count == tags.size());
  for (std::size_t i = 0; i < tags.size(); ++i) RC_ASSERT(h->tags[i] == tags[i]);
}

}  // namespace
}  // namespace splitplane::wire::ethernet
