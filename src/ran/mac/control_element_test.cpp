#include "ran/mac/control_element.h"

#include <gtest/gtest.h>

#include "wire/test_examples.h"
#include "wire/test_octets.h"

namespace splitplane::ran::mac::test {
namespace {

using wire::test::to_hex;

TEST(ControlElement, has_the_octets_of_the_worked_examples) {
  EXPECT_EQ(
      to_hex(ControlElement::drx().octets()) + to_hex(ControlElement::of(wire::mac::TimingAdvance{1, 31}).octets()),
      "3c3d5f");
  EXPECT_EQ(to_hex(ControlElement::of(wire::mac::Crnti{0x4601}).octets()), "3a4601");
  EXPECT_EQ(to_hex(ControlElement::of(wire::mac::SinglePhr{31, 42}).octets()), "391f2a");
  EXPECT_EQ(to_hex(ControlElement::of(wire::mac::ShortBsr{2, 9}).octets()), "3d49");
  EXPECT_EQ(to_hex(ControlElement::of(wire::mac::LongBsr{0x24, {0, 0, 10, 0, 0, 20}}).octets()), "3e03240a14");
  EXPECT_EQ(to_hex(ControlElement::of(wire::mac::ContentionResolutionId{1, 2, 3, 4, 5, 6}).octets()), "3e010203040506");
}

TEST(ControlElement, others_differ_by_lcid_only) {
  EXPECT_EQ(to_hex(ControlElement::long_drx().octets()), "3b");
  EXPECT_EQ(to_hex(ControlElement::of(wire::mac::ShortBsr{2, 9}, true).octets()), "3b49");
  EXPECT_EQ(to_hex(ControlElement::of(wire::mac::ScellActivation{0x0A}).octets()), "3a0a");
  constexpr std::array<std::uint8_t, 2> kSizes{7, 8};
  EXPECT_EQ(to_hex(ControlElement::of(wire::mac::LongTruncatedBsr{0x0F, kSizes}).octets()), "3c030f0708");
  EXPECT_EQ(ControlElement().size(), 0U);
}

TEST(ControlElement, the_longest_one_fits) {
  const wire::mac::LongBsr all{0xFF, {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(to_hex(ControlElement::of(all).octets()), "3e09ff0102030405060708");
}

}  // namespace
}  // namespace splitplane::ran::mac::test
