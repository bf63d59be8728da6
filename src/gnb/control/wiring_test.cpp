#include "gnb/control/wiring.h"

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using ::testing::HasSubstr;

class WiringTest : public test::PartsTest {
 protected:
  // Why a configuration cannot be wired.
  std::string refusal(const GnbConfig& config) {
    parts_.reset();
    test::Parts parts(config);
    const auto made = parts.wiring.make(parts.workers, parts.peers);
    return made ? "" : made.error().message;
  }
};

TEST(Wiring, shards_are_owned_by_gnb_workers_and_share_the_bearers) {
  const GnbConfig config = test::with_dispatcher();
  const auto owned = owned_shards(config);
  ASSERT_EQ(owned.size(), 8U);
  EXPECT_EQ(owned.back().value, 7);
  EXPECT_EQ(bearers_per_shard(config), 4U);
  GnbConfig odd = config;
  odd.max_bearers = 257;
  EXPECT_EQ(bearers_per_shard(odd), 2U) << "rounded up";
}

TEST_F(WiringTest, each_worker_has_its_ports_rings_and_lines) {
  for (std::size_t i = 0; i < 2; ++i) {
    const datapath::GnbContext& gnb = *parts_->worker(i).gnb;
    EXPECT_NE(gnb.pool, nullptr);
    EXPECT_NE(gnb.copies, nullptr);
    EXPECT_NE(gnb.inject, nullptr);
    for (const rte_ring* ring : gnb.punt.rings) EXPECT_NE(ring, nullptr);
    EXPECT_EQ(gnb.n3.mac, parts_->wiring.ports().at("n3")->mac());
    EXPECT_TRUE(parts_->worker(i).drains_copies);
  }
  EXPECT_TRUE(parts_->worker(0).gnb->bearers.owns(ran::make_teid(1, ShardId{3}, 0)));
  EXPECT_FALSE(parts_->worker(0).gnb->bearers.owns(ran::make_teid(1, ShardId{4}, 0)));
  EXPECT_EQ(parts_->n3_interface().workers.size(), 2U);
  EXPECT_EQ(parts_->n3_interface().own.mac, parts_->wiring.ports().at("n3")->mac());
}

TEST_F(WiringTest, a_dispatching_worker_feeds_those_it_names) {
  make(test::with_dispatcher());
  const datapath::DispatchContext& d = *parts_->worker(2).dispatch;
  ASSERT_EQ(d.workers.size(), 1U);
  EXPECT_EQ(d.workers[0].downlink, parts_->worker(1).rings.downlink);
  EXPECT_EQ(d.worker_of_shard[4], 0);
  EXPECT_EQ(d.worker_of_shard[0], datapath::DispatchContext::kNoWorker);
  EXPECT_EQ(parts_->worker(0).rings.downlink, nullptr);
}

TEST_F(WiringTest, workers_behind_a_card_give_each_other_what_is_the_others) {
  make(test::with_card());
  WorkerRuntime &one = parts_->worker(0), &mate = parts_->worker(1);
  const std::uint32_t of_mate = ran::make_teid(1, ShardId{4}, 0), of_one = ran::make_teid(1, ShardId{0}, 0);
  EXPECT_TRUE(one.gnb->punt_handoff.has_worker(of_mate));
  EXPECT_FALSE(one.gnb->punt_handoff.has_worker(of_one)) << "it is its own";
  EXPECT_TRUE(mate.gnb->punt_handoff.has_worker(of_one));
  ASSERT_EQ(one.gnb->handed.size(), 1U);
  ASSERT_EQ(mate.gnb->handed.size(), 1U);
  EXPECT_NE(one.gnb->handed[0].downlink, mate.gnb->handed[0].downlink);
}

TEST_F(WiringTest, a_worker_leaves_its_copies_to_the_one_that_consumes_them) {
  GnbConfig config = test::small_config();
  WorkerConfig copies;
  copies.name = "c";
  copies.core = 2;
  copies.function = WorkerConfig::Function::kCopies;
  copies.from = {"w1"};
  config.workers.push_back(copies);
  make(config);
  EXPECT_TRUE(parts_->worker(0).drains_copies);
  EXPECT_FALSE(parts_->worker(1).drains_copies);
  EXPECT_EQ(parts_->worker(1).gnb->copies_consumer, &parts_->worker(2).power.wakeup());
}

TEST_F(WiringTest, every_function_gets_a_loop) {
  GnbConfig config = test::with_dispatcher();
  WorkerConfig forwarder;
  forwarder.name = "f";
  forwarder.core = 3;
  forwarder.function = WorkerConfig::Function::kL2fwd;
  forwarder.rx = forwarder.tx = "n3";
  config.workers.push_back(forwarder);
  WorkerConfig copies = forwarder;
  copies.name = "c";
  copies.core = 4;
  copies.function = WorkerConfig::Function::kCopies;
  copies.rx = copies.tx = "";
  copies.from = {"w0"};
  config.workers.push_back(copies);
  make(config);
  parts_->wiring.make_loops(parts_->workers);
  for (const auto& worker : parts_->workers.all()) {
    EXPECT_TRUE(worker->loop) << worker->config.name;
    worker->stop = true;
    worker->loop();  // here; it ends at once
  }
}

TEST_F(WiringTest, bearer_lookup_has_room_in_every_worker_that_looks_there) {
  GnbConfig config = test::with_dispatcher();
  config.lookup = GnbConfig::Lookup::kUeAddress;
  make(config);
  for (const auto& worker : parts_->workers.all()) {
    EXPECT_TRUE(worker->keys()->teids) << worker->config.name;
    EXPECT_TRUE(worker->keys()->ue_ipv4 && worker->keys()->ue_ipv6) << worker->config.name;
  }
}

TEST_F(WiringTest, a_port_that_cannot_be_opened_is_named_and_nothing_stays) {
  GnbConfig config = test::small_config();
  config.ports[1].device = "net_no_such_driver";
  EXPECT_THAT(refusal(config), HasSubstr("air"));
  EXPECT_EQ(refusal(test::small_config()), "") << "the other port is free again";
}

TEST_F(WiringTest, too_many_bearers_for_the_memory_are_refused_with_what_helps) {
  GnbConfig config = test::small_config();
  config.max_bearers = std::size_t{256} << 18;
  EXPECT_THAT(refusal(config), HasSubstr("allowed: a larger memory.megabytes or a smaller max_bearers"));
}

}  // namespace
}  // namespace splitplane::gnb
