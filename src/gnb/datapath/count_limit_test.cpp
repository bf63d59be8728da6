// Where a bearer's downlink stops numbering: at the end of COUNTs, at the end of their lease, at a full window; and
// that it asks once for a longer lease and goes on.
#include "gnb/datapath/count_limit.h"

#include <gtest/gtest.h>

#include "gnb/datapath/downlink.h"
#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;

template <FeatureSet F>
struct CountRig : test::TestGnb {
  CountRig() {
    context->bearers.attach(ShardId{1}, {downlink.data(), uplink.data(), drops.data(), test::kLines, leases.data()});
    context->lease_requests.emplace(requests.get());
  }
  ~CountRig() {  // the ring takes what is left on it for packets
    while (context->lease_requests->take()) {
    }
  }
  // Bearer 1 may give COUNTs from `next` on.
  void lease(std::uint32_t next, ran::CountLease granted) {
    downlink[1].pdcp_tx_next = context->fixed_bearer.pdcp_tx_next = next;
    grant_lease(*context, BearerId{teid(1)}, leases[1].end, granted);
  }
  void send(unsigned packets) {
    for (unsigned left = packets; left != 0;) {
      const unsigned n = std::min(left, kBurst);
      Burst burst = test::burst_of(pool, std::vector<Bytes>(n, to_bearer(1).make()));
      function.process(burst);
      received += n;
      left -= n;
      void* copy = nullptr;
      while (rte_ring_sc_dequeue(copies.get(), &copy) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(copy));
    }
    expect_balance(received);
  }

  std::vector<ran::CountLease> leases = std::vector<ran::CountLease>(test::kLines);
  test::Ring requests{3};
  test::Taken air;
  GnbDownlink<F, test::TestSink, SampledCycles> function{*context, test::TestSink{&air}, test::TestSink{&air}};
  std::uint64_t received = 0;
};

TEST(CountLimit, a_grant_that_comes_after_its_mark_was_passed_takes_the_end_of_the_lease_away_from_nobody) {
  CountRig<FeatureSet::mat> rig;
  rig.downlink[1] = ran::make_downlink(rig.config(1));
  rig.lease(0, {.end = 1024, .mark = 0});
  rig.send(600);  // the first one asks
  EXPECT_TRUE(rig.context->lease_requests->take());
  grant_lease(*rig.context, BearerId{rig.teid(1)}, 1024, {.end = 1024, .mark = 512});
  rig.send(1000);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 1024U);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 600U + 1000U - 1024U);
  EXPECT_TRUE(rig.context->lease_requests->take()) << "the next packet asks again";
  grant_lease(*rig.context, BearerId{rig.teid(1)}, 1024, {.end = 2048, .mark = 1536});
  rig.send(100);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 1124U);
}

TEST(CountLimit, the_last_count_is_followed_by_none) {
  CountRig<FeatureSet::mat> rig;
  rig.downlink[1] = ran::make_downlink(rig.config(1));
  rig.downlink[1].pdcp_tx_next = ran::kCountEnd - 2;
  rig.send(5);
  EXPECT_EQ(rig.air.frames.size(), 2U);
  EXPECT_EQ(rig.dropped(DropReason::count_exhausted), 3U);
  EXPECT_EQ(rig.drops[1].downlink, 3U);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, ran::kCountEnd);
  EXPECT_FALSE(rig.context->lease_requests->take()) << "no lease helps";
}

TEST(CountLimit, at_the_mark_it_asks_once_and_goes_on_to_the_end) {
  CountRig<FeatureSet::mat> rig;
  rig.lease(100, {.end = 120, .mark = 110});
  rig.send(10);
  EXPECT_FALSE(rig.context->lease_requests->take());
  rig.send(5);
  EXPECT_EQ(rig.context->lease_requests->take(), (LeaseRequest{BearerId{rig.teid(1)}, 110}));
  rig.send(8);
  EXPECT_EQ(rig.air.frames.size(), 20U);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 3U);
  EXPECT_FALSE(rig.context->lease_requests->take()) << "asked already";
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 120U);

  rig.lease(120, {.end = 140, .mark = 130});
  rig.send(5);
  EXPECT_EQ(rig.air.frames.size(), 25U);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 125U);
}

TEST(CountLimit, a_mark_at_the_first_count_asks_with_the_first_packet) {
  CountRig<FeatureSet::clone> rig;
  rig.lease(0, {.end = 64, .mark = 0});
  rig.send(1);
  EXPECT_EQ(rig.context->lease_requests->take(), (LeaseRequest{BearerId{rig.teid(1)}, 0}));
  EXPECT_EQ(rig.air.frames.size(), 1U);
}

TEST(CountLimit, who_finds_the_ring_full_asks_again_before_the_end) {
  CountRig<FeatureSet::mat> rig;
  for (const std::uint32_t other : {2U, 3U, 4U}) ASSERT_TRUE(rig.context->lease_requests->ask({BearerId{other}, 0}));
  rig.lease(0, {.end = 200, .mark = 10});
  rig.send(20);
  while (rig.context->lease_requests->take()) {
  }
  rig.send(60);
  EXPECT_EQ(rig.context->lease_requests->take(), (LeaseRequest{BearerId{rig.teid(1)}, 74}));
  EXPECT_EQ(rig.air.frames.size(), 80U);

  for (const std::uint32_t other : {2U, 3U, 4U}) ASSERT_TRUE(rig.context->lease_requests->ask({BearerId{other}, 0}));
  rig.lease(80, {.end = 100, .mark = 90});
  rig.send(30);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 10U) << "the end is the end, asked or not";
}

TEST(CountLimit, a_bearer_without_a_lease_numbers_nothing) {
  CountRig<FeatureSet::mat> rig;
  rig.lease(7, {.end = 7, .mark = 7});
  rig.send(3);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 3U);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 7U);
}

TEST(CountLimit, the_one_bearer_of_feature_set_headers_has_its_lease_too) {
  CountRig<FeatureSet::headers> rig;
  rig.lease(0, {.end = 4, .mark = 2});
  rig.send(6);
  EXPECT_EQ(rig.air.frames.size(), 4U);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 2U);
  EXPECT_EQ(rig.context->lease_requests->take(), (LeaseRequest{BearerId{rig.teid(1)}, 2}));
}

TEST(CountLimit, a_grant_for_a_bearer_that_is_gone_is_nothing) {
  CountRig<FeatureSet::mat> rig;
  rig.downlink[1] = {};
  grant_lease(*rig.context, BearerId{rig.teid(1)}, ran::kCountEnd, {.end = 50, .mark = 20});
  EXPECT_EQ(rig.downlink[1].count_limit, 0U);
  EXPECT_EQ(rig.leases[1].end, ran::kCountEnd);

  rig.downlink[1] = ran::make_downlink(rig.config(1));
  rig.leases[1] = {};
  rig.lease(0, {.end = 0, .mark = 0});  // added again, and not on disk yet
  grant_lease(*rig.context, BearerId{rig.teid(1)}, 100, {.end = 500, .mark = 200});
  rig.send(1);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 1U);
}

// RLC's window and the lease share one limit: the nearer one counts and gives the reason.
TEST(CountLimit, of_window_and_lease_the_nearer_one_stops_the_bearer) {
  CountRig<FeatureSet::clone> rig;
  rig.context->arq = std::make_unique<Arq>(Arq::Settings{.sends = Direction::kDownlink,
                                                         .ethernet = rig.context->air_header,
                                                         .pool = rig.pool.get(),
                                                         .ticks_per_ms = rte_get_tsc_hz() / 1000,
                                                         .now = rte_rdtsc()});
  rig.context->arq_bearers.attach(ShardId{1}, test::kLines);
  ran::BearerConfig config;
  config.acknowledged = true;
  config.arq.max_unacked = 8;
  rig.add(1, config, test::kPeerV4);
  rig.context->arq_bearers.exchange(rig.teid(1), rig.context->arq->make(rig.config(1), 1));

  rig.lease(1000, {.end = 1005, .mark = 1003});
  rig.send(7);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 2U);
  EXPECT_EQ(rig.dropped(DropReason::rlc_window_full), 0U);

  rig.lease(1005, {.end = 2000, .mark = 1500});
  rig.send(7);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 1008U);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 2U);
  EXPECT_EQ(rig.dropped(DropReason::rlc_window_full), 4U);
  auto gone = rig.context->arq_bearers.exchange(rig.teid(1), nullptr);
  rig.context->arq->detach(*gone);
}

}  // namespace
}  // namespace splitplane::datapath
