// The dispatching worker: every packet reaches the worker that owns its shard, in order, or is dropped with its own
// reason.
#include "gnb/datapath/dispatch.h"

#include <gtest/gtest.h>

#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

struct DispatchRig {
  DispatchRig() {
    context.n3 = test::our_addresses();
    context.punt = punt.get();
    for (auto& worker : workers) context.workers.push_back({worker.downlink.get(), worker.uplink.get()});
    context.worker_of_shard.fill(DispatchContext::kNoWorker);
    for (std::size_t shard = 0; shard < 200; ++shard)
      context.worker_of_shard[shard] = static_cast<std::uint8_t>(shard % 3);
  }

  void run(Direction direction, const std::vector<Bytes>& frames) {
    Burst burst = test::burst_of(pool, frames);
    run(direction, burst);
  }
  void run(Direction direction, Burst burst) {
    Dispatch::Queue queue{{}, direction};
    received += burst.size;
    dispatch.process(queue, burst);
    EXPECT_EQ(received, context.stats.dispatched.get() + context.stats.dropped() + context.stats.punted.get());
  }
  [[nodiscard]] std::uint64_t dropped(DropReason reason) const {
    return context.stats.drops[static_cast<std::size_t>(reason)].get();
  }

  struct Worker {
    test::Ring downlink{16}, uplink{16};
  };
  test::Pool pool;
  test::Ring punt{2};
  std::array<Worker, 3> workers;
  DispatchContext context;
  Dispatch dispatch{context, {}};
  std::uint64_t received = 0;
};

std::uint32_t id_in(unsigned shard, std::uint32_t index) {
  return ran::make_teid(2, ShardId{static_cast<std::uint8_t>(shard)}, index);
}

Bytes air_frame(std::uint32_t id) {
  Bytes frame(60);
  wire::ethernet::write(frame, test::kAirMac.octets, test::kUeMac.octets, wire::ethernet::kTypeAirhdr);
  wire::store_be32(frame.data() + 18, id);
  return frame;
}

TEST(Dispatch, downlink_packets_reach_the_owner_of_their_shard_unchanged_and_in_order) {
  DispatchRig rig;
  std::array<std::vector<Bytes>, 3> want;
  std::vector<Bytes> frames;
  for (unsigned n = 0; n < 30; ++n) {
    const unsigned shard = (n * 7) % 200;
    N3Frame frame{.teid = id_in(shard, n)};
    if (n % 4 == 1) frame.ipv6 = true;
    if (n % 4 == 2) frame.tags = {4};
    frames.push_back(frame.make());
    want[shard % 3].push_back(frames.back());
  }
  rig.run(Direction::kDownlink, frames);
  for (std::size_t worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(rig.workers[worker].downlink.drain(), want[worker]);
    EXPECT_EQ(rig.workers[worker].uplink.count(), 0U);
  }
  EXPECT_EQ(rig.context.stats.dispatched.get(), 30U);
}

TEST(Dispatch, uplink_packets_reach_the_owner_of_their_shard) {
  DispatchRig rig;
  rig.run(Direction::kUplink, {air_frame(id_in(0, 1)), air_frame(id_in(1, 1)), air_frame(id_in(3, 9))});
  EXPECT_EQ(rig.workers[0].uplink.drain(), (std::vector<Bytes>{air_frame(id_in(0, 1)), air_frame(id_in(3, 9))}));
  EXPECT_EQ(rig.workers[1].uplink.drain(), std::vector<Bytes>{air_frame(id_in(1, 1))});
  EXPECT_EQ(rig.workers[1].downlink.count(), 0U);
}

TEST(Dispatch, a_shard_that_nobody_owns_is_lost) {
  DispatchRig rig;
  rig.run(Direction::kDownlink, {N3Frame{.teid = id_in(200, 0)}.make(), N3Frame{.teid = id_in(255, 7)}.make()});
  rig.run(Direction::kUplink, {air_frame(id_in(201, 0))});
  EXPECT_EQ(rig.dropped(DropReason::shard_unowned), 3U);
  EXPECT_EQ(rig.punt.drain(), std::vector<Bytes>{N3Frame{.teid = id_in(200, 0)}.make()}) << "for an Error Indication";
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(Dispatch, a_shard_map_that_names_a_worker_too_many_loses_the_packets) {
  DispatchRig rig;
  rig.context.worker_of_shard[5] = 3;
  rig.context.worker_of_shard[6] = kMaxWorkers;
  rig.run(Direction::kUplink, {air_frame(id_in(5, 0)), air_frame(id_in(6, 0))});
  EXPECT_EQ(rig.dropped(DropReason::shard_unowned), 2U);
}

TEST(Dispatch, a_full_ring_loses_what_is_too_much_and_nothing_of_the_others) {
  DispatchRig rig;
  std::vector<Bytes> frames(20, N3Frame{.teid = id_in(0, 1)}.make());
  frames.push_back(N3Frame{.teid = id_in(1, 1)}.make());
  rig.run(Direction::kDownlink, frames);
  EXPECT_EQ(rig.dropped(DropReason::worker_full), 4U);
  EXPECT_EQ(rig.workers[0].downlink.count(), 16U);
  EXPECT_EQ(rig.workers[1].downlink.count(), 1U);
  EXPECT_EQ(rig.pool.in_use(), 17U);
}

TEST(Dispatch, arp_goes_to_the_control_thread_or_is_lost) {
  DispatchRig rig;
  rig.run(Direction::kDownlink, std::vector<Bytes>(3, test::arp_frame()));
  EXPECT_EQ(rig.context.stats.punted.get(), 2U);
  EXPECT_EQ(rig.dropped(DropReason::punt_full), 1U);
  rig.context.punt = nullptr;
  rig.run(Direction::kDownlink, {test::arp_frame()});
  EXPECT_EQ(rig.dropped(DropReason::punt_full), 2U);
}

TEST(Dispatch, bad_frames_are_lost_by_reason) {
  DispatchRig rig;
  rig.run(Direction::kDownlink, {Bytes{}, N3Frame{.destination = 1}.make(), N3Frame{.port = 1}.make()});
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::ethernet_truncated)), 1U);
  EXPECT_EQ(rig.dropped(DropReason::not_for_us), 1U);
  EXPECT_EQ(rig.dropped(drop_reason(wire::Reason::udp_port_unknown)), 1U);
  Bytes other = air_frame(id_in(0, 0));
  other[13] = 0;
  const Bytes whole = air_frame(id_in(0, 0));
  rig.run(Direction::kUplink, {other, Bytes(whole.begin(), whole.begin() + 21), Bytes{}});
  EXPECT_EQ(rig.dropped(DropReason::not_air_frame), 3U);
  Burst burst;
  burst.mbuf[burst.size++] = rig.pool.make_segmented(N3Frame{.teid = id_in(0, 0)}.make(), 58);
  rig.run(Direction::kDownlink, burst);
  EXPECT_EQ(rig.dropped(DropReason::mbuf_segmented), 1U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(Dispatch, a_worker_behind_it_reads_its_ring_in_bursts) {
  DispatchRig rig;
  rig.run(Direction::kDownlink, std::vector<Bytes>(10, N3Frame{.teid = id_in(0, 1)}.make()));
  RingSource source{rig.workers[0].downlink.get()};
  Burst burst;
  ASSERT_EQ(source.receive(burst), 10U);
  rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
  EXPECT_EQ(source.receive(burst), 0U);
}

}  // namespace
}  // namespace splitplane::datapath
