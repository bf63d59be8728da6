#include "card/link/mover.h"

#include <gmock/gmock.h>

#include "card/link/test_fixture.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class CardMoverTest : public CardLinkTest {
 protected:
  [[nodiscard]] CardMover mover(std::chrono::milliseconds patience = 5s) {
    return {directory_ + "/card.sock", patience};
  }
  // A bearer of the host, and its entry while it moves to the card.
  static nic::CardBearer of_host(std::uint32_t id) {
    nic::CardBearer b = bearer(id);
    b.place = nic::Place::kHost;
    return b;
  }
  static nic::CardBearer armed(std::uint32_t id) {
    nic::CardBearer b = bearer(id);
    b.next_count = 9000;
    b.lease = 1;
    return b;
  }
  static constexpr std::array kBoth{BearerId{kFirst}, BearerId{kSecond}};
};

TEST_F(CardMoverTest, bearers_come_to_the_card_and_begin_there) {
  start_card("a");
  CardMover mover = this->mover();
  ASSERT_TRUE(mover.install(std::array{of_host(kFirst), of_host(kSecond)}));
  ASSERT_TRUE(mover.install(std::array{armed(kFirst), armed(kSecond)}));
  EXPECT_EQ(card_->find(kFirst)->lease_end, 9001U);
  card_->set_in_flight(kFirst, 5);
  const auto fenced = mover.fence(kBoth, 0xfedcba9876543210);
  ASSERT_TRUE(fenced) << fenced.error().message;
  EXPECT_EQ(card_->fenced, 0xfedcba9876543210);
  EXPECT_EQ(fenced->n3, 1U);
  EXPECT_EQ(fenced->copies, 1U);
  ASSERT_EQ(fenced->rows.size(), 2U);
  EXPECT_EQ(fenced->rows[0].id, BearerId{kFirst});
  EXPECT_EQ(fenced->rows[0].numbers.in_flight, 5U);
  const std::array beginnings{
      nic::CardBeginning{
          .id = BearerId{kFirst}, .next_count = 150, .next_rlc = 70, .lease_end = 2000, .settled = 4, .epoch = 6},
      nic::CardBeginning{.id = BearerId{kSecond}, .next_count = 1, .next_rlc = 1, .lease_end = 9}};
  ASSERT_TRUE(mover.begin(beginnings));
  EXPECT_EQ(card_->find(kFirst)->numbers.pdcp_next, 150U);
  EXPECT_EQ(card_->find(kFirst)->numbers.in_flight, 1U);
  EXPECT_EQ(card_->find(kFirst)->numbers.epoch, 6U);
  EXPECT_EQ(card_->find(kSecond)->lease_end, 9U);
}

TEST_F(CardMoverTest, numbers_and_leases_are_those_of_the_card) {
  start_card("a");
  CardMover mover = this->mover();
  ASSERT_TRUE(mover.install(std::array{bearer(kFirst), of_host(kSecond)}));
  (void)card_->send(kFirst, 7, used_);
  ASSERT_TRUE(mover.set_leases(std::array{nic::CardLease{BearerId{kFirst}, 1030}}));
  const auto rows = mover.numbers(kBoth);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((*rows)[0].numbers.pdcp_next, 7U);
  EXPECT_EQ((*rows)[0].numbers.lease_end, 1030U);
  EXPECT_EQ((*rows)[0].numbers.place, nic::Place::kCard);
  EXPECT_EQ((*rows)[1].numbers.place, nic::Place::kHost);
}

TEST_F(CardMoverTest, what_the_card_refuses_is_said_in_its_words) {
  start_card("a", {kFirst});
  CardMover mover = this->mover();
  EXPECT_THAT(mover.install(std::array{bearer(kFirst)}).error().message, HasSubstr("the card is full; allowed: fewer"));
  EXPECT_THAT(mover.fence(kBoth, 1).error().message, HasSubstr("is not on the card"));
  ASSERT_TRUE(mover.install(std::array{of_host(kSecond)})) << "a refusal ends nothing";
  EXPECT_THAT(mover.begin(std::array{nic::CardBeginning{.id = BearerId{kSecond}, .lease_end = 9}}).error().message,
              HasSubstr("is not served by the card"));
}

TEST_F(CardMoverTest, a_card_that_is_away_is_an_error_and_one_that_is_back_is_asked_again) {
  CardMover mover = this->mover();
  EXPECT_THAT(mover.numbers(kBoth).error().message, HasSubstr("nothing runs at control socket"));
  start_card("a");
  EXPECT_TRUE(mover.install(std::array{bearer(kFirst)}));
  kill_card();
  EXPECT_FALSE(mover.numbers(std::array{BearerId{kFirst}}));
  start_card("b");
  EXPECT_TRUE(mover.install(std::array{bearer(kSecond)}));
  EXPECT_EQ(card_->size(), 1U);
}

// The late answer to `begin` must not be taken for that to `numbers`.
TEST_F(CardMoverTest, an_answer_that_comes_too_late_is_no_answer_to_the_next_request) {
  start_card("a");
  CardMover mover = this->mover(100ms);
  ASSERT_TRUE(mover.install(std::array{bearer(kFirst)}));
  card_->slow_begins = 1;
  EXPECT_FALSE(mover.begin(std::array{nic::CardBeginning{.id = BearerId{kFirst}, .next_count = 50, .lease_end = 90}}));
  std::this_thread::sleep_for(500ms);
  const auto rows = mover.numbers(std::array{BearerId{kFirst}});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ((*rows)[0].numbers.pdcp_next, 50U) << "the card has executed it";
}

}  // namespace
}  // namespace splitplane::app
