// Bearers that the card refuses: who gets the error, and what becomes of the card's earlier state.
#include <gmock/gmock.h>

#include "card/link/link.h"
#include "card/link/test_fixture.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(CardLinkTest, what_the_card_refuses_is_told_and_the_others_are_installed) {
  start_card("a", {kSecond});
  start_link();
  ASSERT_TRUE(up());
  const auto refused = put({bearer(kFirst), bearer(kSecond), bearer(kHost)});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("card card0: bearer 67108866: the card is full"));
  EXPECT_EQ(card_->size(), 2U);
  EXPECT_EQ(link_->view().refused, 1U);
  remove({BearerId{kSecond}});
  EXPECT_TRUE(up());
  EXPECT_TRUE(put({bearer(kFirst)})) << "the refusal was the other's";
}

TEST_F(CardLinkTest, a_bearer_without_a_lease_among_refused_ones_is_refused_once) {
  start_card("a", {kFirst});
  start_link();
  ASSERT_TRUE(up());
  auto used_up = bearer(kSecond, 12);
  used_up.ahead = 2047;
  EXPECT_FALSE(put({bearer(kFirst), used_up, bearer(kHost)}));
  EXPECT_TRUE(soon([&] { return card_->find(kHost).has_value(); }));
  EXPECT_EQ(link_->view().refused, 2U);
}

TEST_F(CardLinkTest, a_change_that_the_card_refuses_can_be_taken_back) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  (void)card_->send(kFirst, 10, used_);
  card_->refuse(kFirst);
  auto changed = bearer(kFirst);
  changed.qfi = Qfi{5};
  EXPECT_FALSE(put({changed}));
  card_->refuse(0);
  EXPECT_TRUE(put({bearer(kFirst)})) << "as it was";
  EXPECT_EQ(card_->find(kFirst)->bearer.qfi, Qfi{9});
  EXPECT_EQ(card_->find(kFirst)->numbers.pdcp_next, 10U);
  kill_card();
  start_card("b");
  ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
  EXPECT_EQ(card_->find(kFirst)->bearer.qfi, Qfi{9});
}

// A host that no longer waits goes on with the state that the card refuses then. The number of the UPF that it left may
// be another's by that time.
TEST_F(CardLinkTest, a_bearer_whose_change_the_card_refuses_when_nobody_waits_goes_off_it) {
  start_card("a");
  make_link(3, 3s);
  link_->begin();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond)}));
  (void)card_->send(kFirst, 10, used_);
  card_->hung = true;
  std::this_thread::sleep_for(300ms);  // the thread looks at leases every 10
  auto changed = bearer(kFirst);
  changed.peer = 1;
  EXPECT_TRUE(put({changed})) << "done later, for all that is known";
  card_->refuse(kFirst);
  card_->hung = false;
  EXPECT_TRUE(soon([&] { return !card_->find(kFirst); })) << "still there, and sends to the UPF of before";
  EXPECT_TRUE(card_->find(kSecond));
  EXPECT_EQ(link_->view().waiting, 1U);
  EXPECT_EQ(link_->view().refused, 1U);
  card_->refuse(0);
  EXPECT_TRUE(put({changed}));
  EXPECT_EQ(card_->find(kFirst)->bearer.peer, 1U);
  EXPECT_GE(card_->find(kFirst)->numbers.pdcp_next, 4096U) << "behind its lease";
  use_up(kFirst);
  expect_each_count_once();
}

// An Error Indication stops the uplink of a bearer whose installation the card has not answered yet.
TEST_F(CardLinkTest, a_refusal_of_what_replaces_an_awaited_bearer_is_told_to_who_waits) {
  for (const bool replaced : {false, true}) {
    start_card("a");
    make_link(3, 3s);
    link_->begin();
    ASSERT_TRUE(up());
    ASSERT_TRUE(put({bearer(kSecond)}));
    card_->hung = true;
    std::this_thread::sleep_for(60ms);  // the thread looks at leases every 10
    const auto asked = link_->put(std::array{bearer(kFirst)});
    if (replaced) {
      auto stopped = bearer(kFirst);
      stopped.peer = 255;
      link_->put_soon(stopped);
    }
    card_->refuse(kFirst);
    card_->hung = false;
    const auto done = link_->wait_for(asked);
    EXPECT_TRUE(soon([&] { return link_->view().refused == 1; }));
    EXPECT_FALSE(done) << "replaced " << replaced;
    link_.reset();
    server_.reset();
  }
}

// The next bearer of that identity is put before a caller has waited for the first one's removal.
TEST_F(CardLinkTest, who_waits_for_a_removal_hears_of_no_refusal) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  const auto gone = link_->remove(std::array{BearerId{kFirst}});
  card_->refuse(kFirst);
  link_->put_soon(bearer(kFirst));
  EXPECT_TRUE(soon([&] { return link_->view().refused == 1; }));
  EXPECT_TRUE(link_->wait_for(gone));
}

}  // namespace
}  // namespace splitplane::app
