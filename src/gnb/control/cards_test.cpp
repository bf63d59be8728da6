#include "gnb/control/cards.h"

#include <atomic>
#include <thread>

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using test::kOtherUpf;
using test::kUpf;
using ::testing::HasSubstr;

class CardsTest : public test::PartsTest {
 protected:
  void SetUp() override {
    PartsTest::SetUp();
    make(test::with_card());
  }
  [[nodiscard]] Locked lock() { return parts_->control.lock(); }
  [[nodiscard]] std::optional<unsigned> join(const IpAddress& upf) {
    const auto number = parts_->cards.join(lock(), parts_->worker(0), upf);
    EXPECT_TRUE(number) << number.error().message;
    return number ? *number : std::nullopt;
  }
  [[nodiscard]] std::string refusal(const ran::BearerConfig& config) {
    const auto fine = parts_->cards.check(config, parts_->worker(0));
    return fine ? "" : fine.error().message;
  }
  [[nodiscard]] static ran::BearerConfig on_card(const std::string& card = "card0") {
    ran::BearerConfig config = test::bearer(7);
    config.id = BearerId{ran::make_teid(1, ShardId{0}, 0)};
    config.card = card;
    return config;
  }
  // Worker w0 has an N3 port that is not the card's.
  [[nodiscard]] static GnbConfig w0_elsewhere() {
    GnbConfig config = test::with_card();
    PortConfig port = config.ports[0];
    port.name = "n3b";
    port.device = "net_null_n3b";
    config.ports.push_back(port);
    config.n3.push_back(config.n3[0]);
    config.n3[1].port = "n3b";
    config.workers[0].n3 = "n3b";
    return config;
  }
  [[nodiscard]] Installation installation(std::size_t worker) {
    Installation one{.config = on_card(), .worker = &parts_->worker(worker)};
    return one;
  }
};

TEST_F(CardsTest, a_bearer_goes_to_a_card_before_its_worker) {
  EXPECT_EQ(refusal(test::bearer(7)), "") << "the host serves it";
  EXPECT_THAT(refusal(on_card("card9")), HasSubstr("this host has no card 'card9'"));
  GnbConfig config = test::with_card();
  config.workers[0].features = datapath::FeatureSet::headers;
  make(config);
  EXPECT_THAT(refusal(on_card()), HasSubstr("worker w0 looks for no bearers"));
}

TEST_F(CardsTest, a_worker_of_other_ports_is_not_behind_the_card) {
  make(w0_elsewhere());
  EXPECT_THAT(refusal(on_card()), HasSubstr("is not behind card card0"));
  EXPECT_EQ(join(kUpf), std::nullopt) << "no card has to know that UPF";
}

TEST_F(CardsTest, each_upf_has_a_number_on_the_card_while_a_bearer_goes_there) {
  EXPECT_EQ(join(kUpf), 0U);
  EXPECT_EQ(join(kUpf), 0U);
  EXPECT_EQ(join(kOtherUpf), 1U);
  EXPECT_EQ(join(IpAddress::v6(datapath::test::kUpfIpv6)), std::nullopt) << "cards know IPv4 only";
  parts_->cards.leave(lock(), parts_->worker(0), kUpf);
  EXPECT_EQ(join(kUpf), 0U);
  for (int i = 0; i < 2; ++i) parts_->cards.leave(lock(), parts_->worker(0), kUpf);
  EXPECT_EQ(join(IpAddress::v4({10, 9, 9, 9})), 0U);
}

TEST_F(CardsTest, a_card_has_a_limit_of_upfs) {
  for (unsigned i = 0; i < 255; ++i) {
    const auto upf = IpAddress::v4({10, 101, 0, static_cast<std::uint8_t>(i)});
    ASSERT_TRUE(parts_->cards.join(lock(), parts_->worker(0), upf));
  }
  const auto refused = parts_->cards.join(lock(), parts_->worker(0), kUpf);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("card card0 sends to 255 UPFs already"));
}

TEST_F(CardsTest, only_bearers_of_workers_behind_it_are_put_on_a_card) {
  make(w0_elsewhere());
  const std::vector<Installation> all{installation(0), installation(1)};
  const auto requests = parts_->cards.put(lock(), all);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests.front().asked.size(), 1U) << "w0 is not behind it";
  make(test::small_config());
  EXPECT_TRUE(parts_->cards.put(lock(), std::vector{installation(0)}).empty());
  EXPECT_TRUE(parts_->cards.take_off(lock(), parts_->worker(0), on_card().id).empty());
}

TEST_F(CardsTest, a_card_that_is_away_keeps_no_change_waiting_and_others_run_meanwhile) {
  const auto requests = parts_->cards.put(lock(), std::vector{installation(0)});
  Change change = parts_->control.change();
  Expected<void> done;
  std::tie(change, done) = Cards::wait_for(std::move(change), requests);
  EXPECT_TRUE(done);
  std::atomic<bool> looked{false};
  std::thread other([&] {
    const Locked locked = parts_->control.lock();
    looked = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(looked) << "the change holds the mutex again";
  std::tie(change, done) = Cards::wait_for(std::move(change), {});
  {
    const Change last = std::move(change);
  }
  other.join();
  EXPECT_TRUE(looked);
}

TEST_F(CardsTest, each_card_has_a_row) {
  const auto shown = parts_->cards.show();
  ASSERT_TRUE(shown) << shown.error().message;
  ASSERT_EQ(shown->at("cards").size(), 1U);
  EXPECT_EQ(shown->at("cards")[0].at("name"), "card0");
  EXPECT_EQ(parts_->cards.views().front().name, "card0");
  make(test::small_config());
  const auto none = parts_->cards.show();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("this host has no card"));
}

TEST_F(CardsTest, numbers_are_added_to_bearers_on_a_card_only) {
  (void)parts_->cards.put(lock(), std::vector{installation(0)});
  std::vector<BearerView> views(2);
  views[0].config = on_card();
  views[1].config = test::bearer(8);
  views[1].downlink.received = 5;
  parts_->cards.add_numbers(views);
  ASSERT_TRUE(views[0].card);
  EXPECT_FALSE(views[0].card->installed) << "the card is away";
  EXPECT_FALSE(views[1].card);
  EXPECT_EQ(views[1].downlink.received, 5U);
}

}  // namespace
}  // namespace splitplane::gnb
