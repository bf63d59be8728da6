// Changed transport blocks go to the receiving MAC of both directions and on to RLC. Nothing crashes, each octet is
// accounted for, and all memory is given back. SPLITPLANE_MUTATIONS sets the number of blocks, SPLITPLANE_SEED the
// seed.
#include <gtest/gtest.h>

#include "ran/mac/demultiplexer.h"
#include "ran/mac/test_blocks.h"
#include "ran/rlc/test_air.h"

namespace splitplane::ran::mac::test {
namespace {

using rlc::test::from_environment;
using rlc::test::Random;

struct BlockOwner {
  Buffer make(Octets octets) { return home.make(octets); }
  void deliver(std::uint32_t, std::span<rlc::Part<Buffer>>) { ++delivered; }
  void max_retx(std::uint32_t, std::uint32_t) {}
  bool element(std::uint8_t lcid, Octets contents) {
    switch (direction == Direction::kUplink ? lcid : 0) {
      case wire::mac::ul::kLongBsr:
        return bool{wire::mac::parse_long_bsr(contents)};
      case wire::mac::ul::kLongTruncatedBsr:
        return bool{wire::mac::parse_long_truncated_bsr(contents)};
      default:
        return true;
    }
  }
  Home& home;
  Direction direction;
  std::uint64_t delivered = 0;
};

void mutate(Bytes& block, const Bytes& other, Random& random) {
  constexpr std::uint8_t kEdges[] = {0x00, 0x01, 0x3F, 0x7F, 0x40, 0xFF, 0x21, 0x22, 0x44, 0x04};
  for (unsigned changes = 1 + random() % 3; changes != 0; --changes) {
    const std::size_t at = block.empty() ? 0 : random() % block.size();
    switch (random() % 6) {
      case 0:
        if (!block.empty()) block[at] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        if (!block.empty()) block[at] = static_cast<std::uint8_t>(block[at] ^ 1U << random() % 8);
        break;
      case 2:
        if (!block.empty()) block[at] = kEdges[random() % std::size(kEdges)];
        break;
      case 3:
        block.resize(at);
        break;
      case 4:  // an octet less in front of a subheader: what follows is read from the wrong place
        if (!block.empty()) block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        block.insert(block.begin() + static_cast<std::ptrdiff_t>(at), other.begin(),
                     other.begin() + static_cast<std::ptrdiff_t>(random() % (other.size() + 1)));
        break;
    }
  }
}

// The two ends of one UE; the one that sends makes good blocks in the middle of an exchange.
struct Ends {
  explicit Ends(Direction d) : direction(d), owner{home, d}, demux(d) {
    EXPECT_TRUE(downlink.mux().add({.lcid = 4}, sender, 0));
    EXPECT_TRUE(downlink.mux().add({.lcid = 700, .lcp = {.priority = 2}}, um_send, 0));
    EXPECT_TRUE(uplink.add({.lcid = 4, .lcg = 1}, sender, 0));
    EXPECT_TRUE(uplink.add({.lcid = 700, .lcg = 3, .lcp = {.priority = 2}}, um_send, 0));
    EXPECT_TRUE(demux.add(4, receiver));
    EXPECT_TRUE(demux.add(700, um_receive));
  }
  Bytes block(Random& random, Time now) {
    for (unsigned n = random() % 4; n != 0; --n) {
      Buffer sdu = home.make(pattern(1 + random() % (random.percent(10) ? 400 : 60)));
      if (random.percent(50)) {
        (void)sender.send(sdu);
      } else {
        (void)um_send.send(sdu);
      }
    }
    const std::size_t bytes = random() % 300;
    if (random.percent(30)) (void)downlink.add(ControlElement::of(wire::mac::TimingAdvance{1, 2}));
    if (random.percent(20)) uplink.identify(static_cast<std::uint16_t>(random()));
    return maker.make(bytes, [&](auto& scheme, auto& memory) {
      return direction == Direction::kDownlink ? downlink.build(scheme, memory, bytes, now)
                                               : uplink.build(scheme, memory, bytes, {}, now);
    });
  }

  Direction direction;
  Home home;
  BlockOwner owner;
  rlc::AmEntity<Buffer> sender{rlc::test::am18(), home.memory}, receiver{rlc::test::am18(), home.memory};
  rlc::UmSend<Buffer> um_send{um12(), home.memory};
  rlc::UmReceive<Buffer> um_receive{um12(), home.memory};
  Downlink<Buffer> downlink{kSecond};
  Uplink<Buffer> uplink{{}};
  Demultiplexer<Buffer> demux;
  GatherMaker maker;
};

void mutations(Direction direction, std::uint64_t count, std::uint64_t seed) {
  Random random(seed);
  Ends ends(direction);
  Bytes other{0x04, 0x01, 0x00};
  for (std::uint64_t i = 0; i < count; ++i) {
    Bytes block = ends.block(random, i);
    const Bytes good = block;
    if (random.percent(80)) mutate(block, other, random);
    if (!good.empty()) other = good;
    const DemuxCounters before = ends.demux.counters();
    ends.demux.receive(wire::test::HeapOctets(Octets(block)), i, ends.owner);
    const DemuxCounters& c = ends.demux.counters();
    ASSERT_EQ(c.blocks, before.blocks + 1);
    ASSERT_EQ(c.octets, c.sdu_octets + c.element_octets + c.padding_octets + c.subheader_octets + c.dropped_octets);
    if (block == good && !good.empty()) {
      ASSERT_EQ(c.drops, before.drops) << "a good block";
    }
    ends.um_receive.tick(i);
    if (i % 64 == 0) {  // a receiver of invented numbers and a sender without STATUS fill their windows
      ends.sender.restart_at(0);
      ends.receiver.restart_at(0);
      ends.um_receive.restart_at(0);
    }
  }
  EXPECT_GT(ends.owner.delivered, count / 20);
  if (count < 10'000) return;
  for (std::size_t why = 0; why < kMacDropCount; ++why) {
    const auto drop = static_cast<MacDrop>(why);
    if (drop == MacDrop::no_buffer || (drop == MacDrop::bad_element && direction == Direction::kDownlink)) continue;
    EXPECT_GT(ends.demux.counters().of(drop), 0U) << name_of(drop);
  }
}

TEST(MacMutation, downlink_blocks) {
  mutations(Direction::kDownlink, from_environment("SPLITPLANE_MUTATIONS", 60'000) / 2,
            from_environment("SPLITPLANE_SEED", 1));
}
TEST(MacMutation, uplink_blocks) {
  mutations(Direction::kUplink, from_environment("SPLITPLANE_MUTATIONS", 60'000) / 2,
            from_environment("SPLITPLANE_SEED", 1) + 1);
}

// Good blocks cut at each octet, and with each octet's value for the first subheaders.
TEST(MacMutation, truncations_and_each_first_octet) {
  Random random(7);
  for (const Direction direction : {Direction::kDownlink, Direction::kUplink}) {
    Ends ends(direction);
    for (unsigned round = 0; round < 60; ++round) {
      const Bytes block = ends.block(random, round);
      for (std::size_t n = 0; n <= block.size(); ++n) {
        ends.demux.receive(wire::test::HeapOctets(Octets(block).first(n)), round, ends.owner);
      }
      for (unsigned value = 0; value < 256 && block.size() > 3; ++value) {
        for (const std::size_t at : {0U, 1U, 2U}) {
          Bytes changed = block;
          changed[at] = static_cast<std::uint8_t>(value);
          ends.demux.receive(wire::test::HeapOctets(Octets(changed)), round, ends.owner);
        }
      }
      ends.receiver.restart_at(0);
    }
    const DemuxCounters& c = ends.demux.counters();
    EXPECT_EQ(c.octets, c.sdu_octets + c.element_octets + c.padding_octets + c.subheader_octets + c.dropped_octets);
    EXPECT_GT(c.of(MacDrop::truncated), 0U);
    EXPECT_GT(c.of(MacDrop::bad_length), 0U);
  }
}

}  // namespace
}  // namespace splitplane::ran::mac::test
