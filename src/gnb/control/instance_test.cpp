// A whole instance whose worker runs on its thread, on the ring ports of DPDK: what goes out comes back in.
#include "gnb/control/instance.h"

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class InstanceTest : public ::testing::Test {
 protected:
  // DPDK of these tests has one thread for workers.
  [[nodiscard]] static GnbConfig one_worker() {
    GnbConfig config = test::small_config();
    config.workers.pop_back();
    config.workers[0].policy.kind = power::Kind::yield;
    for (PortConfig& port : config.ports) port.device = "net_ring_" + port.name;
    return config;
  }
  void start(const GnbConfig& config) {
    auto started = Instance::start_on(std::nullopt, config);
    ASSERT_TRUE(started) << started.error().message;
    instance_ = *std::move(started);
  }
  template <class Condition>
  bool soon(Condition condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition()) return true;
      const auto now = std::chrono::steady_clock::now();
      instance_->serve_n3(now);
      instance_->watch_ports(now);
      std::this_thread::sleep_for(2ms);
    }
    return false;
  }
  std::unique_ptr<Instance> instance_;
};

TEST_F(InstanceTest, bearers_come_and_go_while_its_worker_runs) {
  start(one_worker());
  const ran::BearerConfig wanted = test::bearer(7);
  const auto added = instance_->add_bearers({&wanted, 1}, std::nullopt);
  ASSERT_TRUE(added) << added.error().message;
  const BearerId id = added->bearers.front().id;
  EXPECT_TRUE(instance_->wait_for_disk());
  EXPECT_EQ(instance_->bearer_count(), 1U);
  EXPECT_TRUE(instance_->show_bearer(id));
  EXPECT_EQ(instance_->list_bearers(0, 10)->size(), 1U);
  EXPECT_TRUE(instance_->modify_bearer(id, test::patch({{"qfi", 5U}})));
  EXPECT_TRUE(instance_->release_bearer(id).value_or(false));
  EXPECT_EQ(instance_->bearer_count(), 0U);
}

TEST_F(InstanceTest, its_control_thread_asks_for_the_upf_by_way_of_the_worker) {
  start(one_worker());
  const ran::BearerConfig wanted = test::bearer(7);
  ASSERT_TRUE(instance_->add_bearers({&wanted, 1}, std::nullopt));
  EXPECT_TRUE(soon([&] { return instance_->observe().workers.front().counters.injected != 0; }));
  const auto peers = instance_->peers();
  ASSERT_TRUE(peers);
  ASSERT_EQ(peers->size(), 1U);
  EXPECT_EQ((*peers)[0].at("name"), "10.100.0.2");
  instance_->stop_workers();
  const auto stats = instance_->stats();
  ASSERT_TRUE(stats);
  EXPECT_TRUE(stats->at("totals").at("balanced")) << stats->dump(1);
  EXPECT_GE(stats->at("gtpu")[0].at("neighbor_questions"), 1);
}

TEST_F(InstanceTest, power_and_taps_are_asked_of_running_workers) {
  start(one_worker());
  const auto power = instance_->show_power();
  ASSERT_TRUE(power) << power.error().message;
  EXPECT_EQ((*power)[0].at("name"), "w0");
  power::Settings busy;
  busy.kind = power::Kind::busy;
  EXPECT_TRUE(instance_->set_power("w0", busy));
  EXPECT_TRUE(instance_->set_power("w0", {}));
  EXPECT_EQ(instance_->list_taps()->at("taps").size(), 0U);
  EXPECT_FALSE(instance_->tap_on({.name = "t", .port = "n9", .file = "/tmp/splitplane-never"}));
  EXPECT_EQ(instance_->tap_off("t")->at("existed"), false);
  const auto card = instance_->show_card();
  ASSERT_FALSE(card);
  EXPECT_THAT(card.error().message, HasSubstr("this host has no card"));
}

TEST_F(InstanceTest, counters_stay_readable_after_the_workers_have_stopped) {
  start(one_worker());
  instance_->stop_workers();
  instance_->stop_workers();
  const auto stats = instance_->stats();
  ASSERT_TRUE(stats);
  EXPECT_TRUE(stats->at("totals").at("balanced"));
  EXPECT_EQ(stats->at("workers")[0].at("name"), "w0");
}

TEST_F(InstanceTest, a_start_that_fails_undoes_what_was_begun) {
  GnbConfig wrong = one_worker();
  wrong.bearers = {{.count = 5, .first = test::bearer(50), .shard = 0}};
  const auto refused = Instance::start_on(std::nullopt, wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("bearers: "));
  start(one_worker());
}

}  // namespace
}  // namespace splitplane::gnb
