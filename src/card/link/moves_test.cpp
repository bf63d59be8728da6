// Bearers that move between a card and their worker while the card's link looks after them, and restarts of the card at
// each step: no COUNT is used twice, and the card has what it shall have.
#include <gmock/gmock.h>

#include "card/link/mover.h"
#include "card/link/test_fixture.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class CardLinkMovesTest : public CardLinkTest {
 protected:
  static constexpr std::array kIds{BearerId{kFirst}};

  static nic::CardBearer of_host() {
    nic::CardBearer b = bearer(kFirst);
    b.place = nic::Place::kHost;
    return b;
  }
  void start(const nic::CardBearer& first) {
    start_card("a");
    start_link();
    ASSERT_TRUE(up());
    ASSERT_TRUE(put({first}));
    ASSERT_TRUE(up());
  }
  std::uint64_t begin_move() {
    const auto run = link_->begin_move(kIds);
    EXPECT_TRUE(run) << run.error().message;
    return run.value_or(0);
  }
  [[nodiscard]] CardMover mover() const { return {directory_ + "/card.sock", 5s}; }
  // As the host's numbers are counted in a test.
  void number_at_host(std::uint32_t first, unsigned n) {
    for (std::uint32_t i = 0; i < n; ++i) used_.insert(first + i);
  }
  // The host has used the COUNTs below 150, and its lease reaches to 4000.
  void move_here(std::uint32_t next_rlc = 70) {
    number_at_host(0, 150);
    const std::uint64_t run = begin_move();
    nic::CardBearer armed = bearer(kFirst);
    armed.next_count = 4000;
    armed.lease = 1;
    CardMover mover = this->mover();
    ASSERT_TRUE(mover.install(std::array{armed}));
    const nic::CardBeginning beginning{
        .id = BearerId{kFirst}, .next_count = 150, .next_rlc = next_rlc, .lease_end = 150 + 1792, .epoch = 3};
    ASSERT_TRUE(link_->moved_here(run, std::array{CardLink::Arrival{armed, beginning, {}, {}}}));
    ASSERT_TRUE(mover.begin(std::array{beginning}));
    link_->arrived(std::array{BearerId{kFirst}});
  }
  // Returns the card's next COUNT, at which the host goes on.
  std::uint32_t move_away() {
    const std::uint64_t run = begin_move();
    CardMover mover = this->mover();
    const auto rows = mover.numbers(kIds);
    EXPECT_TRUE(rows);
    const std::uint32_t next = (*rows)[0].numbers.pdcp_next;
    EXPECT_TRUE(mover.set_leases(std::array{nic::CardLease{BearerId{kFirst}, next}}));
    const auto asked = link_->moved_away(run, std::array{of_host()});
    EXPECT_TRUE(asked && link_->wait_for(*asked));
    return next;
  }
  void restart_card(const std::string& boot) {
    kill_card();
    start_card(boot);
    ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
    ASSERT_TRUE(up());
  }
};

TEST_F(CardLinkMovesTest, a_bearer_that_moved_away_is_the_hosts_there_also_after_a_restart) {
  start(bearer(kFirst));
  (void)card_->send(kFirst, 100, used_);
  const std::uint32_t next = move_away();
  EXPECT_EQ(next, 100U);
  EXPECT_EQ(card_->find(kFirst)->bearer.place, nic::Place::kHost);
  number_at_host(next, 5000);
  restart_card("b");
  EXPECT_EQ(card_->find(kFirst)->bearer.place, nic::Place::kHost);
  EXPECT_EQ(use_up(kFirst), 0U);
  expect_each_count_once();
}

TEST_F(CardLinkMovesTest, a_bearer_that_moved_here_has_leases_and_no_count_twice) {
  start(of_host());
  move_here();
  EXPECT_EQ(card_->find(kFirst)->bearer.place, nic::Place::kCard);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(soon([&] { return use_up(kFirst) > 0; })) << "its lease is renewed";
  const std::uint32_t before = card_->find(kFirst)->numbers.pdcp_next;
  restart_card("b");
  EXPECT_GE(card_->find(kFirst)->numbers.pdcp_next, before);
  EXPECT_EQ(card_->find(kFirst)->bearer.epoch, 4U);
  EXPECT_GT(use_up(kFirst), 0U);
  expect_each_count_once();
}

TEST_F(CardLinkMovesTest, a_bearer_that_went_there_and_back_uses_no_count_twice) {
  start(of_host());
  move_here();
  (void)card_->send(kFirst, 200, used_);
  const std::uint32_t next = move_away();
  EXPECT_EQ(next, 350U);
  number_at_host(next, 100);
  EXPECT_EQ(use_up(kFirst), 0U);
  expect_each_count_once();
}

// card.install takes RLC numbers of 18 bits; a bearer of the host may have sent far more.
TEST_F(CardLinkMovesTest, a_change_of_a_bearer_that_moved_here_reaches_the_card) {
  start(of_host());
  move_here(1'000'000);
  EXPECT_EQ(card_->find(kFirst)->numbers.rlc_next, 1'000'000U);
  nic::CardBearer changed = bearer(kFirst);
  changed.poll_pdu = 5;
  const auto done = put({changed});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(card_->find(kFirst)->bearer.poll_pdu, 5U);
  EXPECT_EQ(card_->find(kFirst)->numbers.rlc_next, 1'000'000U) << "its numbers go on";
  restart_card("b");
  EXPECT_EQ(card_->find(kFirst)->numbers.rlc_next, 0U) << "in a new epoch";
}

TEST_F(CardLinkMovesTest, a_restart_of_the_card_during_a_move_ends_it) {
  start(bearer(kFirst));
  (void)card_->send(kFirst, 100, used_);
  const std::uint64_t run = begin_move();
  restart_card("b");
  const auto refused = link_->moved_away(run, std::array{of_host()});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("card card0 was away meanwhile"));
  link_->give_up_move(kIds);
  EXPECT_TRUE(soon([&] { return use_up(kFirst) > 0; })) << "it is the card's still";
  expect_each_count_once();
}

TEST_F(CardLinkMovesTest, a_restart_before_the_host_says_that_it_moved_here_leaves_it_on_the_host) {
  start(of_host());
  const std::uint64_t run = begin_move();
  nic::CardBearer armed = bearer(kFirst);
  armed.lease = 1;
  ASSERT_TRUE(mover().install(std::array{armed}));
  restart_card("b");
  const nic::CardBeginning beginning{.id = BearerId{kFirst}, .next_count = 150, .lease_end = 2000};
  EXPECT_FALSE(link_->moved_here(run, std::array{CardLink::Arrival{armed, beginning, {}, {}}}));
  link_->give_up_move(kIds);
  ASSERT_TRUE(up());
  EXPECT_EQ(card_->find(kFirst)->bearer.place, nic::Place::kHost);
}

TEST_F(CardLinkMovesTest, a_move_that_is_given_up_leaves_lease_and_place_as_they_were) {
  start(bearer(kFirst));
  (void)begin_move();
  CardMover mover = this->mover();
  ASSERT_TRUE(mover.set_leases(std::array{nic::CardLease{BearerId{kFirst}, 10}}));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(card_->find(kFirst)->lease_end, 10U) << "nobody meddles with it";
  link_->give_up_move(kIds);
  EXPECT_TRUE(soon([&] { return card_->find(kFirst)->lease_end == 4096; }));
  EXPECT_EQ(use_up(kFirst), 4096U);
  expect_each_count_once();
}

TEST_F(CardLinkMovesTest, what_was_armed_for_a_move_that_is_given_up_is_the_hosts_again) {
  start(of_host());
  (void)begin_move();
  nic::CardBearer armed = bearer(kFirst);
  armed.lease = 1;
  ASSERT_TRUE(mover().install(std::array{armed}));
  link_->give_up_move(kIds);
  EXPECT_TRUE(soon([&] { return card_->find(kFirst)->bearer.place == nic::Place::kHost; }));
}

TEST_F(CardLinkMovesTest, no_move_begins_with_a_card_that_is_away_or_a_bearer_that_it_does_not_have) {
  start_link();
  EXPECT_THAT(link_->begin_move(kIds).error().message, HasSubstr("card card0 is away"));
  start_card("a");
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  const auto some = link_->begin_move(std::array{BearerId{kFirst}, BearerId{kSecond}});
  ASSERT_FALSE(some);
  EXPECT_THAT(some.error().message, HasSubstr("card card0 has not taken a change of bearer 0x04000002 yet"));
  EXPECT_TRUE(link_->begin_move(kIds)) << "the first of them did not stay in a move";
}

}  // namespace
}  // namespace splitplane::app
