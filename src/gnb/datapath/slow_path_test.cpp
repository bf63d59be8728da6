// What bearers with special options do with downlink G-PDUs of the slow path: sequence numbers, a missing PDU Session
// Container, time stamps. Also the uplink packets that answer the time stamps.
#include <gtest/gtest.h>

#include "gnb/datapath/test_gnb.h"
#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

struct SlowRig : test::TestGnb {
  SlowRig() {
    add(5, {.require_psc = true}, test::kPeerV4);
    add(6, {.n3_reorder = ran::N3ReorderConfig{.window = 64, .timer_ms = 1000}}, test::kPeerV4);
    context->reorder.open(BearerId{teid(6)}, *config(6).n3_reorder, rte_get_tsc_hz());
  }
  void down(const std::vector<Bytes>& frames) {
    Burst burst = test::burst_of(pool, frames);
    received += burst.size;
    downlink_path.process(burst);
    check();
  }
  void up(const std::vector<Bytes>& frames) {
    Burst burst = test::burst_of(pool, frames);
    received += burst.size;
    uplink_path.process(burst);
    check();
  }
  void check() const { expect_balance(received); }
  // A G-PDU with a sequence number, which its payload repeats.
  [[nodiscard]] Bytes numbered(std::uint16_t sn, std::uint32_t index = 6) const {
    N3Frame frame = to_bearer(index);
    frame.sequence_number = true;
    frame.payload = test::inner_packet(40, static_cast<std::uint8_t>(sn));
    Bytes made = frame.make();
    wire::store_be16(made.data() + 50, sn);
    return made;
  }
  [[nodiscard]] Bytes in_air(std::uint16_t sn, std::uint32_t count) const {
    return air_frame(6, count, test::inner_packet(40, static_cast<std::uint8_t>(sn)));
  }

  test::Taken air, n3;
  GnbDownlink<FeatureSet::mat, test::TestSink, SampledCycles> downlink_path{*context, test::TestSink{&air},
                                                                            test::TestSink{&n3}};
  GnbUplink<FeatureSet::mat, test::TestSink, SampledCycles> uplink_path{*context, test::TestSink{&n3}};
  std::uint64_t received = 0;
};

TEST(GnbSlowPath, without_a_container_a_bearer_that_requires_one_loses_the_packet) {
  SlowRig rig;
  N3Frame plain = rig.to_bearer(5), with = rig.to_bearer(5), other = rig.to_bearer(1);
  plain.extensions.clear();
  other.extensions.clear();
  rig.down({plain.make(), with.make(), other.make()});
  EXPECT_EQ(rig.dropped(DropReason::psc_missing), 1U);
  EXPECT_EQ(rig.downlink[5].received, 2U);
  EXPECT_EQ(rig.drops[5].downlink, 1U);
  ASSERT_EQ(rig.air.frames.size(), 2U);
  EXPECT_EQ(rig.air.frames[0], rig.air_frame(5, 0, with.payload));
  EXPECT_EQ(rig.air.frames[1], rig.air_frame(1, 0, other.payload)) << "to the bearer's own QFI";
}

TEST(GnbSlowPath, numbered_packets_leave_in_order_and_what_is_held_is_counted_so) {
  SlowRig rig;
  rig.down({rig.numbered(10), rig.numbered(12), rig.numbered(13), rig.to_bearer(1).make()});
  EXPECT_EQ(rig.context->reorder.held(), 2U);
  rig.down({rig.numbered(11), rig.numbered(11), rig.numbered(14)});
  EXPECT_EQ(rig.context->reorder.held(), 0U);
  EXPECT_EQ(rig.dropped(DropReason::n3_sn_old), 1U);
  ASSERT_EQ(rig.air.frames.size(), 6U);
  EXPECT_EQ(rig.air.frames[0], rig.in_air(10, 0));
  EXPECT_EQ(rig.air.frames[1], rig.air_frame(1, 0, N3Frame{}.payload)) << "other bearers do not wait";
  for (std::uint16_t n = 1; n < 5; ++n) {
    EXPECT_EQ(rig.air.frames[n + 1U], rig.in_air(static_cast<std::uint16_t>(10 + n), n));
  }
}

TEST(GnbSlowPath, numbered_packets_enter_each_stage_once) {
  SlowRig rig;
  rig.down({rig.numbered(10), rig.numbered(11), rig.numbered(13)});
  EXPECT_EQ(rig.air.frames.size(), 2U);
  EXPECT_EQ(rig.at_stage(Stage::dl_headers), 2U) << "what is in order does not wait for the second pass";
  rig.down({rig.numbered(12)});
  EXPECT_EQ(rig.air.frames.size(), 4U);
  for (const Stage stage : {Stage::dl_parse, Stage::dl_bearer, Stage::dl_headers, Stage::dl_tx})
    EXPECT_EQ(rig.at_stage(stage), 4U) << name_of(stage);
}

TEST(GnbSlowPath, bearers_without_the_option_take_numbered_packets_as_they_come) {
  SlowRig rig;
  rig.down({rig.numbered(9, 1), rig.numbered(5, 1), rig.numbered(5, 1)});
  EXPECT_EQ(rig.air.frames.size(), 3U);
  EXPECT_EQ(rig.context->reorder.held(), 0U);
}

TEST(GnbSlowPath, packets_without_a_number_do_not_wait) {
  SlowRig rig;
  rig.down({rig.numbered(10), rig.numbered(12), rig.to_bearer(6).make()});
  EXPECT_EQ(rig.air.frames.size(), 2U);
  EXPECT_EQ(rig.context->reorder.held(), 1U);
  rig.downlink_path.finish();
}

TEST(GnbSlowPath, more_than_a_burst_comes_free_at_once_and_nothing_stays_at_the_end) {
  SlowRig rig;
  std::vector<Bytes> frames;
  rig.down({rig.numbered(0)});
  for (std::uint16_t sn = 2; sn < 34; ++sn) frames.push_back(rig.numbered(sn));
  rig.down(frames);
  frames.clear();
  for (std::uint16_t sn = 34; sn < 62; ++sn) frames.push_back(rig.numbered(sn));
  rig.down(frames);
  EXPECT_EQ(rig.context->reorder.held(), 60U);
  rig.down({rig.numbered(1)});
  ASSERT_EQ(rig.air.frames.size(), 62U);
  rig.down({rig.numbered(63)});
  EXPECT_EQ(rig.context->reorder.held(), 1U);
  rig.downlink_path.finish();
  EXPECT_EQ(rig.context->reorder.held(), 0U);
  EXPECT_EQ(rig.air.frames.size(), 63U);
  rig.check();
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbSlowPath, the_timer_lets_go_what_waits) {
  SlowRig rig;
  rig.context->reorder.open(BearerId{rig.teid(6)}, {.window = 8, .timer_ms = 1}, rte_get_tsc_hz());
  rig.down({rig.numbered(10), rig.numbered(12)});
  const std::uint64_t begin = rte_rdtsc();
  while (rte_rdtsc() - begin < rte_get_tsc_hz() / 500) {
  }
  rig.downlink_path.flush();
  EXPECT_EQ(rig.air.frames.size(), 2U);
  EXPECT_EQ(rig.context->reorder.given_up(), 1U);
  rig.check();
}

// A DL container with QMP: time stamp 0x0102..08; content of 10 octets.
N3Frame stamped(N3Frame frame, std::uint8_t qfi = 9) {
  frame.extensions = {{wire::gtpu::kExtensionPsc, {0x08, qfi, 1, 2, 3, 4, 5, 6, 7, 8}}};
  return frame;
}

wire::psc::Content container_in(const Bytes& frame) {
  const auto packet = wire::n3::parse(frame);
  EXPECT_TRUE(packet);
  return *wire::psc::parse(
      wire::Octets(frame).subspan(packet->gtpu_offset + packet->gtpu.psc_offset, packet->gtpu.psc_bytes));
}

TEST(GnbSlowPath, a_time_stamp_is_answered_by_the_next_uplink_packet_of_its_flow_only) {
  SlowRig rig;
  rig.down({stamped(rig.to_bearer(1)).make()});
  EXPECT_EQ(rig.air.frames.size(), 1U);
  rig.up({rig.from_ue(3, 0, test::inner_packet(50)), rig.from_ue(1, 0, test::inner_packet(50), Qfi{8}),
          rig.from_ue(1, 1, test::inner_packet(50), Qfi{9}), rig.from_ue(1, 2, test::inner_packet(50), Qfi{9})});
  ASSERT_EQ(rig.n3.frames.size(), 4U);
  for (const std::size_t usual : {0U, 1U, 3U}) EXPECT_FALSE(container_in(rig.n3.frames[usual]).has_qos_monitoring);
  const auto content = container_in(rig.n3.frames[2]);
  EXPECT_TRUE(content.has_qos_monitoring);
  EXPECT_EQ(content.dl_send_time, 0x0102030405060708U);
  EXPECT_GE(content.ul_send_time, content.dl_receive_time);
  EXPECT_EQ(rig.context->stats.qos_monitored.get(), 1U);
  EXPECT_EQ(rig.uplink[1].peer, test::kPeerV4) << "back on the fast path";
}

TEST(GnbSlowPath, a_time_stamp_that_does_not_fit_waits_and_costs_no_packet) {
  SlowRig rig;
  rig.down({stamped(rig.to_bearer(1)).make()});
  const Bytes longest = test::inner_packet(rig.context->peers[test::kPeerV4].max_payload);
  const Bytes longest_stamped = test::inner_packet(longest.size() - kMonitoredMoreBytes);
  rig.up({rig.from_ue(1, 0, longest), rig.from_ue(1, 1, longest, Qfi{8})});
  ASSERT_EQ(rig.n3.frames.size(), 2U);
  for (const Bytes& frame : rig.n3.frames) EXPECT_FALSE(container_in(frame).has_qos_monitoring);
  rig.up({rig.from_ue(1, 2, longest_stamped), rig.from_ue(1, 3, longest)});
  ASSERT_EQ(rig.n3.frames.size(), 4U);
  EXPECT_EQ(container_in(rig.n3.frames[2]).dl_send_time, 0x0102030405060708U);
  EXPECT_EQ(rig.n3.frames[2].size(), rig.n3.frames[3].size());
}

TEST(GnbSlowPath, a_time_stamp_of_a_flow_that_never_answers_keeps_no_bearer_off_the_fast_path) {
  SlowRig rig;
  rig.context->monitor.note(BearerId{rig.teid(1)}, Qfi{5}, {1, ntp_time() - QosMonitor::kPatience});
  rig.uplink[1].peer = kMonitoredPeer;
  rig.up({rig.from_ue(1, 0, test::inner_packet(50))});
  EXPECT_EQ(rig.n3.frames.size(), 1U);
  EXPECT_EQ(rig.uplink[1].peer, test::kPeerV4);
}

TEST(GnbSlowPath, a_stopped_bearer_stays_stopped_when_a_time_stamp_comes) {
  SlowRig rig;
  rig.uplink[1].peer = kStoppedPeer;
  rig.down({stamped(rig.to_bearer(1)).make()});
  rig.up({rig.from_ue(1, 0, test::inner_packet(50))});
  EXPECT_EQ(rig.dropped(DropReason::uplink_stopped), 1U);
}

TEST(GnbSlowPath, wrong_checksums_are_lost_where_the_port_asks_for_it) {
  SlowRig rig;
  Bytes wrong = rig.to_bearer(1).make();
  wrong[24] ^= 1;
  rig.down({wrong});
  EXPECT_EQ(rig.air.frames.size(), 1U);
  rig.context->checksums = ChecksumMode::software;
  rig.down({wrong, rig.to_bearer(1).make()});
  EXPECT_EQ(rig.air.frames.size(), 2U);
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::ipv4_bad_checksum)), 1U);
}

}  // namespace
}  // namespace splitplane::datapath
