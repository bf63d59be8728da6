#include "ran/mac/downlink.h"

#include <gtest/gtest.h>

#include "ran/mac/test_blocks.h"

namespace splitplane::ran::mac::test {
namespace {

template <class Maker>
class AnyDownlink : public testing::Test {
 protected:
  Bytes build(std::size_t bytes, Time now = 0) {
    return maker.make(bytes,
                      [&](auto& scheme, auto& block) { return sender.downlink.build(scheme, block, bytes, now); });
  }
  std::vector<std::string> shape_of(std::size_t bytes, Time now = 0) {
    return shape(build(bytes, now), Direction::kDownlink);
  }
  ~AnyDownlink() override { maker.release(); }

  Sender sender;
  Maker maker;
};
using DownlinkMakers = testing::Types<GatherMaker, IovMaker>;
TYPED_TEST_SUITE(AnyDownlink, DownlinkMakers);

TYPED_TEST(AnyDownlink, builds_the_worked_example_m1) {
  auto& am = *std::make_unique<rlc::AmEntity<Buffer>>(rlc::test::am12(), this->sender.home.memory).release();
  const std::unique_ptr<rlc::AmEntity<Buffer>> owner(&am);
  ASSERT_TRUE(this->sender.downlink.mux().add({.lcid = 4}, am, 0));
  am.restart_at(5);
  this->sender.send(am, from_hex("aabbccddee"));
  ASSERT_TRUE(this->sender.downlink.add(ControlElement::drx()));
  ASSERT_TRUE(this->sender.downlink.add(ControlElement::of(wire::mac::TimingAdvance{1, 31})));
  EXPECT_EQ(to_hex(this->build(16)), "3c3d5f0407c005aabbccddee3f000000");
  this->sender.downlink.mux().remove(4);
  am.restart_at(0);
  this->maker.release();
}

TYPED_TEST(AnyDownlink, elements_come_first_and_keep_their_order) {
  auto& um = this->sender.um({.lcid = 4});
  this->sender.send(um, pattern(10));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(this->sender.downlink.add(ControlElement::drx()));
  ASSERT_TRUE(this->sender.downlink.add(ControlElement::of(wire::mac::ContentionResolutionId{1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(this->shape_of(30), (Shape{"60:0", "60:0", "62:6", "4:11", "63:7"}));
  EXPECT_EQ(this->sender.downlink.elements_waiting(), 0U);
  EXPECT_EQ(this->sender.downlink.mux().counters().elements, 3U);
}

TYPED_TEST(AnyDownlink, an_element_that_does_not_fit_waits_for_the_next_block) {
  ASSERT_TRUE(this->sender.downlink.add(ControlElement::drx()));
  ASSERT_TRUE(this->sender.downlink.add(ControlElement::of(wire::mac::TimingAdvance{0, 1})));
  ASSERT_TRUE(this->sender.downlink.add(ControlElement::long_drx()));
  EXPECT_EQ(this->shape_of(2), (Shape{"60:0", "63:0"}));
  EXPECT_EQ(this->sender.downlink.elements_waiting(), 2U);
  EXPECT_EQ(this->sender.downlink.sendable(), 3U);
  EXPECT_EQ(this->shape_of(1), (Shape{"63:0"}));
  EXPECT_EQ(this->shape_of(3), (Shape{"61:1", "59:0"}));
}

TYPED_TEST(AnyDownlink, takes_a_limited_number_of_elements) {
  for (unsigned i = 0; i < Downlink<Buffer>::kMostElements; ++i) {
    EXPECT_TRUE(this->sender.downlink.add(ControlElement::drx()));
  }
  EXPECT_FALSE(this->sender.downlink.add(ControlElement::drx()));
}

TYPED_TEST(AnyDownlink, grants_of_0_1_and_2_octets) {
  auto& am = this->sender.am({.lcid = 4});
  this->sender.send(am, pattern(10));
  EXPECT_TRUE(this->build(0).empty());
  EXPECT_EQ(this->sender.downlink.mux().counters().no_block, 1U);
  EXPECT_EQ(to_hex(this->build(1)), "3f");
  EXPECT_EQ(to_hex(this->build(2)), "3f00");
  EXPECT_EQ(this->sender.downlink.sendable(), 13U) << "nothing was taken";
}

TYPED_TEST(AnyDownlink, each_grant_is_filled_to_its_last_octet_but_for_what_fits_no_pdu) {
  auto& am = this->sender.am({.lcid = 4});
  auto& um = this->sender.um({.lcid = 5, .lcp = {.priority = 2}});
  const auto& counters = this->sender.downlink.mux().counters();
  for (std::size_t bytes = 1; bytes < 700; ++bytes) {
    for (int i = 0; i < 4; ++i) this->sender.send(am, pattern(150 + bytes % 7));
    for (int i = 0; i < 4; ++i) this->sender.send(um, pattern(90));
    const std::uint64_t padding = counters.padding_octets;
    const Bytes block = this->build(bytes);
    ASSERT_EQ(block.size(), bytes);
    const auto subpdus = walk(block, Direction::kDownlink);
    ASSERT_EQ(subpdus.back().find('!'), std::string::npos) << subpdus.back();
    // AM with 18 bits needs 2 + 5 + 1 octets for the next segment, or 6 for a first one; 258 octets leave one.
    ASSERT_LE(counters.padding_octets - padding, 7U) << bytes;
    am.restart_at(0);
    um.restart_at(0);
  }
}

TYPED_TEST(AnyDownlink, a_room_of_258_octets_takes_255_and_one_of_padding) {
  auto& um = this->sender.um({.lcid = 4});
  this->sender.send(um, pattern(1000));
  EXPECT_EQ(this->shape_of(257), (Shape{"4:255"}));
  EXPECT_EQ(this->shape_of(258), (Shape{"4:255", "63:0"}));
  EXPECT_EQ(this->shape_of(259), (Shape{"4:256"}));
}

TYPED_TEST(AnyDownlink, extended_channels_have_subheaders_of_four_or_five_octets) {
  auto& um = this->sender.um({.lcid = 1000});
  this->sender.send(um, pattern(10));
  this->sender.send(um, pattern(300));
  EXPECT_EQ(this->shape_of(4 + 11 + 5 + 301 + 2), (Shape{"1000:11", "1000:301", "63:1"}));
}

TYPED_TEST(AnyDownlink, a_status_goes_before_data_and_grows_past_a_short_length) {
  auto& am = this->sender.am({.lcid = 4});
  this->sender.send(am, pattern(20));
  // One SDU in two is missing: a NACK of three octets each.
  for (std::uint32_t sn = 1; sn < 400; sn += 2) {
    Bytes pdu(3 + 4);
    wire::rlc::write_am(pdu, 18, {.poll = sn == 399, .sn = sn});
    am.receive(this->sender.home.make(pdu), 0, [](auto) {}, [](std::uint32_t) {});
  }
  for (Time now = 100; am.receiver().highest_status() != 400; now += 50) am.tick(now, [](std::uint32_t) {});
  const Bytes block = this->build(1000, 1000);
  const Shape seen = shape(block, Direction::kDownlink);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0], "4:" + std::to_string(3 + 200 * 3));
  EXPECT_EQ(seen[1], "4:23");
  EXPECT_TRUE(wire::rlc::parse_status(Octets(block).subspan(3, 603), 18));
  EXPECT_EQ(this->sender.downlink.mux().counters().status, 1U);
  am.restart_at(0);
}

TYPED_TEST(AnyDownlink, a_status_is_cut_to_a_small_grant_and_stays_if_nothing_fits) {
  auto& am = this->sender.am({.lcid = 4});
  for (std::uint32_t sn = 1; sn < 40; sn += 2) {
    Bytes pdu(3 + 4);
    wire::rlc::write_am(pdu, 18, {.poll = sn == 39, .sn = sn});
    am.receive(this->sender.home.make(pdu), 0, [](auto) {}, [](std::uint32_t) {});
  }
  for (Time now = 100; !am.status_due(); now += 50) am.tick(now, [](std::uint32_t) {});
  EXPECT_EQ(this->shape_of(4, 1000), (Shape{"63:3"}));
  EXPECT_TRUE(am.status_due());
  EXPECT_EQ(this->shape_of(2 + 3 + 3 + 1, 1000), (Shape{"4:6", "63:0"}));
  EXPECT_FALSE(am.status_due());
  am.restart_at(0);
}

TYPED_TEST(AnyDownlink, channels_are_found_by_their_lcid_only_once) {
  auto& um = this->sender.um({.lcid = 4});
  auto& mux = this->sender.downlink.mux();
  EXPECT_FALSE(mux.add({.lcid = 4}, um, 0));
  EXPECT_FALSE(mux.add({.lcid = 33}, um, 0));
  EXPECT_FALSE(mux.add({.lcid = 63}, um, 0));
  EXPECT_FALSE(mux.add({.lcid = 65856}, um, 0));
  EXPECT_TRUE(mux.remove(4));
  EXPECT_FALSE(mux.remove(4));
  for (std::uint32_t lcid = 1; lcid <= 32; ++lcid) EXPECT_TRUE(mux.add({.lcid = lcid}, um, 0));
  EXPECT_FALSE(mux.add({.lcid = 400}, um, 0)) << "32 are enough";
}

TYPED_TEST(AnyDownlink, priorities_decide_between_channels) {
  auto& low = this->sender.um({.lcid = 4, .lcp = {.priority = 8}});
  auto& high = this->sender.um({.lcid = 5, .lcp = {.priority = 3}});
  for (int i = 0; i < 3; ++i) {
    this->sender.send(low, pattern(20));
    this->sender.send(high, pattern(20));
  }
  EXPECT_EQ(this->shape_of(4 * 23), (Shape{"5:21", "5:21", "5:21", "4:21"}));
}

}  // namespace
}  // namespace splitplane::ran::mac::test
