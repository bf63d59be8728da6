// The whole gNB function as the worker loop drives it: both queues, the flush of a round, and the account over random
// bursts of good and bad frames.
#include "gnb/datapath/gnb.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

template <FeatureSet F>
struct GnbRig : test::TestGnb {
  explicit GnbRig(bool drain_copies = true)
      : gnb(*context, {&from_n3}, {&from_air}, test::TestSink{&n3}, test::TestSink{&air}, drain_copies) {}

  // One round of the worker loop; how many packets it saw.
  unsigned round() {
    Burst burst;
    unsigned packets = 0;
    for (auto& queue : gnb.queues()) {
      const unsigned received = queue.receive(burst);
      if (received != 0) gnb.process(queue, burst);
      packets += received;
    }
    gnb.flush();
    return packets;
  }

  test::Taken n3, air;
  std::deque<rte_mbuf*> from_n3, from_air;
  Gnb<F, test::TestSource, test::TestSink> gnb;
};

TEST(Gnb, downlink_goes_to_the_air_and_uplink_to_n3_in_one_round) {
  GnbRig<FeatureSet::clone> rig;
  rig.from_n3.push_back(rig.pool.make(rig.to_bearer(1).make()));
  rig.from_air.push_back(rig.pool.make(rig.from_ue(1, 0, {0x45, 1, 2})));
  rig.round();
  EXPECT_EQ(rig.air.frames, std::vector<Bytes>{rig.air_frame(1, 0, N3Frame{}.payload)});
  EXPECT_EQ(rig.n3.frames.size(), 1U);
  EXPECT_EQ(rig.pool.in_use(), 0U) << "the worker consumed its own copies";
  EXPECT_EQ(rig.at_stage(Stage::copies), 1U);
}

TEST(Gnb, copies_wait_for_their_consumer_unless_the_worker_is_it) {
  GnbRig<FeatureSet::clone> rig(false);
  for (int i = 0; i < 40; ++i) rig.from_n3.push_back(rig.pool.make(rig.to_bearer(1).make()));
  rig.round();
  rig.round();
  EXPECT_EQ(rig.copies.count(), 40U);
  EXPECT_EQ(rig.pool.in_use(), 40U);

  WorkerStats stats;
  CopiesConsumer consumer({{RingSource{rig.copies.get()}}}, stats);
  Burst burst;
  while (consumer.queues()[0].receive(burst) != 0) consumer.process(consumer.queues()[0], burst);
  EXPECT_EQ(rig.pool.in_use(), 0U);
  EXPECT_EQ(stats.stages[static_cast<std::size_t>(Stage::copies)].packets.get(), 40U);
}

TEST(Gnb, a_flush_drains_more_than_one_burst_of_copies) {
  GnbRig<FeatureSet::clone> rig;
  for (int i = 0; i < 64; ++i) ASSERT_EQ(rte_ring_sp_enqueue(rig.copies.get(), rig.pool.make(Bytes(60))), 0);
  rig.round();
  EXPECT_EQ(rig.copies.count(), 0U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(Gnb, without_a_ring_for_copies_a_round_still_works) {
  GnbRig<FeatureSet::mat> rig;
  rig.context->copies = nullptr;
  rig.from_n3.push_back(rig.pool.make(rig.to_bearer(1).make()));
  rig.round();
  EXPECT_EQ(rig.air.frames.size(), 1U);
}

TEST(Gnb, one_burst_in_sixteen_is_priced) {
  GnbRig<FeatureSet::mat> rig;
  for (unsigned n = 0; n < 4 * kSampleEvery; ++n) {
    rig.from_n3.push_back(rig.pool.make(rig.to_bearer(1).make()));
    rig.round();
  }
  const StageStats& parse = rig.context->stats.stages[static_cast<std::size_t>(Stage::dl_parse)];
  EXPECT_EQ(parse.packets.get(), 4U * kSampleEvery);
  EXPECT_EQ(parse.sampled_packets.get(), 4U);
  EXPECT_GT(parse.sampled_cycles.get(), 0U);
}

// A random frame for N3 or the air: good, bad, unknown, control, cut short or damaged.
Bytes random_frame(const test::TestGnb& world, bool from_n3, std::uint32_t& count) {
  const auto any_bearer = *rc::gen::inRange<std::uint32_t>(0, 7);
  const auto size = *rc::gen::inRange<std::size_t>(0, 100);
  const int kind = *rc::gen::inRange(0, 8);
  Bytes frame;
  if (from_n3) {
    N3Frame spec{.teid = world.teid(any_bearer), .payload = test::inner_packet(size)};
    spec.ipv6 = kind == 1;
    if (kind == 2) spec.extensions.clear();
    if (kind == 3) spec.tags = {1};
    frame = kind == 4 ? test::arp_frame() : kind == 5 ? test::neighbor_frame(135) : spec.make();
  } else {
    const std::uint32_t bearer = any_bearer < 1 || any_bearer > 4 ? 1 : any_bearer;
    frame = world.from_ue(bearer, count++, test::inner_packet(size));
    if (kind == 1) wire::store_be32(frame.data() + 18, world.teid(any_bearer));
    if (kind == 2) frame[24] &= 0x7f;  // RLC control in AM, PDCP control in TM
    if (kind == 3) frame[24] |= 0x30;  // a segment in AM
  }
  if (kind == 6) frame.resize(*rc::gen::inRange<std::size_t>(0, frame.size() + 1));
  if (kind == 7 && !frame.empty())
    frame[*rc::gen::inRange<std::size_t>(0, std::min<std::size_t>(frame.size(), 70))] =
        *rc::gen::arbitrary<std::uint8_t>();
  return frame;
}

template <FeatureSet F>
void random_traffic_is_accounted() {
  GnbRig<F> rig(*rc::gen::arbitrary<bool>());
  std::uint64_t in = 0;
  std::uint32_t count = 0;
  const int rounds = *rc::gen::inRange(1, 6);
  for (int i = 0; i < rounds; ++i) {
    for (const bool n3 : {true, false}) {
      const auto frames = *rc::gen::inRange<unsigned>(0, 40);
      for (unsigned f = 0; f < frames; ++f, ++in) {
        const Bytes frame = random_frame(rig, n3, count);
        const bool segmented = frame.size() > 1 && *rc::gen::inRange(0, 12) == 0;
        const auto headroom = *rc::gen::weightedElement<std::uint16_t>({{5, 128}, {1, 0}, {1, 30}});
        rte_mbuf* m = segmented ? rig.pool.make_segmented(frame, frame.size() / 2) : rig.pool.make(frame, headroom);
        RC_ASSERT(m != nullptr);
        (n3 ? rig.from_n3 : rig.from_air).push_back(m);
      }
    }
    rig.air.room = rig.n3.room = *rc::gen::weightedElement<unsigned>({{3, ~0U}, {1, 0}, {1, 7}});
    while (rig.round() != 0) {
    }
    (void)rig.punt.drain();
  }
  const WorkerStats& s = rig.context->stats;
  RC_ASSERT(in ==
            s.transmitted_air.get() + s.transmitted_n3.get() + s.dropped() + s.punted.get() + s.rlc_control.get());
  RC_ASSERT(s.transmitted_air.get() == rig.air.frames.size());
  RC_ASSERT(s.transmitted_n3.get() == rig.n3.frames.size());
  RC_ASSERT(rig.dropped(DropReason::ok) == 0U);
  // Every packet that a bearer numbered was sent, or dropped at the port.
  std::uint64_t numbered = 0, lost = 0;
  for (std::size_t i = 0; i < test::kLines; ++i) {
    RC_ASSERT(rig.downlink[i].received == rig.downlink[i].pdcp_tx_next);
    numbered += rig.downlink[i].received;
    lost += rig.drops[i].downlink;
  }
  if constexpr (F >= FeatureSet::mat) {
    RC_ASSERT(numbered == s.transmitted_air.get() + lost);
  }
  (void)rig.copies.drain();
  RC_ASSERT(rig.pool.in_use() == 0U);
}

TEST(GnbProperty, random_traffic_is_accounted_with_decap) {
  EXPECT_TRUE(rc::check(random_traffic_is_accounted<FeatureSet::decap>));
}
TEST(GnbProperty, random_traffic_is_accounted_with_headers) {
  EXPECT_TRUE(rc::check(random_traffic_is_accounted<FeatureSet::headers>));
}
TEST(GnbProperty, random_traffic_is_accounted_with_mat) {
  EXPECT_TRUE(rc::check(random_traffic_is_accounted<FeatureSet::mat>));
}
TEST(GnbProperty, random_traffic_is_accounted_with_clone) {
  EXPECT_TRUE(rc::check(random_traffic_is_accounted<FeatureSet::clone>));
}

}  // namespace
}  // namespace splitplane::datapath
