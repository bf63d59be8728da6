#include "explain/worker.h"

#include <gmock/gmock.h>

#include "engine/test_environment.h"
#include "explain/test_config.h"
#include "gnb/control/parts.h"
#include "n3/test_frames.h"

namespace splitplane::app {
namespace {

class ExplainWorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = parts.wiring.make_without_ports(parts.workers, parts.peers, pool.get());
    ASSERT_TRUE(made) << made.error().message;
    runtime = parts.workers.all().front().get();
    worker.emplace(*runtime, parts.config.n3.front());
  }

  datapath::test::Pool pool;
  gnb::Parts parts{test::one_worker()};
  gnb::WorkerRuntime* runtime = nullptr;
  std::optional<ExplainWorker> worker;
};

TEST_F(ExplainWorkerTest, a_packet_without_a_bearer_is_dropped_and_its_buffer_returns) {
  Outcome outcome;
  worker->work(pool.make(datapath::test::N3Frame{.teid = test::kFirst}.make()), Direction::kDownlink, outcome);
  EXPECT_EQ(outcome.worker, "w0");
  EXPECT_EQ(outcome.dropped, datapath::DropReason::teid_unknown);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(ExplainWorkerTest, a_packet_on_its_rings_is_taken_by_direction) {
  const datapath::test::Ring downlink(16), uplink(16);
  runtime->gnb->handed = {{downlink.get(), uplink.get()}};
  EXPECT_FALSE(worker->has_packets());
  rte_mbuf* const m = pool.make({1, 2, 3});
  ASSERT_EQ(rte_ring_sp_enqueue(uplink.get(), m), 0);
  EXPECT_TRUE(worker->has_packets());
  EXPECT_EQ(worker->take(Direction::kDownlink), nullptr);
  EXPECT_EQ(worker->take(Direction::kUplink), m);
  EXPECT_EQ(octets_of(m), (Octets{1, 2, 3}));
  rte_pktmbuf_free(m);
}

TEST(ExplainDrops, the_reason_of_a_drop_is_the_counter_that_changed) {
  datapath::WorkerStats stats;
  const DropCounts before = drops_of(stats);
  EXPECT_FALSE(reason_since(before, stats));
  stats.drops[static_cast<std::size_t>(datapath::DropReason::bearer_unknown)].add(1);
  EXPECT_EQ(reason_since(before, stats), datapath::DropReason::bearer_unknown);
}

}  // namespace
}  // namespace splitplane::app
