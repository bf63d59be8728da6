#include "ran/mac/uplink.h"

#include <gtest/gtest.h>

#include "ran/mac/test_blocks.h"

namespace splitplane::ran::mac::test {
namespace {

constexpr RadioState kUplinkRadio{.power_headroom = 31, .pcmax = 42, .path_loss_db = 90};

// A UE with UM channels, whose blocks are gathered.
class Ue {
 public:
  explicit Ue(const UplinkConfig& config = {}) : uplink(config) {}
  rlc::UmSend<Buffer>& add(ChannelConfig config) {
    um_.push_back(std::make_unique<rlc::UmSend<Buffer>>(um12(), home.memory));
    EXPECT_TRUE(uplink.add(config, *um_.back(), 0));
    return *um_.back();
  }
  template <class Entity>
  void send(Entity& entity, const Bytes& sdu) {
    Buffer buffer = home.make(sdu);
    EXPECT_TRUE(entity.send(buffer));
  }
  Bytes build(std::size_t bytes, Time now = 0) {
    return maker.make(bytes,
                      [&](auto& scheme, auto& block) { return uplink.build(scheme, block, bytes, kUplinkRadio, now); });
  }
  Shape walk_of(std::size_t bytes, Time now = 0) { return walk(build(bytes, now), Direction::kUplink); }
  Shape shape_of(std::size_t bytes, Time now = 0) { return shape(build(bytes, now), Direction::kUplink); }

  Home home;
  Uplink<Buffer> uplink;
  GatherMaker maker;

 private:
  std::vector<std::unique_ptr<rlc::UmSend<Buffer>>> um_;
};

TEST(Uplink, sdus_come_before_elements_and_elements_before_padding) {
  Ue ue({.phr = PhrConfig{}});
  auto& um = ue.add({.lcid = 4, .lcg = 2});
  ue.send(um, pattern(6));
  ue.uplink.identify(0x4601);
  EXPECT_EQ(ue.walk_of(2 + 7 + 3 + 2 + 3 + 2),
            (Shape{"4:00" + to_hex(pattern(6)), "58:4601", "61:40", "57:1f2a", "63:00"}));
  EXPECT_FALSE(ue.uplink.bsr().triggered());
}

TEST(Uplink, a_bsr_says_what_waits_after_the_block) {
  Ue ue;
  auto& one = ue.add({.lcid = 4, .lcg = 2});
  auto& two = ue.add({.lcid = 5, .lcg = 5, .lcp = {.priority = 2}});
  ue.send(one, pattern(100));
  ue.send(two, pattern(60));
  const Shape seen = ue.walk_of(103 + 5);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1], "62:24001d");  // LCG 2 empty, 61 octets of LCG 5 (level 29: 59 < 61 <= 62)
}

TEST(Uplink, elements_have_their_room_before_sdus) {
  Ue ue({.phr = PhrConfig{}});
  auto& um = ue.add({.lcid = 4, .lcg = 1});
  ue.send(um, pattern(1000));
  EXPECT_EQ(ue.shape_of(40), (Shape{"4:33", "61:1", "57:2"}));
}

TEST(Uplink, a_grant_too_small_for_a_bsr_takes_none_and_the_trigger_stays) {
  Ue ue;
  auto& um = ue.add({.lcid = 4, .lcg = 1});
  ue.send(um, pattern(10));
  EXPECT_EQ(ue.walk_of(1), (Shape{"63:"}));
  EXPECT_TRUE(ue.uplink.bsr().regular());
  EXPECT_EQ(ue.walk_of(2), (Shape{"61:22"}));
  EXPECT_FALSE(ue.uplink.bsr().regular());
  EXPECT_TRUE(ue.build(0).empty());
}

TEST(Uplink, padding_is_used_for_a_bsr) {
  Ue ue;
  auto& um = ue.add({.lcid = 4, .lcg = 1});
  ue.send(um, pattern(10));
  ue.shape_of(2);                                           // answers the trigger
  EXPECT_EQ(ue.shape_of(13 + 2), (Shape{"4:11", "61:1"}));  // two octets are left
  EXPECT_EQ(ue.walk_of(6), (Shape{"62:00", "63:0000"}));    // nothing waits: a long BSR of no LCG
  EXPECT_EQ(ue.walk_of(1), (Shape{"63:"}));
}

TEST(Uplink, a_grant_of_8_octets_is_not_only_padding_while_data_waits) {
  for (const bool segment : {false, true}) {
    Ue ue;
    rlc::AmEntity<Buffer> am(rlc::test::am18(), ue.home.memory);
    ASSERT_TRUE(ue.uplink.add({.lcid = 4, .lcg = 1}, am, 0));
    ue.send(am, pattern(50));
    ue.shape_of(segment ? 14 : 2);  // answers the trigger; with 14 octets also a first segment
    EXPECT_EQ(ue.shape_of(8), (Shape{"4:6"}));
    ue.uplink.remove(4);
  }
}

TEST(Uplink, ccch_has_no_length_and_goes_before_all_but_c_rnti) {
  Ue ue;
  rlc::TmSend<Buffer> ccch(4, ue.home.memory);
  ue.uplink.set_ccch(ccch);
  auto& um = ue.add({.lcid = 1, .lcg = 0});
  ue.send(um, pattern(10));
  ue.send(ccch, from_hex("010203040506"));
  EXPECT_EQ(ue.walk_of(7 + 2), (Shape{"52:010203040506", "61:02"}));
  ue.send(ccch, from_hex("0102030405060708"));
  EXPECT_EQ(ue.walk_of(9), (Shape{"0:0102030405060708"}));
  ue.send(ccch, from_hex("0102030405"));
  EXPECT_EQ(ue.shape_of(13), (Shape{"1:11"})) << "an SDU of another length stays where it is";
}

TEST(Uplink, refuses_channels_that_have_no_form_in_uplink) {
  Ue ue;
  rlc::UmSend<Buffer> um(um12(), ue.home.memory);
  EXPECT_FALSE(ue.uplink.add({.lcid = 0}, um, 0));
  EXPECT_FALSE(ue.uplink.add({.lcid = 52}, um, 0));
  EXPECT_FALSE(ue.uplink.add({.lcid = 4, .lcg = 8}, um, 0));
  EXPECT_TRUE(ue.uplink.add({.lcid = 4, .lcg = 7}, um, 0));
}

TEST(Uplink, a_status_of_many_octets_leaves_a_scatter_list_memory_for_the_elements) {
  Ue ue({.phr = PhrConfig{}});
  rlc::MemorySizes sizes = rlc::test::kSmall;
  sizes.received_pages = 300;  // one entity gets half of them
  Home home(sizes);
  rlc::AmEntity<Buffer> am(rlc::test::am18(), home.memory);
  ASSERT_TRUE(ue.uplink.add({.lcid = 4, .lcg = 1}, am, 0));
  for (std::uint32_t sn = 1; sn < 8000; sn += 2) {  // 4,000 holes, a NACK of three octets each
    Bytes pdu(3 + 4);
    wire::rlc::write_am(pdu, 18, {.poll = sn == 7999, .sn = sn});
    am.receive(home.make(pdu), 0, [](auto) {}, [](std::uint32_t) {});
  }
  Time now = 100;
  for (; now < 1000; now += 50) am.tick(now, [](std::uint32_t) {});
  ASSERT_EQ(am.receiver().highest_status(), 8000U);
  ue.uplink.identify(0x4601);
  Iov<Buffer> scheme;
  IovBlock<Buffer> block(512, 2048);
  ASSERT_TRUE(ue.uplink.build(scheme, block, 20'000, kUplinkRadio, now));
  Bytes octets(20'000);
  block.linearize(octets);
  const Shape seen = shape(octets, Direction::kUplink);
  ASSERT_EQ(seen.size(), 5U);
  EXPECT_GT(std::stoi(seen[0].substr(2)), 6000) << "the STATUS is cut to the block's own memory";
  EXPECT_EQ(Shape(seen.begin() + 1, seen.begin() + 4), (Shape{"58:2", "61:1", "57:2"}));
  block.release();
  am.restart_at(0);
  ue.uplink.remove(4);
}

TEST(Uplink, every_grant_gives_a_block_of_its_size_that_reads_back) {
  for (std::size_t bytes = 1; bytes < 400; ++bytes) {
    Ue ue({.phr = PhrConfig{}});
    auto& one = ue.add({.lcid = 4, .lcg = 2});
    auto& two = ue.add({.lcid = 5, .lcg = 5, .lcp = {.priority = 2}});
    ue.send(one, pattern(100));
    ue.send(two, pattern(160));
    ue.uplink.identify(7);
    const Bytes block = ue.build(bytes);
    ASSERT_EQ(block.size(), bytes);
    const Shape seen = shape(block, Direction::kUplink);
    ASSERT_NE(seen.back()[0], '!') << seen.back();
    bool element = false;
    for (const std::string& subpdu : seen) {
      const int lcid = std::stoi(subpdu);
      ASSERT_FALSE(element && lcid <= 32) << "an SDU after an element, in a block of " << bytes;
      element |= lcid > 32;
    }
  }
}

}  // namespace
}  // namespace splitplane::ran::mac::test
