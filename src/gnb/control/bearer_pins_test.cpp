// Pins of bearers that come, change, go and come back after a restart (placement/decision/pins.h).
#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using test::kOtherUpf;
using test::kUpf;

class BearerPinsTest : public test::PartsTest {
 protected:
  // The bearers with uplink TEIDs 10 and 11 at the UPF are pinned to the card, and 20 to the host.
  [[nodiscard]] GnbConfig with_lists(bool has_journal = false) const {
    GnbConfig config = test::with_card();
    config.pins = {{.on = "card0", .upf = kUpf, .ul_teid = Teid{10}, .count = 2},
                   {.on = "host", .upf = kUpf, .ul_teid = Teid{20}}};
    if (has_journal) config.journal = folder_ / "bearers.journal";
    return config;
  }
  BearerId added(std::uint32_t uplink_teid, const IpAddress& upf = kUpf) {
    const auto one = add(test::bearer(uplink_teid, upf));
    EXPECT_TRUE(one) << one.error().message;
    return one ? one->id : BearerId{};
  }
  [[nodiscard]] BearerId with_uplink(std::uint32_t uplink_teid) const {
    const auto* const found = parts_->store.find_uplink(kUpf, Teid{uplink_teid});
    return found == nullptr ? BearerId{} : found->id;
  }
  void pin(BearerId id, const std::string& to) {
    const Locked locked = parts_->control.lock();
    parts_->pins.pin(id, to);
    parts_->numbers.set_pin(locked, id, parts_->pins.said(id));
  }
  bool unpin(BearerId id) {
    const Locked locked = parts_->control.lock();
    const ran::BearerConfig config = *parts_->store.find(id);
    const bool was_pinned = parts_->pins.unpin(id, {config.upf, config.uplink_teid});
    parts_->numbers.set_pin(locked, id, parts_->pins.said(id));
    return was_pinned;
  }
  // "card0 by file", "host by ctl", "-"
  [[nodiscard]] std::string of(BearerId id) {
    const Locked locked = parts_->control.lock();
    const placement::Pins::Pin* const pin = parts_->pins.of(id);
    return pin == nullptr ? "-" : pin->to + (pin->by_file ? " by file" : " by ctl");
  }
};

TEST_F(BearerPinsTest, a_list_of_the_file_names_bearers_by_upf_and_uplink_teid_whoever_adds_them) {
  GnbConfig config = with_lists();
  config.bearers = {{.count = 3, .first = test::bearer(9)}};  // 9, 10, 11
  make(config);
  EXPECT_EQ(of(with_uplink(9)), "-");
  EXPECT_EQ(of(with_uplink(10)), "card0 by file");
  EXPECT_EQ(of(with_uplink(11)), "card0 by file");
  EXPECT_EQ(of(added(12)), "-");
  EXPECT_EQ(of(added(20)), "host by file");
  EXPECT_EQ(of(added(10, kOtherUpf)), "-") << "the TEID is another UPF's";
  EXPECT_EQ(parts_->pins.count(), 3U);
}

TEST_F(BearerPinsTest, a_bearer_that_is_modified_is_in_the_list_of_its_new_uplink) {
  make(with_lists());
  const BearerId id = added(10);
  ASSERT_TRUE(parts_->bearers.modify(id, test::patch({{"ul_teid", 15U}})));
  EXPECT_EQ(of(id), "-");
  EXPECT_EQ(parts_->pins.count(), 0U);
  ASSERT_TRUE(parts_->bearers.modify(id, test::patch({{"ul_teid", 20U}})));
  EXPECT_EQ(of(id), "host by file");
  pin(id, "card0");
  ASSERT_TRUE(parts_->bearers.modify(id, test::patch({{"ul_teid", 15U}})));
  EXPECT_EQ(of(id), "card0 by ctl") << "by its identity";
  EXPECT_EQ(parts_->pins.count(), 1U);
}

TEST_F(BearerPinsTest, what_ctl_says_goes_before_the_file_until_the_bearer_is_released) {
  make(with_lists());
  const BearerId id = added(10), other = added(30);
  pin(id, "host");
  pin(other, "card0");
  EXPECT_EQ(of(id), "host by ctl");
  EXPECT_EQ(parts_->pins.count(), 2U);
  EXPECT_TRUE(unpin(id));
  EXPECT_TRUE(unpin(other));
  EXPECT_EQ(of(id), "-") << "although the file pins it";
  EXPECT_EQ(of(other), "-");
  EXPECT_EQ(parts_->pins.count(), 0U);
  EXPECT_FALSE(unpin(id)) << "it is not pinned";
  ASSERT_TRUE(parts_->bearers.release(id));
  EXPECT_EQ(of(added(10)), "card0 by file");
}

TEST_F(BearerPinsTest, a_bearer_that_is_not_added_after_all_has_no_pin) {
  make(with_lists());
  {
    const test::Hanging hanging(parts_->worker(0));
    EXPECT_FALSE(add(test::bearer(10), 0));
  }
  EXPECT_EQ(parts_->pins.count(), 0U);
}

TEST_F(BearerPinsTest, what_ctl_says_survives_a_restart_and_goes_with_the_bearer) {
  GnbConfig config = with_lists(true);
  config.bearers = {{.count = 2, .first = test::bearer(10)}};
  make(config);
  const BearerId by_control = added(30), free = with_uplink(10), elsewhere = with_uplink(11);
  pin(by_control, "card0");
  pin(elsewhere, "host");
  ASSERT_TRUE(unpin(free));
  const BearerId gone = added(31);
  pin(gone, "host");
  ASSERT_TRUE(parts_->bearers.release(gone));
  const BearerId undone = added(32);
  pin(undone, "host");
  ASSERT_TRUE(unpin(undone));
  for (int run = 0; run < 2; ++run) {
    make(config);
    EXPECT_EQ(of(with_uplink(30)), "card0 by ctl");
    EXPECT_EQ(of(with_uplink(10)), "-");
    EXPECT_EQ(of(with_uplink(11)), "host by ctl");
    EXPECT_EQ(of(with_uplink(32)), "-");
    EXPECT_EQ(parts_->pins.count(), 2U);
  }
  EXPECT_EQ(of(added(31)), "-");
}

TEST_F(BearerPinsTest, what_was_taken_back_of_the_file_counts_as_long_as_the_file_says_it) {
  GnbConfig config = with_lists(true);
  config.bearers = {{.first = test::bearer(10)}};
  make(config);
  ASSERT_TRUE(unpin(with_uplink(10)));
  const auto lists = std::exchange(config.pins, {});
  make(config);
  EXPECT_EQ(of(with_uplink(10)), "-");
  config.pins = lists;
  make(config);
  EXPECT_EQ(of(with_uplink(10)), "card0 by file") << "it says it anew";
}

TEST_F(BearerPinsTest, bearers_of_a_session_with_several_keep_theirs_too) {
  GnbConfig config = with_lists(true);
  ran::WantedSession session{.config = {}, .shard = 1};
  session.config.bearers.resize(2);
  for (ran::SessionBearer& one : session.config.bearers) one.config = test::bearer(10);
  session.config.bearers[0].drb = session.config.default_drb = ran::sdap::DrbId{1};
  session.config.bearers[1].drb = ran::sdap::DrbId{2};
  session.config.bearers[1].flows = {Qfi{5}};
  make(config);
  const auto made = parts_->bearers.add_session(session);
  ASSERT_TRUE(made) << made.error().message;
  const BearerId first = made->session.bearers[0].config.id, second = made->session.bearers[1].config.id;
  EXPECT_EQ(of(first), "card0 by file");
  pin(second, "host");
  make(config);
  EXPECT_EQ(of(first), "card0 by file");
  EXPECT_EQ(of(second), "host by ctl");
  ASSERT_TRUE(parts_->bearers.release_session(Teid{first.value}));
  EXPECT_EQ(parts_->pins.count(), 0U);
}

TEST_F(BearerPinsTest, a_pin_to_a_card_that_the_file_no_longer_has_is_forgotten) {
  make(with_lists(true));
  const BearerId id = added(30);
  pin(id, "card0");
  GnbConfig without = test::small_config();
  without.journal = folder_ / "bearers.journal";
  make(without);
  EXPECT_EQ(of(with_uplink(30)), "-");
  make(with_lists(true));
  EXPECT_EQ(of(with_uplink(30)), "-") << "also where the card is back later";
}

}  // namespace
}  // namespace splitplane::gnb
