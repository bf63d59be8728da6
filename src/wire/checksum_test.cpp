// Tests of checksum.h: changes of single fields give what a sum over everything gives.
#include "wire/checksum.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "wire/test_octets.h"

namespace splitplane::wire {
namespace {

using test::from_hex;

std::uint16_t whole_checksum(const std::vector<std::uint8_t>& octets) {
  return checksum_finish(checksum_add(0, octets));
}

TEST(Checksum, example_of_rfc_1624_is_computed_with_equation_3) {
  // RFC 1624 4: HC = dd2f, m = 5555, m' = 3285 gives 0000; the older equation gives ffff.
  EXPECT_EQ(checksum_adjust16(0xDD2F, 0x5555, 0x3285), 0x0000);
}

TEST(Checksum, pseudo_header_sums_addresses_protocol_and_length) {
  const auto sum = pseudo_header_sum(from_hex("0a2d0002"), from_hex("08080808"), 17, 10);
  EXPECT_EQ(static_cast<std::uint16_t>(~checksum_finish(sum)), 0x0A2D + 0x0002 + 0x0808 + 0x0808 + 0x0011 + 0x000A);
}

RC_GTEST_PROP(Checksum, a_changed_field_at_any_offset_gives_the_checksum_of_the_whole, (bool wide)) {
  auto octets = *rc::gen::container<std::vector<std::uint8_t>>(
      static_cast<std::size_t>(*rc::gen::inRange(5, 80)),
      rc::gen::weightedOneOf<std::uint8_t>(
          {{3, rc::gen::arbitrary<std::uint8_t>()}, {1, rc::gen::element<std::uint8_t>(0, 0xFF)}}));
  octets[0] |= 1;  // never all zero, as no pseudo header is
  const auto at = *rc::gen::inRange<std::size_t>(1, octets.size() - 3);
  const std::uint16_t before = whole_checksum(octets);
  if (wide) {
    const auto to = *rc::gen::oneOf(rc::gen::arbitrary<std::uint32_t>(), rc::gen::element<std::uint32_t>(0, ~0U));
    const std::uint32_t from = load_be32(octets.data() + at);
    store_be32(octets.data() + at, to);
    RC_ASSERT(checksum_adjust32(before, from, to, at % 2 != 0) == whole_checksum(octets));
  } else {
    const auto to = *rc::gen::oneOf(rc::gen::arbitrary<std::uint16_t>(), rc::gen::element<std::uint16_t>(0, 0xFFFF));
    const std::uint16_t from = load_be16(octets.data() + at);
    store_be16(octets.data() + at, to);
    RC_ASSERT(checksum_adjust16(before, from, to, at % 2 != 0) == whole_checksum(octets));
  }
}

RC_GTEST_PROP(Checksum, many_changes_are_applied_at_once, ()) {
  auto octets = *rc::gen::container<std::vector<std::uint8_t>>(60, rc::gen::arbitrary<std::uint8_t>());
  octets[0] |= 1;
  const std::uint16_t before = whole_checksum(octets);
  ChecksumChange change;
  const int changes = *rc::gen::inRange(0, 20);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(1, 57);
    const auto to = *rc::gen::arbitrary<std::uint32_t>();
    change.replace32_at(at, load_be32(octets.data() + at), to);
    store_be32(octets.data() + at, to);
  }
  RC_ASSERT(change.applied_to(before) == whole_checksum(octets));
}

RC_GTEST_PROP(Checksum, a_wrong_checksum_stays_wrong, (std::uint16_t before, std::uint16_t after)) {
  auto octets = from_hex("4500 0034 1234 4000 4006 0000");
  const std::uint16_t good = whole_checksum(octets);
  const auto error = *rc::gen::inRange<std::uint16_t>(1, 0xFFFE);
  store_be16(octets.data() + 4, before);
  const std::uint16_t right = checksum_adjust16(good, 0x1234, before);
  const auto wrong = static_cast<std::uint16_t>(right ^ error);
  RC_PRE(wrong != 0xFFFF);
  store_be16(octets.data() + 4, after);
  RC_ASSERT(checksum_adjust16(wrong, before, after) != whole_checksum(octets));
}

}  // namespace
}  // namespace splitplane::wire
