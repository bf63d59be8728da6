#include "explain/worker.h"

#include <gmock/gmock.h>

#include "engine/test_environment.h"
#include "explain/test_config.h"
#include "n3/test_frames.h"

namespace splitplane::app {
namespace {

using testing::HasSubstr;

class ExplainWorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ExplainWorker::make(config, config.workers.front(), pool.get());
    ASSERT_TRUE(made) << made.error().message;
    worker = *std::move(made);
    worker->make_lines(16);
    ASSERT_TRUE(worker->make_keys(0, 1));
  }

  const Config config = test::one_worker();
  datapath::test::Pool pool;
  std::unique_ptr<ExplainWorker> worker;
};

TEST_F(ExplainWorkerTest, a_packet_without_a_bearer_is_dropped_and_its_buffer_returns) {
  Outcome outcome;
  worker->work(pool.make(datapath::test::N3Frame{.teid = test::kFirst}.make()), Direction::kDownlink, outcome);
  EXPECT_EQ(outcome.worker, "w0");
  EXPECT_EQ(outcome.dropped, datapath::DropReason::teid_unknown);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(ExplainWorkerTest, each_upf_has_one_number_and_the_mac_address_that_is_known_for_it) {
  unsigned asked = 0;
  const auto mac_of = [&](const IpAddress&) {
    ++asked;
    return std::optional(datapath::test::kUpfMac);
  };
  const auto first = worker->peer_of(IpAddress::v4({10, 100, 0, 2}), mac_of);
  const auto second = worker->peer_of(IpAddress::v4({10, 100, 0, 3}), mac_of);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->value, second->value);
  EXPECT_EQ(worker->peer_of(IpAddress::v4({10, 100, 0, 2}), mac_of)->value, first->value);
  EXPECT_EQ(asked, 2U) << "a UPF that is known is not looked up again";
}

TEST_F(ExplainWorkerTest, a_upf_of_a_family_without_an_address_is_refused) {
  const auto refused = worker->peer_of(*IpAddress::parse("2001:db8::1"), [](const IpAddress&) { return std::nullopt; });
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("N3 port n3 has no address of that family"));
}

TEST_F(ExplainWorkerTest, a_packet_on_its_rings_is_taken_by_direction) {
  EXPECT_FALSE(worker->has_packets());
  rte_mbuf* const m = pool.make({1, 2, 3});
  ASSERT_EQ(rte_ring_sp_enqueue(worker->rings().uplink, m), 0);
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
