#include "ran/ecn/marker.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "ran/ecn/test_time.h"

namespace splitplane::ran::ecn {
namespace {

using test::kMs;
using Packet = std::vector<std::uint8_t>;

Marker::Settings marker_settings() {
  return {.sojourn = {.resolution = 625, .patience = 50 * kMs, .reassembly = 35 * kMs, .rate_window = 200 * kMs},
          .law = {.target = 5 * kMs, .classic_target = 15 * kMs, .ticks_per_ms = kMs, .seed = 3}};
}

Packet ipv4_packet(std::uint8_t tos) {
  Packet packet(60, 0x5a);
  wire::ipv4::write(packet, {.tos = tos, .ttl = 64, .protocol = 6, .source = 1, .destination = 2}, 40);
  return packet;
}

// A marker that knows a path of 4 ms, and then of a queue: PDUs 1 to 9 wait.
class MarkerTest : public ::testing::Test {
 protected:
  MarkerTest() {
    Packet packet = ipv4_packet(0);
    marker_.offer(packet, 0, kMs);
    marker_.acknowledged({.up_to = 1, .is_everything = true}, 5 * kMs);
  }
  void queue(Time queueing) {
    Packet packet = ipv4_packet(0);
    for (std::uint32_t sn = 1; sn < 10; ++sn) marker_.offer(packet, sn, 10 * kMs + sn * kMs);
    now_ = 11 * kMs + 4 * kMs + queueing;
    marker_.acknowledged({.up_to = 2}, now_);
  }
  [[nodiscard]] bool offer(Packet& packet) { return marker_.offer(packet, 10, now_); }

  Marker marker_{marker_settings()};
  Time now_ = 10 * kMs;
};

TEST_F(MarkerTest, marks_nothing_below_the_target) {
  queue(5 * kMs - 100);
  Packet packet = ipv4_packet(1);
  EXPECT_FALSE(offer(packet));
  EXPECT_EQ(packet, ipv4_packet(1));
  EXPECT_EQ(marker_.counters().ect1, 1U);
}

TEST_F(MarkerTest, marks_ect1_above_the_target) {
  queue(6 * kMs);
  Packet packet = ipv4_packet(1);
  EXPECT_TRUE(offer(packet));
  EXPECT_EQ(packet, ipv4_packet(3));
  EXPECT_EQ(marker_.counters().ect1, 1U);
  EXPECT_EQ(marker_.counters().marked_ect1, 1U);
  EXPECT_EQ(marker_.counters().marked_ect0, 0U);
  EXPECT_EQ(marker_.counters().queueing_most, 6 * kMs);
}

TEST_F(MarkerTest, leaves_every_other_packet_as_it_is) {
  queue(500 * kMs);
  std::mt19937 random(5);
  std::vector<Packet> packets{ipv4_packet(0), ipv4_packet(3), ipv4_packet(0xfc), Packet{}, Packet{0x45}};
  for (std::size_t octets = 0; octets < 60; ++octets) {
    packets.push_back(ipv4_packet(1));
    packets.back().resize(octets);
    packets.emplace_back(octets);
    for (auto& octet : packets.back()) octet = static_cast<std::uint8_t>(random());
    if (octets != 0) packets.back()[0] = static_cast<std::uint8_t>(0x50 | packets.back()[0]);
  }
  for (Packet& packet : packets) {
    const Packet before = packet;
    EXPECT_FALSE(offer(packet));
    EXPECT_EQ(packet, before);
  }
  EXPECT_EQ(marker_.counters().ect0 + marker_.counters().ect1, 0U);
}

TEST_F(MarkerTest, marks_some_ect0_when_the_queue_stays_above_its_target) {
  queue(40 * kMs);
  unsigned marks = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    Packet packet = ipv4_packet(2);
    now_ += kMs / 50;
    marks += offer(packet) ? 1 : 0;
  }
  EXPECT_GT(marks, 5U);
  EXPECT_LT(marks, 1000U);
  EXPECT_EQ(marker_.counters().marked_ect0, marks);
  EXPECT_EQ(marker_.counters().ect0, 2000U);
}

}  // namespace
}  // namespace splitplane::ran::ecn
