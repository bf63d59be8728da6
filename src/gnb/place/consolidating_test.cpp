#include "gnb/place/consolidating.h"

#include "gnb/place/test_card.h"

namespace splitplane::gnb {
namespace {

using ::testing::HasSubstr;

// Workers that do not run can be asked for nothing; tests/e2e/test_consolidation.py has those that do.
class ConsolidatingTest : public test::PlaceTest {
 protected:
  void SetUp() override {
    test::PlaceTest::SetUp();
    cores_.emplace(*parts_, placement::ConsolidationSettings{});
  }
  void TearDown() override {
    cores_.reset();
    test::PlaceTest::TearDown();
  }
  static std::string refusal(const Expected<void>& done) { return done ? "" : done.error().message; }

  std::optional<Consolidating> cores_;
};

TEST_F(ConsolidatingTest, names_of_workers_are_checked) {
  EXPECT_EQ(refusal(cores_->park("w7", "w0")), "worker: there is no 'w7'; allowed: w0, w1");
  EXPECT_EQ(refusal(cores_->park("w1", "\n")), "on: there is no '\\x0a'; allowed: w0, w1");
  EXPECT_EQ(refusal(cores_->wake("")), "worker: there is no ''; allowed: w0, w1");
}

TEST_F(ConsolidatingTest, a_worker_that_does_not_run_is_not_parked_and_that_is_counted) {
  EXPECT_EQ(refusal(cores_->park("w1", "w0")), "worker w1 does not run");
  EXPECT_EQ(refusal(cores_->wake("w1")), "worker w1 is not parked");
  EXPECT_EQ(cores_->counters().not_parked, 2U);
  EXPECT_EQ(cores_->counters().parked + cores_->counters().woken, 0U);
}

TEST_F(ConsolidatingTest, by_hand_only_while_it_is_off) {
  cores_->set({.on = true});
  EXPECT_THAT(refusal(cores_->park("w1", "w0")),
              HasSubstr("cores follow the load; allowed: after `ctl place set --no-consolidate`"));
  EXPECT_THAT(refusal(cores_->wake("w1")), HasSubstr("cores follow the load"));
  cores_->set({});
  EXPECT_EQ(refusal(cores_->park("w1", "w0")), "worker w1 does not run");
}

TEST_F(ConsolidatingTest, workers_that_do_not_run_are_left_alone) {
  cores_->set({.on = true, .calm_ms = 100});
  cores_->start();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  cores_->stop();
  EXPECT_EQ(cores_->counters().parked + cores_->counters().not_parked, 0U);
  ASSERT_EQ(cores_->rows().size(), 2U);
  EXPECT_EQ(cores_->rows()[1].worker, "w1");
  EXPECT_EQ(cores_->rows()[1].host, "");
}

TEST_F(ConsolidatingTest, a_host_that_does_not_listen_gets_no_guest) {
  const test::Hanging hanging(parts_->worker(0));
  parts_->worker(1).thread.running = true;
  EXPECT_EQ(refusal(cores_->park("w1", "w0")), "worker w0 does not answer; w1 makes its rounds itself");
  EXPECT_EQ(parts_->worker(1).host, nullptr);
  parts_->worker(1).thread.running = false;
}

TEST_F(ConsolidatingTest, a_guest_whose_host_hangs_is_stuck_and_its_host_too) {
  WorkerRuntime &w0 = parts_->worker(0), &w1 = parts_->worker(1);
  w1.host = &w0;
  {
    const test::Hanging host(w0), guest(w1);  // no round of either is made
    EXPECT_TRUE(cores_->rows()[0].is_stuck);
    EXPECT_TRUE(cores_->rows()[1].is_stuck);
    EXPECT_EQ(cores_->rows()[1].host, "w0");
    EXPECT_EQ(refusal(cores_->wake("w1")), "worker w0 does not answer; it keeps the loop of w1");
  }
  EXPECT_FALSE(cores_->rows()[1].is_stuck);
  EXPECT_EQ(cores_->rows()[1].host, "w0");
  EXPECT_EQ(cores_->counters().woken, 0U);
  parts_->workers.notice_homecomings(parts_->control.lock());  // no host has its loop
  EXPECT_EQ(cores_->rows()[1].host, "");
  EXPECT_EQ(cores_->counters().woken, 1U);
}

}  // namespace
}  // namespace splitplane::gnb
