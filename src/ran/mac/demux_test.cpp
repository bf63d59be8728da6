#include "ran/mac/demux.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/test_octets.h"

namespace splitplane::ran::mac::test {
namespace {

using wire::test::from_hex;
using wire::test::HeapOctets;
using wire::test::to_hex;
using Bytes = std::vector<std::uint8_t>;

struct Seen {
  void sdus(std::span<const ReceivedSdu> batch) {
    batches.push_back(batch.size());
    for (const ReceivedSdu& sdu : batch) what.push_back(std::to_string(sdu.place) + ":" + to_hex(sdu.payload()));
  }
  bool element(std::uint8_t lcid, wire::Octets contents) {
    what.push_back("ce" + std::to_string(lcid) + ":" + to_hex(contents));
    return lcid != bad;
  }
  std::vector<std::string> what;
  std::vector<std::size_t> batches;
  unsigned bad = 0;
};
using What = std::vector<std::string>;

struct Walk {
  explicit Walk(std::string_view hex, Direction direction = Direction::kDownlink) {
    (void)channels.set(4, 0);
    (void)channels.set(5, 1);
    (void)channels.set(1000, 2);
    run(from_hex(hex), direction);
  }
  Walk(const Bytes& block, Direction direction, unsigned bad) {
    seen.bad = bad;
    run(block, direction);
  }
  void run(const Bytes& block, Direction direction) {
    demultiplex(HeapOctets(wire::Octets(block)), direction, channels, counters, seen);
    EXPECT_EQ(counters.octets, counters.sdu_octets + counters.element_octets + counters.padding_octets +
                                   counters.subheader_octets + counters.dropped_octets);
  }
  ChannelMap channels;
  DemuxCounters counters;
  Seen seen;
};

TEST(Demux, hands_out_sdus_elements_and_nothing_else) {
  const Walk walk("3c 3d5f 0402aabb 4501 00" + std::string(512, '7') + "2102a801cc 3f0000");
  EXPECT_EQ(walk.seen.what, (What{"ce60:", "ce61:5f", "0:aabb", "1:" + std::string(512, '7'), "2:cc"}));
  EXPECT_EQ(walk.counters.sdus, 3U);
  EXPECT_EQ(walk.counters.elements, 2U);
  EXPECT_EQ(walk.counters.padding_octets, 3U);
  EXPECT_EQ(walk.counters.dropped_octets, 0U);
}

TEST(Demux, skips_an_unknown_channel_and_goes_on) {
  const Walk walk("0702aabb 0401cc 2105dc01dd 0501ee");
  EXPECT_EQ(walk.seen.what, (What{"0:cc", "1:ee"}));
  EXPECT_EQ(walk.counters.of(MacDrop::no_channel), 2U);
  EXPECT_EQ(walk.counters.dropped_octets, 3U);
}

TEST(Demux, drops_the_rest_after_an_lcid_of_unknown_size) {
  const Walk walk("0401cc 23 0401dd");
  EXPECT_EQ(walk.seen.what, (What{"0:cc"}));
  EXPECT_EQ(walk.counters.of(MacDrop::unknown_lcid), 1U);
  EXPECT_EQ(walk.counters.dropped_octets, 4U);
  EXPECT_EQ(Walk("22f501aa").counters.of(MacDrop::unknown_elcid), 1U);
}

TEST(Demux, each_fault_has_its_counter) {
  EXPECT_EQ(Walk("").counters.of(MacDrop::empty_block), 1U);
  EXPECT_EQ(Walk("0401cc 44").counters.of(MacDrop::truncated), 1U);
  EXPECT_EQ(Walk("0405cc").counters.of(MacDrop::bad_length), 1U);
  EXPECT_EQ(Walk("0400 0401cc").counters.of(MacDrop::empty_sdu), 1U);
  EXPECT_EQ(Walk("0400 0401cc").seen.what, (What{"0:cc"}));
  const Walk bad(from_hex("3d5f 3c"), Direction::kDownlink, 61);
  EXPECT_EQ(bad.counters.of(MacDrop::bad_element), 1U);
  EXPECT_EQ(bad.counters.elements, 1U);
}

TEST(Demux, an_element_comes_after_the_sdus_before_it) {
  const Walk walk("0401aa 3d49 0401bb", Direction::kUplink);
  EXPECT_EQ(walk.seen.what, (What{"0:aa", "ce61:49", "0:bb"}));
}

TEST(Demux, sdus_come_in_batches) {
  std::string hex;
  for (int i = 0; i < 70; ++i) hex += "0401aa";
  EXPECT_EQ(Walk(hex).seen.batches, (std::vector<std::size_t>{32, 32, 6}));
}

TEST(Demux, a_map_holds_each_lcid_and_a_few_extended_ones) {
  ChannelMap map;
  EXPECT_EQ(map[4], ChannelMap::kNone);
  EXPECT_FALSE(map.set(64, 1));
  EXPECT_FALSE(map.set(319, 1));
  for (std::uint8_t i = 0; i < ChannelMap::kMostExtended; ++i) EXPECT_TRUE(map.set(320U + i, i));
  EXPECT_FALSE(map.set(9000, 1));
  EXPECT_EQ(map[321], 1);
  EXPECT_EQ(map[9000], ChannelMap::kNone);
}

TEST(Demux, a_map_changes_and_removes_each_lcid) {
  ChannelMap map;
  for (std::uint8_t i = 0; i < ChannelMap::kMostExtended; ++i) ASSERT_TRUE(map.set(320U + i, i));
  ASSERT_TRUE(map.set(4, 20));
  for (const std::uint32_t lcid : {4U, 320U, 327U}) {
    EXPECT_TRUE(map.set(lcid, 9));
    EXPECT_EQ(map[lcid], 9);
    EXPECT_TRUE(map.set(lcid, ChannelMap::kNone));
    EXPECT_TRUE(map.set(lcid, ChannelMap::kNone));
    EXPECT_EQ(map[lcid], ChannelMap::kNone);
  }
  for (std::uint32_t lcid = 321; lcid < 327; ++lcid) EXPECT_EQ(map[lcid], lcid - 320);
  EXPECT_TRUE(map.set(9000, 1) && map.set(9001, 2));
  EXPECT_FALSE(map.set(9002, 3)) << "two places were free again";
  EXPECT_EQ(map[9001], 2);
}

TEST(Demux, a_block_cut_at_each_octet_gives_what_was_whole) {
  const Bytes all = from_hex("3c 3d5f 0403aabbcc 450103" + std::string(518, '7') + "2102a802ccdd 3f0000");
  const Walk whole("3c 3d5f 0403aabbcc 450103" + std::string(518, '7') + "2102a802ccdd 3f0000");
  for (std::size_t n = 0; n < all.size(); ++n) {
    Walk walk("3f");
    walk.counters = {};
    walk.run({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)}, Direction::kDownlink);
    ASSERT_LE(walk.seen.what.size(), whole.seen.what.size());
    for (std::size_t i = 0; i < walk.seen.what.size(); ++i) ASSERT_EQ(walk.seen.what[i], whole.seen.what[i]) << n;
  }
}

}  // namespace
}  // namespace splitplane::ran::mac::test
