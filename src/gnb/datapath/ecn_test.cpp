// ECN marks on a gNB worker: the SDU in the air frame, its checksum, and what stays as it is.
#include "wire/ecn.h"

#include "gnb/datapath/test_arq.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using wire::ecn::Codepoint;
constexpr std::uint32_t kBearer = test::kArqBearer, kPlain = 1;

ran::BearerConfig marked(std::uint32_t max_unacked = 4096) {
  return {.arq = {.t_status_prohibit_ms = 2, .max_unacked = max_unacked}, .ecn = ran::EcnConfig{}};
}

Bytes packet_of(Codepoint codepoint) {
  Bytes packet(100, 0x77);
  wire::ipv4::write(
      packet, {.tos = static_cast<std::uint8_t>(codepoint), .ttl = 64, .protocol = 17, .source = 1, .destination = 2},
      80);
  return packet;
}

struct EcnRig : test::ArqRig<> {
  explicit EcnRig(const ran::BearerConfig& config = marked()) : ArqRig(config) {}

  Bytes frame_for(std::uint32_t index, Codepoint codepoint) const {
    test::N3Frame frame = to_bearer(index);
    frame.payload = packet_of(codepoint);
    return frame.make();
  }
  // The SDU of the last air frame, after sending one packet.
  Bytes sent(Codepoint codepoint) {
    process({frame_for(kBearer, codepoint)});
    return last();
  }
  [[nodiscard]] Bytes last() const {
    const Bytes& frame = air.frames.back();
    return {frame.end() - 100, frame.end()};
  }
  // The bearer knows its path. Then nine SDUs are sent, and the UE acknowledges the first of them late.
  void make_queue(unsigned ms) {
    send(1);
    status(1);
    function.serve_acknowledged();
    send(9);
    rte_delay_ms(ms);
    status(2);
    function.serve_acknowledged();
  }
  [[nodiscard]] EcnView view() { return *view_of(bearer()).ecn; }
};

TEST(Ecn, without_a_queue_no_packet_is_marked) {
  EcnRig rig;
  for (unsigned i = 1; i <= 100; ++i) {
    EXPECT_EQ(rig.sent(Codepoint::kEct1), packet_of(Codepoint::kEct1));
    rig.status(i);
    rig.function.serve_acknowledged();
  }
  EXPECT_EQ(rig.view().ect1, 100U);
  EXPECT_EQ(rig.context->stats.ecn_marked.get(), 0U);
}

TEST(Ecn, an_ect1_packet_that_finds_a_long_queue_is_marked) {
  EcnRig rig;
  rig.make_queue(20);
  const Bytes marked_packet = rig.sent(Codepoint::kEct1);
  EXPECT_EQ(marked_packet, packet_of(Codepoint::kCe));
  EXPECT_TRUE(wire::ipv4::checksum_is_good(marked_packet, *wire::ipv4::parse(marked_packet)));
  EXPECT_EQ(rig.sent(Codepoint::kNotEct), packet_of(Codepoint::kNotEct));
  EXPECT_EQ(rig.sent(Codepoint::kCe), packet_of(Codepoint::kCe));
  EXPECT_EQ(rig.context->stats.ecn_marked.get(), 1U);
  EXPECT_EQ(rig.view().ect1, 1U);
  EXPECT_EQ(rig.view().marked_ect1, 1U);
  EXPECT_GE(rig.view().queueing_most_us, 15'000U);
  // Every packet of the bearer passes the place where marks are made.
  Burst burst =
      test::burst_of(rig.pool, {rig.frame_for(kBearer, Codepoint::kEct1), rig.frame_for(kPlain, Codepoint::kEct1),
                                rig.frame_for(kBearer, Codepoint::kEct1)});
  const std::size_t before = rig.air.frames.size();
  rig.function.process(burst);
  ASSERT_EQ(rig.air.frames.size(), before + 3);
  EXPECT_EQ(rig.view().marked_ect1, 3U);
  const Bytes& plain = rig.air.frames[before + 1];
  EXPECT_EQ(Bytes(plain.end() - 100, plain.end()), packet_of(Codepoint::kEct1)) << "its bearer has no marks";
  rig.expect_balance(rig.air.frames.size() + rig.context->stats.rlc_control.get());
}

TEST(Ecn, when_everything_is_acknowledged_the_queue_is_empty) {
  EcnRig rig;
  rig.make_queue(20);
  rig.status(10);
  rig.function.serve_acknowledged();
  EXPECT_EQ(rig.sent(Codepoint::kEct1), packet_of(Codepoint::kEct1));
}

TEST(Ecn, a_full_window_drops_marked_traffic_too) {
  EcnRig rig(marked(32));
  rig.make_queue(20);
  for (unsigned i = 0; i < 40; ++i) rig.process({rig.frame_for(kBearer, Codepoint::kEct1)});
  // 10 were sent before and 2 are acknowledged, so 24 have room.
  EXPECT_EQ(rig.dropped(DropReason::rlc_window_full), 16U);
  EXPECT_EQ(rig.context->stats.ecn_marked.get(), 24U) << "a dropped packet is not counted as marked";
  EXPECT_EQ(rig.bearer().retx.next(), 34U);
  rig.status(34);
  rig.function.serve_acknowledged();
  rig.process({rig.frame_for(kBearer, Codepoint::kEct1)});
  EXPECT_EQ(rig.bearer().retx.next(), 35U) << "with room it goes on";
}

TEST(Ecn, reestablishment_begins_with_an_empty_queue) {
  EcnRig rig;
  rig.make_queue(20);
  rig.context->arq->reestablish(rig.bearer(), test::kEpoch + 1, rte_rdtsc());
  rig.downlink[kBearer].rlc_tx_next = rig.bearer().retx.next();
  set_count_limit(*rig.context, rig.downlink[kBearer]);
  EXPECT_EQ(rig.sent(Codepoint::kEct1), packet_of(Codepoint::kEct1));
}

TEST(Ecn, a_bearer_without_the_key_marks_nothing) {
  EcnRig rig(ran::BearerConfig{});
  rig.make_queue(20);
  EXPECT_EQ(rig.sent(Codepoint::kEct1), packet_of(Codepoint::kEct1));
  EXPECT_EQ(rig.context->stats.ecn_marked.get(), 0U);
  EXPECT_FALSE(view_of(rig.bearer()).ecn);
  EXPECT_NE(rig.downlink[kBearer].count_limit, rig.downlink[kBearer].pdcp_tx_next) << "it stays on the fast path";
}

}  // namespace
}  // namespace splitplane::datapath
