#include "gnb/control/workers.h"

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using namespace std::chrono_literals;
using test::Hanging;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkersTest : public test::PartsTest {
 protected:
  [[nodiscard]] std::uint32_t id_in(unsigned shard) const {
    return ran::make_teid(parts_->config.instance, ShardId{static_cast<std::uint8_t>(shard)}, 0);
  }
  // Looks at the workers for so long, in virtual time.
  void watch_for(std::chrono::milliseconds span) {
    const Time end = now_ + span;
    for (; now_ < end; now_ += 100ms) parts_->workers.watch(now_);
  }
  Time now_ = std::chrono::steady_clock::now();
};

TEST_F(WorkersTest, a_bearer_belongs_to_the_worker_of_its_shard) {
  EXPECT_EQ(parts_->workers.owner_of(id_in(3)), &parts_->worker(0));
  EXPECT_EQ(parts_->workers.owner_of(id_in(4)), &parts_->worker(1));
  EXPECT_EQ(parts_->workers.owner_of(id_in(8)), nullptr);
}

TEST_F(WorkersTest, a_dispatching_worker_holds_the_keys_of_those_it_feeds) {
  make(test::with_dispatcher());
  WorkerRuntime &w0 = parts_->worker(0), &w1 = parts_->worker(1), &d = parts_->worker(2);
  EXPECT_THAT(parts_->workers.key_holders(w0), ElementsAre(&w0));
  EXPECT_THAT(parts_->workers.key_holders(w1), ElementsAre(&w1, &d));
}

TEST_F(WorkersTest, the_reader_of_a_cards_punts_holds_the_keys_of_its_mates) {
  make(test::with_card());
  WorkerRuntime &w0 = parts_->worker(0), &w1 = parts_->worker(1);
  EXPECT_THAT(parts_->workers.key_holders(w1), ElementsAre(&w1, &w0));
}

TEST_F(WorkersTest, one_that_makes_no_rounds_is_asked_nothing_until_it_is_back) {
  WorkerRuntime& w0 = parts_->worker(0);
  w0.thread.running = true;
  watch_for(3s);
  EXPECT_GE(w0.silent_seconds.load(), 1U);
  bool executed = false;
  EXPECT_FALSE(w0.execute([&] { executed = true; }));
  EXPECT_FALSE(executed);
  w0.stats().rounds.add(1);
  watch_for(200ms);
  EXPECT_EQ(w0.silent_seconds.load(), 0U);
  w0.thread.running = false;
}

TEST_F(WorkersTest, one_that_makes_rounds_is_never_silent) {
  WorkerRuntime& w0 = parts_->worker(0);
  w0.thread.running = true;
  for (int i = 0; i < 30; ++i) {
    w0.stats().rounds.add(1);
    watch_for(100ms);
    ASSERT_EQ(w0.silent_seconds.load(), 0U);
  }
  w0.thread.running = false;
}

TEST_F(WorkersTest, the_airs_mtu_reaches_the_workers_on_that_port_only) {
  ASSERT_TRUE(parts_->workers.take_air_mtu(parts_->control.lock(), "air", 1200));
  EXPECT_EQ(parts_->worker(1).gnb->air_frame_bytes, 1214U);
  ASSERT_TRUE(parts_->workers.take_air_mtu(parts_->control.lock(), "n3", 900));
  EXPECT_EQ(parts_->worker(1).gnb->air_frame_bytes, 1214U);
  const Hanging hanging(parts_->worker(0));
  EXPECT_FALSE(parts_->workers.take_air_mtu(parts_->control.lock(), "air", 1300));
}

TEST_F(WorkersTest, a_policy_is_set_by_the_name_of_its_worker) {
  power::Settings busy;
  busy.kind = power::Kind::busy;
  ASSERT_TRUE(parts_->workers.set_power(parts_->control.lock(), "w1", busy));
  EXPECT_EQ(parts_->worker(1).config.policy.kind, power::Kind::busy);
  EXPECT_NE(parts_->worker(0).config.policy.kind, power::Kind::busy);
  const auto refused = parts_->workers.set_power(parts_->control.lock(), "w7", busy);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("there is no 'w7'; allowed: w0, w1"));
  const auto rows = parts_->workers.show_power(parts_->control.lock());
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((*rows)[1].at("name"), "w1");
}

TEST_F(WorkersTest, an_unknown_name_is_refused_with_those_that_there_are) {
  EXPECT_EQ(*parts_->workers.named("on", "w1"), &parts_->worker(1));
  const auto refused = parts_->workers.named("on", "w\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "on: there is no 'w\\x0a'; allowed: w0, w1");
}

TEST_F(WorkersTest, a_guest_that_is_at_home_is_no_longer_parked) {
  WorkerRuntime& w1 = parts_->worker(1);
  w1.host = &parts_->worker(0);
  parts_->workers.notice_homecomings(parts_->control.lock());
  EXPECT_EQ(w1.host, nullptr);
  EXPECT_EQ(parts_->workers.late_homecomings(), 1U);
  parts_->workers.notice_homecomings(parts_->control.lock());
  EXPECT_EQ(parts_->workers.late_homecomings(), 1U);
}

TEST_F(WorkersTest, a_policy_is_refused_on_a_core_that_another_worker_shares) {
  GnbConfig config = test::small_config();
  config.workers[1].core = config.workers[0].core;
  make(config);
  power::Settings busy;
  busy.kind = power::Kind::busy;
  const auto refused = parts_->workers.set_power(parts_->control.lock(), "w1", busy);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("kind: "));
}

TEST_F(WorkersTest, a_hanging_worker_shows_no_power) {
  const Hanging hanging(parts_->worker(1));
  const auto rows = parts_->workers.show_power(parts_->control.lock());
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("worker w1 does not answer"));
}

}  // namespace
}  // namespace splitplane::gnb
