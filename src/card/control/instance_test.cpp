#include "card/control/instance.h"

#include <gmock/gmock.h>

#include "card/control/test_config.h"

namespace splitplane::app {
namespace {

using testing::HasSubstr;

// A running card without devices: its requests, on the thread of its loop and after the loop has ended.
class CardPlaneTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = CardPlane::start_on(std::nullopt, test::unconnected_card("plane"));
    ASSERT_TRUE(started) << started.error().message;
    card = *std::move(started);
  }
  static nic::CardBearer bearer(std::uint32_t id) { return {.id = BearerId{id}, .teid = Teid{id}}; }

  std::unique_ptr<CardPlane> card;
};

TEST_F(CardPlaneTest, a_bearer_is_installed_numbered_leased_and_removed) {
  ASSERT_TRUE(card->install_on_card(std::array{bearer(1), bearer(2)}, false));
  ASSERT_TRUE(card->set_leases(std::array{nic::CardLease{BearerId{2}, 5000}}));
  const auto numbers = card->card_numbers(std::array{BearerId{2}});
  ASSERT_TRUE(numbers) << numbers.error().message;
  ASSERT_EQ(numbers->size(), 1U);
  EXPECT_EQ((*numbers)[0].second.lease_end, 5000U);
  ASSERT_TRUE(card->remove_from_card(std::array{BearerId{1}}));
  const auto left = card->card_numbers_after(0, 10);
  ASSERT_TRUE(left);
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ((*left)[0].first, BearerId{2});
  EXPECT_FALSE(card->remove_from_card(std::array{BearerId{1}}));
}

TEST_F(CardPlaneTest, a_card_shows_its_program_and_what_it_serves) {
  nic::CardBearer hosts = bearer(2);
  hosts.place = nic::Place::kHost;
  ASSERT_TRUE(card->install_on_card(std::array{bearer(1), hosts}, false));
  const auto show = card->show_card();
  ASSERT_TRUE(show) << show.error().message;
  EXPECT_EQ(show->at("name"), "plane");
  EXPECT_EQ(show->at("program"), "gnb-clone");
  EXPECT_EQ(card->program(), "gnb-clone");
  EXPECT_EQ(show->at("lookup"), "teid");
  EXPECT_EQ(show->at("execution"), "compiled");
  EXPECT_EQ(show->at("bearers"), 2);
  EXPECT_EQ(show->at("serves"), 1);
  EXPECT_EQ(show->at("max_bearers"), 100);
  EXPECT_FALSE(show->at("boot").get<std::string>().empty());
}

TEST_F(CardPlaneTest, counters_stay_readable_after_the_loops_have_ended) {
  ASSERT_TRUE(card->install_on_card(std::array{bearer(1)}, false));
  card->stop();
  EXPECT_FALSE(card->stuck());
  const auto stats = card->stats();
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->at("bearers"), 1);
  EXPECT_EQ(stats->at("totals").at("balanced"), true);
  const auto all = card->observe();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->workers.size(), 1U);
  EXPECT_EQ(all->workers[0].name, "plane");
  EXPECT_EQ(all->cards[0].name, "plane");
}

TEST_F(CardPlaneTest, the_power_policy_is_set_by_the_cards_name) {
  const auto shown = card->show_power();
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->size(), 1U);
  power::Settings settings;
  EXPECT_TRUE(card->set_power("plane", settings));
  const auto refused = card->set_power("other", settings);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("there is no 'other'; allowed: plane"));
}

TEST_F(CardPlaneTest, a_peer_is_set_and_unset) {
  nic::CardPeer peer{.number = 1, .from = IpAddress::v4({10, 0, 0, 1}), .to = IpAddress::v4({10, 0, 0, 2})};
  EXPECT_TRUE(card->set_card_peer(peer));
  EXPECT_TRUE(card->unset_card_peer(1));
  peer.number = 256;
  EXPECT_FALSE(card->set_card_peer(peer));
}

TEST(CardPlane, a_program_that_is_not_there_is_named) {
  CardConfig config = test::unconnected_card("nowhere");
  config.specs = "/nowhere";
  const auto refused = CardPlane::start_on(std::nullopt, config);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("card.program: /nowhere/gnb-clone.spec: No such file"));
}

}  // namespace
}  // namespace splitplane::app
