#include "n3/qos_monitor.h"

#include <gtest/gtest.h>

#include "n3/test_frames.h"
#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

constexpr BearerId kId{0x04000001}, kOther{0x04000002};
constexpr QosMonitor::Stamp kStamp{0x0102030405060708, 0x1112131415161718};
constexpr std::uint64_t kNow = kStamp.dl_receive_time;

TEST(QosMonitor, a_request_is_answered_once_by_its_own_bearer_and_flow) {
  QosMonitor monitor;
  monitor.note(kId, Qfi{9}, {1, 2});
  monitor.note(kId, Qfi{9}, kStamp);
  EXPECT_FALSE(monitor.take(kId, Qfi{8}));
  EXPECT_FALSE(monitor.take(kOther, Qfi{9}));
  EXPECT_TRUE(monitor.any(kId, kNow));
  const auto stamp = monitor.take(kId, Qfi{9});
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->dl_send_time, kStamp.dl_send_time) << "the newer request";
  EXPECT_FALSE(monitor.take(kId, Qfi{9}));
  EXPECT_FALSE(monitor.any(kId, kNow));
}

TEST(QosMonitor, every_flow_of_a_bearer_has_a_request_of_its_own) {
  QosMonitor monitor;
  for (std::uint8_t qfi = 0; qfi < 64; ++qfi) monitor.note(kId, Qfi{qfi}, {qfi, kNow});
  for (std::uint8_t qfi = 0; qfi < 64; qfi += 2) EXPECT_EQ(monitor.take(kId, Qfi{qfi})->dl_send_time, qfi);
  EXPECT_TRUE(monitor.any(kId, kNow));
  monitor.forget(kId);
  EXPECT_FALSE(monitor.any(kId, kNow));
}

TEST(QosMonitor, a_request_that_nobody_answers_is_forgotten_after_a_second) {
  QosMonitor monitor;
  monitor.note(kId, Qfi{9}, kStamp);
  monitor.note(kOther, Qfi{9}, {1, kNow + QosMonitor::kPatience});
  EXPECT_TRUE(monitor.any(kId, kNow + QosMonitor::kPatience - 1));
  EXPECT_FALSE(monitor.any(kId, kNow + QosMonitor::kPatience));
  EXPECT_FALSE(monitor.take(kId, Qfi{9}));
  EXPECT_TRUE(monitor.any(kOther, kNow + QosMonitor::kPatience));
}

TEST(QosMonitor, the_uplink_container_repeats_the_stamp_and_adds_ours) {
  for (const bool v6 : {false, true}) {
    const N3Peer peer = make_peer(test::our_addresses(),
                                  v6 ? IpAddress::v6(test::kUpfIpv6) : IpAddress::v4({10, 100, 0, 2}), test::kUpfMac);
    const unsigned head = peer.header_bytes + kMonitoredMoreBytes;
    const test::Bytes payload = test::inner_packet(41);
    test::Bytes frame(head);
    frame.insert(frame.end(), payload.begin(), payload.end());
    write_monitored_uplink(peer, Teid{0xaa000001}, Qfi{9}, 0xb8, kStamp, 0x2122232425262728, 41, frame.data());
    const auto packet = wire::n3::parse(frame);
    ASSERT_TRUE(packet) << name_of(packet.reason);
    EXPECT_EQ(packet->gtpu.teid.value, 0xaa000001U);
    EXPECT_EQ(packet->payload_bytes, 41U);
    const auto content = wire::psc::parse(
        wire::Octets(frame).subspan(packet->gtpu_offset + packet->gtpu.psc_offset, packet->gtpu.psc_bytes));
    ASSERT_TRUE(content);
    EXPECT_EQ(content->flow.type, wire::psc::PduType::kUplink);
    EXPECT_EQ(content->flow.qfi.value, 9);
    EXPECT_EQ(content->dl_send_time, kStamp.dl_send_time);
    EXPECT_EQ(content->dl_receive_time, kStamp.dl_receive_time);
    EXPECT_EQ(content->ul_send_time, 0x2122232425262728U);
    if (v6) {
      EXPECT_TRUE(wire::udp::checksum_is_good(test::kOurIpv6, test::kUpfIpv6, wire::Octets(frame).subspan(54)));
    } else {
      const wire::Octets ip = wire::Octets(frame).subspan(14);
      EXPECT_TRUE(wire::ipv4::checksum_is_good(ip, *wire::ipv4::parse(ip)));
    }
  }
}

TEST(QosMonitor, the_clock_counts_from_1900) {
  const std::uint64_t now = ntp_time();
  EXPECT_GT(now >> 32, 3'900'000'000U);
  EXPECT_GE(ntp_time(), now);
}

}  // namespace
}  // namespace splitplane::datapath
