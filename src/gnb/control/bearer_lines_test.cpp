#include "gnb/control/bearer_lines.h"

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using test::Hanging;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BearerLinesTest : public test::PartsTest {
 protected:
  [[nodiscard]] Installation installation(unsigned worker, std::uint32_t index, std::uint32_t uplink_teid = 7) {
    Installation one{.config = test::bearer(uplink_teid), .worker = &parts_->worker(worker), .peer = PeerId{3}};
    one.config.id = BearerId{ran::make_teid(1, ShardId{static_cast<std::uint8_t>(4 * worker)}, index)};
    return one;
  }
  Expected<void> install(const std::vector<Installation>& all) {
    return parts_->lines.install(parts_->control.lock(), all, told_);
  }
  [[nodiscard]] ran::BearerDownlink& downlink(const Installation& one) {
    return *one.worker->gnb->bearers.downlink_line(one.config.id.value);
  }
  [[nodiscard]] ran::BearerUplink& uplink(const Installation& one) {
    return *one.worker->gnb->bearers.uplink_line(one.config.id.value);
  }
  BearerLines::WorkerSet told_;
};

TEST_F(BearerLinesTest, each_bearer_is_in_the_lines_of_its_own_worker) {
  const auto a = installation(0, 1), b = installation(1, 2);
  ASSERT_TRUE(install({a, b}));
  EXPECT_EQ(downlink(a).id, a.config.id.value);
  EXPECT_EQ(uplink(b).id, b.config.id.value);
  EXPECT_EQ(uplink(b).peer, 3U);
  EXPECT_EQ(told_, (BearerLines::WorkerSet{&parts_->worker(0), &parts_->worker(1)}));
}

TEST_F(BearerLinesTest, a_bearer_that_comes_back_goes_on_with_its_numbers) {
  auto one = installation(0, 1);
  one.numbers = {.end = 500, .rx_next = 40, .epoch = 9};
  ASSERT_TRUE(install({one}));
  const auto views = parts_->lines.read(parts_->control.lock(), std::vector{one.config});
  ASSERT_TRUE(views);
  EXPECT_EQ(views->front().pdcp_tx_next, 500U);
  EXPECT_EQ(views->front().pdcp_rx_next, 40U);
}

TEST_F(BearerLinesTest, a_changed_bearer_keeps_its_numbers_and_counters) {
  auto one = installation(0, 1);
  ASSERT_TRUE(install({one}));
  downlink(one).pdcp_tx_next = 77;
  downlink(one).received = 5;
  one.config.qfi = Qfi{11};
  one.peer = PeerId{4};
  ASSERT_TRUE(parts_->lines.modify(parts_->control.lock(), one));
  EXPECT_EQ(uplink(one).peer, 4U);
  const auto views = parts_->lines.read(parts_->control.lock(), std::vector{one.config});
  ASSERT_TRUE(views);
  EXPECT_EQ(views->front().pdcp_tx_next, 77U);
  EXPECT_EQ(views->front().downlink.received, 5U);
}

TEST_F(BearerLinesTest, its_keys_are_in_every_worker_that_looks_for_it) {
  make(test::with_dispatcher());
  auto one = installation(1, 0);
  one.config.dl_teid = Teid{0xabcd};
  ASSERT_TRUE(install({one}));
  EXPECT_EQ(parts_->worker(1).keys()->teids->stats().entries, 1U);
  EXPECT_EQ(parts_->worker(2).keys()->teids->stats().entries, 1U);
  EXPECT_EQ(parts_->worker(0).keys()->teids->stats().entries, 0U);
  EXPECT_EQ(told_.size(), 2U);
  EXPECT_TRUE(parts_->lines.uninstall(parts_->control.lock(), std::vector{one}, told_).empty());
  EXPECT_EQ(parts_->worker(2).keys()->teids->stats().entries, 0U);
  EXPECT_EQ(downlink(one).id, 0U);
}

TEST_F(BearerLinesTest, a_foreign_teid_needs_room_for_it) {
  GnbConfig config = test::small_config();
  config.foreign_teids = 0;
  make(config);
  auto one = installation(0, 0);
  one.config.dl_teid = Teid{0xabcd};
  const auto refused = install({one});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("allowed: with foreign_teids"));
  EXPECT_EQ(told_, (BearerLines::WorkerSet{&parts_->worker(0)})) << "its lines are to be wiped again";
}

TEST_F(BearerLinesTest, who_was_told_is_known_when_a_later_worker_does_not_answer) {
  const auto a = installation(0, 1), b = installation(1, 2);
  const Hanging hanging(parts_->worker(1));
  const auto refused = install({a, b});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("worker w1 does not answer; no bearer was added"));
  EXPECT_THAT(told_, ElementsAre(&parts_->worker(0)));
  EXPECT_TRUE(parts_->lines.uninstall(parts_->control.lock(), std::vector{a, b}, told_).empty());
  EXPECT_EQ(downlink(a).id, 0U);
}

TEST_F(BearerLinesTest, a_worker_that_falls_silent_may_keep_what_it_was_told) {
  const auto one = installation(0, 1);
  ASSERT_TRUE(install({one}));
  const Hanging hanging(parts_->worker(0));
  EXPECT_THAT(parts_->lines.uninstall(parts_->control.lock(), std::vector{one}, told_),
              ElementsAre(&parts_->worker(0)));
  EXPECT_FALSE(parts_->lines.read(parts_->control.lock(), std::vector{one.config}));
  EXPECT_FALSE(parts_->lines.modify(parts_->control.lock(), one));
}

TEST_F(BearerLinesTest, a_released_teid_is_told_from_one_that_never_was) {
  const auto one = installation(0, 1);
  ASSERT_TRUE(install({one}));
  WorkerRuntime& w0 = parts_->worker(0);
  ASSERT_TRUE(parts_->lines.take_out(parts_->control.lock(), w0, w0, {&one.config, 1}, true));
  EXPECT_TRUE(ran::is_released(downlink(one), one.config.id.value));
  EXPECT_FALSE(ran::is_released(*w0.gnb->bearers.downlink_line(one.config.id.value + 1), one.config.id.value + 1));
}

}  // namespace
}  // namespace splitplane::gnb
