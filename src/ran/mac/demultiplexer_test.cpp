#include "ran/mac/demultiplexer.h"

#include <gtest/gtest.h>

#include <map>

#include "ran/mac/test_blocks.h"
#include "ran/rlc/test_air.h"

namespace splitplane::ran::mac::test {
namespace {

using rlc::test::number_of;
using rlc::test::numbered;
using rlc::test::Random;

// What a receiving end does with SDUs and elements.
struct Owner {
  Buffer make(Octets octets) { return refuse ? Buffer{} : home.make(octets); }
  void deliver(std::uint32_t lcid, std::span<rlc::Part<Buffer>> parts) {
    delivered[lcid].push_back(rlc::test::joined(parts));
  }
  void max_retx(std::uint32_t, std::uint32_t) { ++gone; }
  bool element(std::uint8_t lcid, Octets contents) {
    elements.push_back(std::to_string(lcid) + ":" + to_hex(contents));
    return true;
  }
  Home& home;
  bool refuse = false;
  unsigned gone = 0;
  std::map<std::uint32_t, std::vector<Bytes>> delivered;
  std::vector<std::string> elements;
};

TEST(Demultiplexer, sdus_go_to_the_entity_of_their_lcid) {
  Home home;
  rlc::AmEntity<Buffer> am(rlc::test::am18(), home.memory);
  rlc::UmReceive<Buffer> um(um12(), home.memory);
  Demultiplexer<Buffer> demux(Direction::kDownlink);
  ASSERT_TRUE(demux.add(4, am));
  ASSERT_TRUE(demux.add(500, um));
  EXPECT_FALSE(demux.add(4, um)) << "it has an entity";
  EXPECT_FALSE(demux.add(52, um)) << "no logical channel";
  EXPECT_FALSE(demux.add(65856, um));
  Owner owner{home};
  demux.receive(from_hex("3c 0405 800000aabb 2100b402 00cc 0702ffff 3f"), 0, owner);
  EXPECT_EQ(owner.elements, (std::vector<std::string>{"60:"}));
  EXPECT_EQ(owner.delivered[4], (std::vector<Bytes>{from_hex("aabb")}));
  EXPECT_EQ(owner.delivered[500], (std::vector<Bytes>{from_hex("cc")}));
  EXPECT_EQ(demux.counters().of(MacDrop::no_channel), 1U);
  owner.refuse = true;
  demux.receive(from_hex("0405800001aabb"), 0, owner);
  EXPECT_EQ(demux.counters().of(MacDrop::no_buffer), 1U);
  EXPECT_EQ(owner.delivered[4].size(), 1U);
}

// Two ends with AM and UM channels over blocks of random size, of which some are lost: AM delivers each SDU once.
TEST(Demultiplexer, am_over_lossy_blocks_delivers_each_sdu_once) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    Home home;
    Owner owner{home}, back{home};
    rlc::AmEntity<Buffer> gnb(rlc::test::am18(), home.memory), ue(rlc::test::am18(), home.memory);
    rlc::UmSend<Buffer> um_send(um12(), home.memory);
    rlc::UmReceive<Buffer> um_receive(um12(), home.memory);
    Downlink<Buffer> downlink(kSecond);
    Uplink<Buffer> uplink({});
    ASSERT_TRUE(downlink.mux().add({.lcid = 4}, gnb, 0));
    ASSERT_TRUE(downlink.mux().add({.lcid = 5, .lcp = {.priority = 2}}, um_send, 0));
    ASSERT_TRUE(uplink.add({.lcid = 4, .lcg = 1}, ue, 0));
    Demultiplexer<Buffer> at_ue(Direction::kDownlink), at_gnb(Direction::kUplink);
    ASSERT_TRUE(at_ue.add(4, ue));
    ASSERT_TRUE(at_ue.add(5, um_receive));
    ASSERT_TRUE(at_gnb.add(4, gnb));
    GatherMaker maker;
    IovMaker list;
    std::uint32_t sent = 0;
    const auto ignore = [](std::uint32_t) {};
    for (Time now = 0; now < 4000; ++now) {
      gnb.tick(now, ignore);
      ue.tick(now, ignore);
      um_receive.tick(now);
      if (now < 1500 && sent < 600) {
        Buffer sdu = home.make(numbered(sent, 20 + random() % 300));
        ASSERT_TRUE(gnb.send(sdu));
        ++sent;
        if (random.percent(30)) {
          Buffer other = home.make(pattern(30));
          ASSERT_TRUE(um_send.send(other));
        }
      }
      const std::size_t bytes = random() % 500;
      const auto build = [&](auto& scheme, auto& block) { return downlink.build(scheme, block, bytes, now); };
      const Bytes block = now % 2 == 0 ? maker.make(bytes, build) : list.make(bytes, build);
      if (!random.percent(10) && !block.empty()) at_ue.receive(block, now, owner);
      const std::size_t up = random() % 80;
      const Bytes answer =
          maker.make(up, [&](auto& scheme, auto& memory) { return uplink.build(scheme, memory, up, {}, now); });
      if (!random.percent(10) && !answer.empty()) at_gnb.receive(answer, now, back);
      gnb.release(100, [](std::uint32_t, Buffer) {});
    }
    list.release();
    std::vector<unsigned> times(sent);
    for (const Bytes& sdu : owner.delivered[4]) {
      const std::uint32_t number = number_of(sdu);
      ASSERT_LT(number, sent);
      ASSERT_EQ(sdu, numbered(number, sdu.size()));
      ++times[number];
    }
    for (std::uint32_t i = 0; i < sent; ++i) ASSERT_EQ(times[i], 1U) << "SDU " << i << ", seed " << seed;
    EXPECT_GT(owner.delivered[5].size(), 50U);
    EXPECT_GT(downlink.mux().counters().sdus, sent);
    EXPECT_GT(uplink.mux().counters().status, 20U);
    EXPECT_GT(back.elements.size(), 100U) << "BSRs";
  }
}

}  // namespace
}  // namespace splitplane::ran::mac::test
