// What a link tells workers: grants that they ask for, credit that is worth nothing any more, and cards that wait in
// vain.
#include <gtest/gtest.h>

#include "card/link/test_fixture.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using Kind = CardNotice::Kind;

class CardLinkNotices : public CardLinkTest {
 protected:
  void SetUp() override {
    CardLinkTest::SetUp();
    lease_journal_ = [this](std::span<const CardNumbering> numberings) -> Expected<void> {
      if (disk_is_full_) return fail("no space");
      for (const CardNumbering& n : numberings) on_disk_ = n.lease_end;
      return {};
    };
    notify_ = [this](std::span<const CardNotice> notices) {
      const std::lock_guard guard(mutex_);
      for (const CardNotice& notice : notices) {
        notices_.push_back(notice);
        is_on_disk_ = is_on_disk_ && (notice.kind != Kind::kGrant || notice.grant.lease_end <= on_disk_);
        const auto there = card_->find(notice.id().value);
        card_has_it_ = card_has_it_ && (notice.kind != Kind::kGrant || notice.grant.lease_end <= there->lease_end);
        card_has_it_ = card_has_it_ && (notice.kind != Kind::kRevoke || !there);
      }
    };
    start_card("a");
    start_link();
    ASSERT_TRUE(up());
    ASSERT_TRUE(put({bearer(kFirst, 12)}));
  }
  // The first notice of a kind, which is forgotten then.
  std::optional<CardNotice> take(Kind kind, std::chrono::milliseconds patience = 5s) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      {
        const std::lock_guard guard(mutex_);
        const auto at = std::ranges::find(notices_, kind, &CardNotice::kind);
        if (at != notices_.end()) {
          const CardNotice found = *at;
          notices_.erase(at);
          return found;
        }
      }
      std::this_thread::sleep_for(1ms);
    }
    return std::nullopt;
  }
  void request(std::uint32_t tag) { link_->request(std::array{CardRequest{BearerId{kFirst}, tag}}); }

  std::mutex mutex_;
  std::vector<CardNotice> notices_;
  std::atomic<std::uint32_t> on_disk_{0};
  std::atomic<bool> disk_is_full_{false};
  bool is_on_disk_ = true, card_has_it_ = true;
};

TEST_F(CardLinkNotices, a_request_is_answered_with_a_lease_that_disk_and_card_have) {
  (void)card_->send(kFirst, 1000, used_);
  card_->set_in_flight(kFirst, 5);
  request(7);
  const auto notice = take(Kind::kGrant);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->grant.answers, (CardRequest{BearerId{kFirst}, 7}));
  EXPECT_EQ(notice->grant.next, 1000U);
  EXPECT_EQ(notice->grant.lease_end, 1000U + 1792U);
  EXPECT_EQ(notice->grant.in_flight, 5U);
  EXPECT_TRUE(is_on_disk_ && card_has_it_);
  EXPECT_FALSE(take(Kind::kGrant, 50ms)) << "one answer to one request";
  (void)card_->send(kFirst, 1000, used_);
  const auto more = take(Kind::kGrant);
  ASSERT_TRUE(more) << "packets are at the host, so a longer lease is of use there";
  EXPECT_EQ(more->grant.answers.tag, CardRequest::kUnasked);
  EXPECT_EQ(more->grant.lease_end, 2000U + 1792U);
}

TEST_F(CardLinkNotices, while_the_disk_is_full_a_grant_is_what_is_left) {
  disk_is_full_ = true;
  (void)card_->send(kFirst, 1700, used_);
  request(1);
  const auto notice = take(Kind::kGrant);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->grant.lease_end, 1792U);
}

TEST_F(CardLinkNotices, a_request_waits_for_a_card_that_is_away_and_the_credit_before_is_revoked) {
  request(1);
  ASSERT_TRUE(take(Kind::kGrant));
  kill_card();
  ASSERT_TRUE(soon([&] { return !link_->view().up; }));
  request(2);
  start_card("b");
  ASSERT_TRUE(take(Kind::kRevoke));
  const auto notice = take(Kind::kGrant);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->grant.answers.tag, 2U);
  EXPECT_EQ(notice->grant.next, 1792U);
  EXPECT_EQ(notice->grant.lease_end, 1792U + 128U) << "an idle bearer gets no more";
  EXPECT_TRUE(card_has_it_) << "it was revoked before the card had the bearer";
}

TEST_F(CardLinkNotices, a_request_for_a_bearer_that_is_not_the_cards_has_no_answer) {
  link_->request(std::array{CardRequest{BearerId{kSecond}, 1}});
  EXPECT_FALSE(take(Kind::kGrant, 50ms));
  EXPECT_TRUE(link_->view().up);
}

TEST_F(CardLinkNotices, a_card_that_waits_in_vain_is_noticed) {
  EXPECT_FALSE(take(Kind::kSettleAll, 150ms));
  card_->set_in_flight(kFirst, 1);
  const auto notice = take(Kind::kSettleAll);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->id().value, kFirst);
  EXPECT_TRUE(take(Kind::kSettleAll)) << "until the card knows";
  card_->set_in_flight(kFirst, 0);
  std::this_thread::sleep_for(50ms);
  while (take(Kind::kSettleAll, 1ms)) {
  }
  EXPECT_FALSE(take(Kind::kSettleAll, 100ms));
}

}  // namespace
}  // namespace splitplane::app
