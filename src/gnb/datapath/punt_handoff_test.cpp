// Two gNB workers behind one card. Packets that the card could not read come to the worker that reads its punts. Each
// packet ends at the worker that owns its bearer, and each worker counts it once.
#include "gnb/datapath/punt_handoff.h"

#include <gtest/gtest.h>

#include "engine/worker.h"
#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

struct Worker : test::TestGnb {
  Worker() : gnb(*context, {&from_n3}, {&from_air}, test::TestSink{&n3}, test::TestSink{&air}, true) {}

  // Returns how many packets the worker was busy with.
  unsigned round() { return one_round<false>(gnb, burst, context->stats, look); }
  [[nodiscard]] bool balanced() const {
    const WorkerStats& s = context->stats;
    return s.received_total() == s.transmitted_air.get() + s.transmitted_n3.get() + s.returned.get() + s.dropped() +
                                     s.punted.get() + s.rlc_control.get() + s.dispatched.get();
  }

  Burst burst;
  QueueLook look;
  test::Taken n3, air;
  std::deque<rte_mbuf*> from_n3, from_air;
  Gnb<FeatureSet::clone, test::TestSource, test::TestSink> gnb;
};

// The other worker has the bearers of shard 1. The reader takes those of no shard.
class GnbPuntHandoff : public ::testing::Test {
 protected:
  void SetUp() override {
    reader_.context->bearers.detach(ShardId{1});
    owner_.context->handed = {{downlink_.get(), uplink_.get(), &wakeup_}};
    reader_.context->punt_handoff.workers.push_back(owner_.context->handed[0]);
    reader_.context->punt_handoff.of_shard[1] = 0;
  }
  void TearDown() override {
    EXPECT_TRUE(reader_.balanced());
    EXPECT_TRUE(owner_.balanced());
    EXPECT_EQ(reader_.pool.in_use(), 0U);
  }
  void punt_n3(const N3Frame& frame) { reader_.from_n3.push_back(reader_.pool.make(frame.make())); }
  void punt_air(const Bytes& frame) { reader_.from_air.push_back(reader_.pool.make(frame)); }
  static std::uint64_t dropped(const Worker& w, DropReason reason) { return w.dropped(reason); }

  test::Ring downlink_{4}, uplink_{4};
  Wakeup wakeup_;
  Worker reader_, owner_;
};

TEST_F(GnbPuntHandoff, a_packet_of_another_workers_bearer_is_served_by_that_worker) {
  N3Frame options = owner_.to_bearer(1);
  options.ip_options = Bytes{1, 1, 1, 1};
  punt_n3(options);
  punt_air(owner_.from_ue(1, 0, {0x45, 1, 2}));
  reader_.round();
  EXPECT_EQ(reader_.context->stats.dispatched.get(), 2U);
  EXPECT_TRUE(reader_.air.frames.empty() && reader_.n3.frames.empty());
  EXPECT_LE(owner_.gnb.next_work(7), 7U) << "no packet of its own announces them";
  owner_.round();
  EXPECT_EQ(owner_.air.frames, std::vector<Bytes>{owner_.air_frame(1, 0, options.payload)});
  EXPECT_EQ(owner_.n3.frames.size(), 1U);
  EXPECT_EQ(owner_.context->stats.received[kHandedQueue].get(), 1U);
  EXPECT_EQ(owner_.context->stats.received[kHandedQueue + 1].get(), 1U);
  EXPECT_GT(owner_.gnb.next_work(7), 7U);
}

// Otherwise its time would count as idle, and the frequency of its core would drop under load.
TEST_F(GnbPuntHandoff, a_worker_is_busy_with_packets_that_were_handed_off_to_it) {
  punt_n3(owner_.to_bearer(1));
  punt_air(owner_.from_ue(1, 0, {0x45, 1, 2}));
  EXPECT_EQ(reader_.round(), 2U);
  EXPECT_EQ(owner_.round(), 2U) << "none of its own queues had any";
  EXPECT_EQ(owner_.round(), 0U);
}

TEST_F(GnbPuntHandoff, a_packet_of_a_bearer_on_the_card_goes_back_to_it_from_its_worker) {
  owner_.downlink[1] = ran::make_on_card(owner_.config(1));
  punt_n3(owner_.to_bearer(1));
  reader_.round();
  owner_.round();
  EXPECT_EQ(owner_.context->stats.returned.get(), 1U);
  EXPECT_EQ(owner_.n3.frames.size(), 1U);
}

TEST_F(GnbPuntHandoff, a_packet_of_no_bearer_is_dropped_where_its_shard_is) {
  N3Frame unknown = owner_.to_bearer(9), unowned = owner_.to_bearer(1);
  unowned.teid = ran::make_teid(3, ShardId{77}, 1);
  punt_n3(unknown);
  punt_n3(unowned);
  punt_air(owner_.from_ue(4, 0, {0x45}));  // its UPF is not resolved
  Bytes foreign = owner_.from_ue(1, 0, {0x45});
  wire::store_be32(foreign.data() + 18, unowned.teid);
  punt_air(foreign);
  reader_.round();
  owner_.round();
  EXPECT_EQ(dropped(reader_, DropReason::teid_unknown), 1U);
  EXPECT_EQ(dropped(reader_, DropReason::bearer_unknown), 1U);
  EXPECT_EQ(dropped(owner_, DropReason::teid_unknown), 1U);
  EXPECT_EQ(dropped(owner_, DropReason::peer_unresolved), 1U);
  (void)reader_.punt.drain();  // the control thread answers these
  (void)owner_.punt.drain();
}

TEST_F(GnbPuntHandoff, packets_for_a_full_ring_are_dropped_and_counted) {
  for (int i = 0; i < 6; ++i) {
    punt_n3(owner_.to_bearer(1));
    punt_air(owner_.from_ue(1, static_cast<std::uint32_t>(i), {0x45}));
  }
  reader_.round();
  EXPECT_EQ(dropped(reader_, DropReason::worker_full), 4U) << "two of each direction";
  owner_.gnb.finish();
  EXPECT_EQ(owner_.air.frames.size(), 4U) << "the end of a worker leaves nothing on its rings";
  EXPECT_EQ(owner_.n3.frames.size(), 4U);
}

TEST_F(GnbPuntHandoff, a_worker_that_knows_the_keys_of_another_finds_its_bearers_by_them) {
  struct alignas(64) Line {
    std::array<std::byte, 64> octets;
  };
  std::vector<Line> memory(BearerLookup::Short::bytes_needed(16) / sizeof(Line) + 1);
  auto table = BearerLookup::Short::create(std::as_writable_bytes(std::span(memory)), 16, 1);
  ASSERT_TRUE(table);
  reader_.context->keys.teids.emplace(*std::move(table));
  ran::BearerConfig chosen = owner_.config(1);
  chosen.dl_teid = Teid{0x70000001};
  ASSERT_TRUE(enter(reader_.context->keys, chosen));
  N3Frame frame = owner_.to_bearer(1);
  frame.teid = 0x70000001;
  punt_n3(frame);
  reader_.round();
  EXPECT_EQ(reader_.context->stats.dispatched.get(), 1U);
  EXPECT_EQ(downlink_.drain().size(), 1U);
}

}  // namespace
}  // namespace splitplane::datapath
