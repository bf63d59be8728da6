#include "gnb/control/numbers.h"

#include <set>

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

class NumbersTest : public test::PartsTest {
 protected:
  [[nodiscard]] GnbConfig with_journal() const {
    GnbConfig config = test::small_config();
    config.journal = folder_ / "bearers.journal";
    return config;
  }
  [[nodiscard]] static ran::BearerGroup group(std::uint32_t uplink_teid) {
    return {.first = test::bearer(uplink_teid)};
  }
  [[nodiscard]] ran::BearerDownlink& downlink(BearerId id) {
    return *parts_->workers.owner_of(id.value)->gnb->bearers.downlink_line(id.value);
  }
  [[nodiscard]] ran::CountLease lease(BearerId id) {
    return *parts_->workers.owner_of(id.value)->gnb->bearers.lease(id.value);
  }
};

TEST_F(NumbersTest, without_a_journal_numbers_begin_at_0_and_need_no_lease) {
  EXPECT_FALSE(parts_->numbers.has_journal());
  EXPECT_FALSE(parts_->numbers.view());
  EXPECT_TRUE(parts_->numbers.row().is_null());
  EXPECT_TRUE(parts_->numbers.wait_for_disk());
  EXPECT_FALSE(parts_->numbers.for_cards());
  EXPECT_FALSE(parts_->numbers.refusal());
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added);
  EXPECT_EQ(lease(added->id).end, ran::CountLease{}.end);
}

TEST_F(NumbersTest, a_new_bearer_has_a_lease_once_the_disk_has_it) {
  make(with_journal());
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added);
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  EXPECT_GT(lease(added->id).end, 0U);
  EXPECT_EQ(parts_->numbers.row().at("state"), "written");
  EXPECT_EQ(parts_->numbers.row().at("leases"), 1);
  EXPECT_EQ(parts_->numbers.view()->path, parts_->config.journal);
}

TEST_F(NumbersTest, a_worker_that_has_come_to_its_mark_gets_a_longer_lease) {
  make(with_journal());
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  const std::uint32_t before = lease(added->id).end;
  for (int i = 0; i < 2; ++i) {  // with its first packet, and half-way through its first lease
    ASSERT_TRUE(parts_->worker(0).gnb->lease_requests->ask({added->id, UINT32_MAX}));
    parts_->numbers.serve(parts_->control.lock(), std::chrono::steady_clock::now());
  }
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  EXPECT_GT(lease(added->id).end, before);
}

TEST_F(NumbersTest, a_bearer_comes_back_with_its_identity_and_goes_on_behind_its_last_count) {
  make(with_journal());
  const auto added = add(test::bearer(7), 5);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  downlink(added->id).pdcp_tx_next = 300;
  end();
  make(with_journal());
  const auto view = parts_->bearers.show(added->id);
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->config.uplink_teid.value, 7U);
  EXPECT_EQ(view->pdcp_tx_next, 300U);
}

TEST_F(NumbersTest, bearers_of_the_configuration_and_of_the_control_socket_are_told_apart) {
  GnbConfig config = with_journal();
  config.bearers = {group(1), group(2)};
  make(config);
  ASSERT_TRUE(add(test::bearer(3)));
  ASSERT_EQ(parts_->store.size(), 3U);
  config.bearers = {group(2), group(4)};
  end();
  parts_ = std::make_unique<test::Parts>(config);
  ASSERT_TRUE(parts_->wiring.make(parts_->workers, parts_->peers));
  ASSERT_TRUE(parts_->numbers.open(false));
  const Numbers::Restart start = parts_->numbers.restart();
  EXPECT_TRUE(start.found);
  ASSERT_EQ(start.known.size(), 1U);
  EXPECT_EQ(start.known[0].config.uplink_teid.value, 2U);
  EXPECT_TRUE(start.known[0].is_restored);
  ASSERT_EQ(start.others.size(), 1U);
  EXPECT_EQ(start.others[0].config.uplink_teid.value, 4U);
  ASSERT_EQ(start.by_control.size(), 1U);
  EXPECT_EQ(start.by_control[0].config.uplink_teid.value, 3U);
}

TEST_F(NumbersTest, a_fresh_start_knows_nothing_of_before) {
  make(with_journal());
  ASSERT_TRUE(add(test::bearer(7)) && parts_->numbers.wait_for_disk());
  end();
  parts_ = std::make_unique<test::Parts>(with_journal());
  ASSERT_TRUE(parts_->wiring.make(parts_->workers, parts_->peers));
  ASSERT_TRUE(parts_->numbers.open(true));
  EXPECT_FALSE(parts_->numbers.restart().found);
}

TEST_F(NumbersTest, a_released_bearer_of_the_configuration_stays_away_until_it_is_added_again) {
  GnbConfig config = with_journal();
  config.bearers = {group(1)};
  make(config);
  ASSERT_TRUE(parts_->bearers.release(parts_->store.after(0, 1).front().id));
  make(config);
  EXPECT_EQ(parts_->store.size(), 0U);
  ASSERT_TRUE(add(test::bearer(1)));
  make(config);
  EXPECT_EQ(parts_->store.size(), 1U);
}

TEST_F(NumbersTest, no_bearer_gets_the_epoch_of_the_one_before) {
  const Locked locked = parts_->control.lock();
  std::set<unsigned> seen;
  for (int i = 0; i < 200; ++i) seen.insert(parts_->numbers.next_epoch(locked));
  EXPECT_EQ(seen.size(), 200U);
}

TEST_F(NumbersTest, what_a_card_may_number_is_on_the_disk_before_it_is_told) {
  make(with_journal());
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added);
  const auto journal = parts_->numbers.for_cards();
  ASSERT_TRUE(journal);
  const CardNumbering numbering{.id = added->id, .lease_end = 70'000, .heard = 10, .epoch = 3};
  ASSERT_TRUE(journal({&numbering, 1}));
  auto& numbers = parts_->numbers;
  numbers.stop();
  const GnbConfig config = parts_->config;
  parts_.reset();  // without close(): as after a crash
  parts_ = std::make_unique<test::Parts>(config);
  ASSERT_TRUE(parts_->wiring.make(parts_->workers, parts_->peers));
  ASSERT_TRUE(parts_->numbers.open(false));
  const auto start = parts_->numbers.restart();
  ASSERT_EQ(start.by_control.size(), 1U);
  EXPECT_EQ(start.by_control[0].numbers.end, 70'000U);
}

}  // namespace
}  // namespace splitplane::gnb
