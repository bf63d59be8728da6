#include "gnb/place/placing.h"

#include "gnb/place/test_card.h"

namespace splitplane::gnb {
namespace {

using placement::Mode;
using ::testing::HasSubstr;
using What = MoveResult::What;

class PlacingTest : public test::PlaceTest {
 protected:
  void TearDown() override {
    placing_.reset();
    PlaceTest::TearDown();
  }
  void begin(bool card_answers, const placement::Settings& settings = {}, GnbConfig config = test::with_card()) {
    placing_.reset();
    make_with_card(card_answers, std::move(config));
    placing_.emplace(*parts_, settings);
  }
  [[nodiscard]] static placement::Settings ratio(unsigned percent) {
    placement::Settings settings;
    settings.mode = Mode::kRatio;
    settings.ratio_percent = percent;
    settings.period_ms = 50;
    return settings;
  }

  std::optional<Placing> placing_;
};

TEST_F(PlacingTest, a_host_without_a_card_has_one_mode) {
  placing_.emplace(*parts_, placement::Settings{});
  const auto refused = placing_->set(ratio(50));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "mode: this host has no card; allowed: static");
  EXPECT_EQ(placing_->settings(), placement::Settings{});
  (void)add_bearer();
  EXPECT_EQ(placing_->view().bearers, 1U) << "counted, though there are no periods";
  const auto nowhere = placing_->move(std::array{BearerId{1}}, "card0");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("to: this host has no card 'card0'; allowed: host, or a card"));
}

TEST_F(PlacingTest, what_is_set_is_shown) {
  begin(false);
  EXPECT_EQ(placing_->view().mode, "static");
  ASSERT_TRUE(placing_->set(ratio(30)));
  EXPECT_EQ(placing_->settings(), ratio(30));
  EXPECT_EQ(placing_->view().mode, "ratio");
}

TEST_F(PlacingTest, pins_are_counted_and_refused_for_a_card_that_is_not_there) {
  begin(false);
  const BearerId id = add_bearer();
  const auto refused = placing_->pin(std::array{id}, "card9");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("to: this host has no card 'card9'"));
  ASSERT_TRUE(placing_->pin(std::array{id}, "card0"));
  EXPECT_EQ(placing_->view().pinned, 1U);
  EXPECT_EQ(placing_->unpin(std::array{id, BearerId{0x04000077}}), 1U);
  EXPECT_EQ(placing_->view().pinned, 0U);
  EXPECT_EQ(placing_->unpin(std::array{id}), 0U);
}

TEST_F(PlacingTest, one_bearer_that_is_not_there_pins_none) {
  begin(false);
  const BearerId id = add_bearer();
  const auto refused = placing_->pin(std::array{id, BearerId{0x04000077}}, "card0");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "ids: there is no bearer 0x04000077");
  EXPECT_EQ(placing_->view().pinned, 0U);
}

TEST_F(PlacingTest, a_move_pins_a_bearer_where_the_mode_would_move_it_back) {
  begin(true);
  const BearerId id = add_bearer();
  const auto moved = placing_->move(std::array{id}, "card0");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->front().what, What::kMoved) << moved->front().why;
  EXPECT_EQ(placing_->view().pinned, 0U) << "in mode static it stays anyway";
  ASSERT_TRUE(placing_->set(ratio(0)));
  ASSERT_TRUE(placing_->move(std::array{id, BearerId{0x04000077}}, "card0"));
  EXPECT_EQ(placing_->view().pinned, 1U) << "the one that is there, not the one that is not";
}

TEST_F(PlacingTest, says_where_a_bearer_lives_and_why) {
  begin(false);
  const BearerId host = add_bearer(), card = add_bearer("card0");
  ASSERT_TRUE(placing_->pin(std::array{host}, "host"));
  const auto why = placing_->explain(std::array{host, card, BearerId{0x04000077}});
  ASSERT_EQ(why.size(), 3U);
  EXPECT_EQ(why[0].place, "host");
  EXPECT_EQ(why[0].pinned_by, "ctl");
  EXPECT_EQ(why[1].pinned_by, "");
  EXPECT_THAT(why[0].reason, HasSubstr("on w0: the list of pinned bearers says so"));
  EXPECT_EQ(why[1].place, "card0");
  EXPECT_THAT(why[1].reason, HasSubstr("on card0: its card is not up"));
  EXPECT_EQ(why[2].reason, "there is no such bearer");
}

TEST_F(PlacingTest, moves_bearers_until_the_ratio_is_met_and_back) {
  begin(true);
  std::vector<BearerId> ids;
  for (const unsigned shard : {0U, 1U, 2U, 3U}) ids.push_back(add_bearer("", shard));
  const auto on_card = [&] { return std::ranges::count_if(ids, [&](BearerId id) { return place_of(id) == "card0"; }); };
  placing_->start();
  ASSERT_TRUE(placing_->set(ratio(50)));
  EXPECT_TRUE(soon([&] { return on_card() == 2; }));
  ASSERT_TRUE(placing_->set(ratio(0)));
  EXPECT_TRUE(soon([&] { return on_card() == 0; }));
  placing_->stop();
  EXPECT_EQ(placing_->view().to_card, 2U);
  EXPECT_EQ(placing_->view().to_host, 2U);
  EXPECT_GE(placing_->view().decisions, 2U);
}

TEST_F(PlacingTest, a_pin_moves_its_bearer_in_mode_static) {
  begin(true);
  const BearerId id = add_bearer();
  placing_->start();
  ASSERT_TRUE(placing_->pin(std::array{id}, "card0"));
  EXPECT_TRUE(soon([&] { return place_of(id) == "card0"; }));
  placing_->stop();
}

TEST_F(PlacingTest, bearers_of_the_files_list_move_to_their_places_in_mode_static) {
  GnbConfig config = test::with_card();
  config.pins = {{.on = "card0", .upf = test::kUpf, .ul_teid = Teid{101}},
                 {.on = "host", .upf = test::kUpf, .ul_teid = Teid{102}}};
  placement::Settings settings;
  settings.period_ms = 50;
  begin(true, settings, config);
  const BearerId first = add_bearer(), second = add_bearer("card0"), third = add_bearer();
  placing_->start();
  EXPECT_TRUE(soon([&] { return place_of(first) == "card0" && place_of(second).empty(); }));
  EXPECT_EQ(place_of(third), "");
  EXPECT_EQ(placing_->explain(std::array{first}).front().pinned_by, "file");
  // The mode would move each of them.
  ASSERT_TRUE(placing_->set(ratio(100)));
  EXPECT_TRUE(soon([&] { return place_of(third) == "card0"; }));
  EXPECT_EQ(place_of(second), "");
  ASSERT_TRUE(placing_->unpin(std::array{second}));
  EXPECT_TRUE(soon([&] { return place_of(second) == "card0"; }));
  placing_->stop();
}

TEST_F(PlacingTest, a_pin_of_a_bearer_that_no_card_may_serve_has_no_effect_and_says_why) {
  GnbConfig config = test::with_card();
  config.pins = {{.on = "card0", .upf = test::kUpf, .ul_teid = Teid{8}}};
  begin(true, {}, config);
  ran::BearerConfig strict = test::bearer(8);
  strict.require_psc = true;
  const auto added = add(strict, 0);
  ASSERT_TRUE(added);
  placing_->start();
  ASSERT_TRUE(soon([&] { return placing_->view().decisions > 1; }));
  placing_->stop();
  const Placing::Why why = placing_->explain(std::array{added->id}).front();
  EXPECT_EQ(why.place, "host");
  EXPECT_EQ(why.pinned_by, "file");
  EXPECT_THAT(why.reason, HasSubstr("it has require_psc, which a card does not have"));
  EXPECT_EQ(placing_->view().refused + placing_->view().failed, 0U);
}

TEST_F(PlacingTest, a_move_by_hand_in_another_mode_pins_over_a_restart) {
  GnbConfig config = test::with_card();
  config.journal = folder_ / "bearers.journal";
  begin(true, {}, config);
  const BearerId id = add_bearer();
  ASSERT_TRUE(placing_->set(ratio(0)));
  const auto moved = placing_->move(std::array{id}, "card0");
  ASSERT_TRUE(moved);
  ASSERT_EQ(moved->front().what, What::kMoved) << moved->front().why;
  begin(false, ratio(0), config);
  EXPECT_EQ(placing_->view().pinned, 1U);
  EXPECT_EQ(placing_->explain(std::array{id}).front().pinned_by, "ctl");
  EXPECT_EQ(place_of(id), "card0");
}

}  // namespace
}  // namespace splitplane::gnb
