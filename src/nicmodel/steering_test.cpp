// Where frames go: hash types, the redirection table, 5-tuple filters and their priorities.
#include "nicmodel/steering.h"

#include <gtest/gtest.h>

#include <set>

#include "nicmodel/traffic_peer.h"
#include "wire/bytes.h"

namespace splitplane::nicmodel {
namespace {

namespace reg = gpu::reg;

class SteeringTest : public testing::Test {
 protected:
  SteeringTest() {
    for (std::uint32_t n = 0; n < 10; ++n) {
      std::uint32_t word = 0;
      __builtin_memcpy(&word, &gpu::kDefaultRssKey[4 * n], 4);
      registers_.set(reg::rssrk(n), word);
    }
    for (std::uint32_t n = 0; n < 32; ++n) registers_.set(reg::reta(n), 0x03020100);
    registers_.set(reg::kMrqc, reg::kMrqcRss | reg::kMrqcIpv4 | reg::kMrqcUdpIpv4 | reg::kMrqcTcpIpv4);
  }
  Steered steer(const std::vector<std::uint8_t>& frame) {
    steering_.configure(registers_);
    return steering_.steer(frame.data(), static_cast<std::uint32_t>(frame.size()));
  }
  static std::vector<std::uint8_t> udp(std::uint32_t flow = 1) {
    auto frame = TrafficPeer::udp_header(flow, 60);
    frame.resize(60);
    return frame;
  }
  void filter(std::uint32_t n, std::uint32_t flow, std::uint32_t ring, std::uint32_t priority,
              std::uint32_t ignore = 0) {
    const auto frame = udp(flow);
    std::uint32_t words[3];
    __builtin_memcpy(words, &frame[26], 12);  // addresses and ports
    registers_.set(reg::saqf(n), words[0]);
    registers_.set(reg::daqf(n), words[1]);
    registers_.set(reg::sdpqf(n), words[2]);
    registers_.set(reg::l34timir(n), ring << reg::kL34QueueShift | reg::kL34Reserved);
    registers_.set(reg::ftqf(n), reg::kFtqfEnable | reg::kFtqfPoolMask | reg::kFtqfUdp | ignore << 25 |
                                     priority << reg::kFtqfPriorityShift);
  }
  DriverFaults faults_;
  RegisterFile registers_{{}, faults_};
  Steering steering_;
};

// The first IPv4 vector of Microsoft's suite as a frame: 66.9.149.187:2794 -> 161.142.100.80:1766.
TEST_F(SteeringTest, hash_and_type_are_in_the_descriptor) {
  auto frame = udp();
  const std::uint8_t addresses[12] = {66, 9, 149, 187, 161, 142, 100, 80, 0x0a, 0xea, 0x06, 0xe6};
  __builtin_memcpy(&frame[26], addresses, 12);
  Steered s = steer(frame);
  EXPECT_EQ(s.hash, 0x51ccc178U);
  EXPECT_EQ(s.ring, 0x78U % 128 % 4);
  EXPECT_EQ(s.type, 0x210U | 7U);  // IPv4, UDP; hashed with ports
  frame[23] = 6;
  EXPECT_EQ(steer(frame).type, 0x110U | 1U);
  registers_.set(reg::kMrqc, reg::kMrqcRss | reg::kMrqcIpv4);  // no ports
  s = steer(frame);
  EXPECT_EQ(s.hash, 0x323e8fc2U);
  EXPECT_EQ(s.type & 0xF, 2U);
}

TEST_F(SteeringTest, fragments_are_hashed_without_ports) {
  auto frame = udp();
  const std::uint32_t whole = steer(frame).hash;
  frame[20] = 0x20;  // more fragments
  EXPECT_NE(steer(frame).hash, whole);
  EXPECT_EQ(steer(frame).type & 0xF, 2U);
}

TEST_F(SteeringTest, a_vlan_tag_is_skipped) {
  auto frame = udp();
  const Steered plain = steer(frame);
  frame.insert(frame.begin() + 12, {0x81, 0x00, 0x00, 0x05});
  EXPECT_EQ(steer(frame).hash, plain.hash);
}

TEST_F(SteeringTest, what_is_no_ip_goes_to_ring_0) {
  auto frame = udp();
  wire::store_be16(&frame[12], 0x0806);
  EXPECT_EQ(steer(frame).ring, 0U);
  EXPECT_EQ(steer(frame).hash, 0U);
  frame.resize(14);
  wire::store_be16(&frame[12], 0x0800);  // cut off behind the Ethernet header
  EXPECT_EQ(steer(frame).ring, 0U);
}

TEST_F(SteeringTest, flows_spread_over_all_rings_of_the_table) {
  std::set<std::uint32_t> rings;
  for (std::uint32_t flow = 0; flow < 64; ++flow) rings.insert(steer(udp(flow)).ring);
  EXPECT_EQ(rings, (std::set<std::uint32_t>{0, 1, 2, 3}));
}

TEST_F(SteeringTest, a_filter_gives_a_flow_any_ring_and_keeps_its_hash) {
  const std::uint32_t hash = steer(udp(3)).hash;
  filter(5, 3, 63, 1);
  EXPECT_EQ(steer(udp(3)).ring, 63U);
  EXPECT_EQ(steer(udp(3)).hash, hash);
  EXPECT_NE(steer(udp(4)).ring, 63U);
  auto tcp = udp(3);
  tcp[23] = 6;
  EXPECT_NE(steer(tcp).ring, 63U);
}

TEST_F(SteeringTest, the_filter_of_higher_priority_wins) {
  filter(0, 3, 20, 1);
  filter(1, 3, 21, 5, 0x0C);  // whatever the ports
  EXPECT_EQ(steer(udp(3)).ring, 21U);
  filter(0, 3, 20, 7);
  EXPECT_EQ(steer(udp(3)).ring, 20U);
  filter(2, 9, 22, 7, 0x1F);  // everything
  EXPECT_EQ(steer(udp(40)).ring, 22U);
}

TEST_F(SteeringTest, without_rss_everything_goes_to_ring_0) {
  registers_.set(reg::kMrqc, 0);
  EXPECT_EQ(steer(udp(3)).ring, 0U);
  EXPECT_EQ(steer(udp(3)).hash, 0U);
}

}  // namespace
}  // namespace splitplane::nicmodel
