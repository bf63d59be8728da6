// Leases of a card's bearers over restarts of the card and of this host: no COUNT is used twice, no step is too long,
// no RLC epoch comes again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "card/link/test_fixture.h"
#include "card/protocol/lease.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

class CardLinkRestart : public CardLinkTest {
 protected:
  void restart_host(const nic::CardBearer& bearer) {
    link_.reset();
    make_link();
    ASSERT_TRUE(put({bearer}));
    link_->begin();
    ASSERT_TRUE(up());
  }
  void restart_card(const std::string& boot) {
    kill_card();
    start_card(boot);
    ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
    ASSERT_TRUE(up());
  }
};

TEST_F(CardLinkRestart, leases_are_renewed_before_a_sender_notices) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond, 12)}));
  std::uint64_t renewed = 0;
  for (int i = 0; i < 20; ++i) {
    for (const std::uint32_t id : {kFirst, kSecond}) {
      const std::uint32_t end = card_->find(id)->lease_end;
      std::multiset<std::uint32_t> used;
      card_->send(id, static_cast<unsigned>(left_of_lease(card_->find(id)->numbers.pdcp_next, end)) * 2 / 3, used);
      // A lease that was given at a high rate is long. At a lower one it is renewed when less is left.
      if (left_of_lease(card_->find(id)->numbers.pdcp_next, end) > 2048) continue;
      ASSERT_TRUE(soon([&] { return card_->find(id)->lease_end != end; })) << "half was used, and no more came";
      EXPECT_LT(left_of_lease(card_->find(id)->numbers.pdcp_next, card_->find(id)->lease_end),
                id == kFirst ? 131072 : 2048);
      ++renewed;
    }
  }
  EXPECT_GE(renewed, 20U) << "those of 12 bits are never long";
  EXPECT_TRUE(soon([&] { return link_->view().leases_renewed >= renewed; }));  // counted when the card has answered
}

TEST_F(CardLinkRestart, leases_are_renewed_while_many_bearers_are_installed) {
  start_card("a");
  make_link(3, 3s);
  link_->begin();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  card_->slow_installs = 10;
  std::vector<nic::CardBearer> many;
  for (std::uint32_t i = 1; i <= 1000; ++i) many.push_back(bearer(kFirst + i));
  ASSERT_TRUE(put(many));
  (void)card_->send(kFirst, 3000, used_);
  EXPECT_TRUE(soon([&] { return card_->find(kFirst)->lease_end > 4096; }));
  EXPECT_GT(link_->view().waiting, 200U) << "long before all are there";
}

TEST_F(CardLinkRestart, after_a_restart_no_count_is_used_twice) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond, 12)}));
  link_->set_peer({.number = 3, .max_payload = 1400});
  for (int run = 1; run <= 3; ++run) {
    EXPECT_GT(use_up(kFirst), 0U);
    const std::uint32_t before = card_->find(kFirst)->numbers.pdcp_next;
    kill_card();
    start_card(std::string(1, static_cast<char>('a' + run)));
    ASSERT_TRUE(soon([&] { return card_->size() == 2; }));
    const auto again = *card_->find(kFirst);
    EXPECT_EQ(again.bearer.epoch, run);
    EXPECT_EQ(again.numbers.rlc_next, 0U);
    EXPECT_GE(left_of_lease(before, again.numbers.pdcp_next), 0);
    EXPECT_LT(again.numbers.pdcp_next - before, 1U << 17);
    EXPECT_LT(card_->find(kSecond)->numbers.pdcp_next, 1024U * (static_cast<unsigned>(run) + 1));
    ASSERT_TRUE(soon([&] { return card_->peer(3).has_value(); }));
  }
  use_up(kFirst);
  expect_each_count_once();
  EXPECT_EQ(link_->view().restarts, 3U);
  ASSERT_TRUE(up());
  EXPECT_EQ(link_->look(std::array{BearerId{kFirst}})[0].epoch, 3U);
}

TEST_F(CardLinkRestart, an_idle_bearer_stays_below_half_the_sn_space_over_many_restarts) {
  start_card("0");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kSecond, 12)}));
  (void)card_->send(kSecond, 100, used_);
  std::this_thread::sleep_for(50ms);  // it is looked at
  int run = 0;
  while (link_->view().refused == 0) {
    ASSERT_LE(++run, 12);
    kill_card();
    start_card(std::to_string(run));
    ASSERT_TRUE(soon([&] { return card_->size() == 1 || link_->view().refused == 1; }));
    if (card_->size() == 0) continue;
    ASSERT_TRUE(up());
    std::this_thread::sleep_for(25ms);
    EXPECT_LT(card_->find(kSecond)->numbers.pdcp_next, 100U + 2048U) << "run " << run;
    EXPECT_LE(card_->find(kSecond)->lease_end, 100U + 2048U) << "run " << run;
  }
  EXPECT_GT(run, 8) << "then nothing is left";
  EXPECT_EQ(link_->view().leases_renewed, 0U) << "an idle bearer needs no more";
}

TEST_F(CardLinkRestart, a_bearer_that_sends_after_restarts_gets_whole_leases_again) {
  start_card("0");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kSecond, 12)}));
  for (int run = 1; run <= 3; ++run) {
    kill_card();
    start_card(std::to_string(run));
    ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
    ASSERT_TRUE(up());
  }
  const std::uint32_t first = card_->find(kSecond)->numbers.pdcp_next;
  EXPECT_EQ(card_->find(kSecond)->lease_end - first, 32U);
  EXPECT_EQ(card_->send(kSecond, 1, used_), 1U);
  EXPECT_TRUE(soon([&] { return card_->find(kSecond)->lease_end == first + 1 + 1792; }));
}

// c: the card restarts. h: the host restarts, and finds the card and its bearer as they were.
TEST_F(CardLinkRestart, host_and_card_in_any_order_stay_below_half_the_sn_space) {
  for (const auto& [bits, steps] : {std::pair{12U, "chc"}, {12U, "cchchhch"}, {18U, "hchc"}, {18U, "chchchch"}}) {
    SCOPED_TRACE(fmt::format("{} bits, {}", bits, steps));
    const std::uint32_t half = 1U << (bits - 1);
    start_card("first");
    start_link();
    ASSERT_TRUE(up());
    ASSERT_TRUE(put({bearer(kFirst, bits)}));
    std::uint8_t epoch = 0;
    std::string boot = "c";
    for (const char step : std::string_view(steps)) {
      const auto before = *card_->find(kFirst);
      if (step == 'h') {
        restart_host(bearer(kFirst, bits));
        EXPECT_EQ(card_->find(kFirst)->lease_end, before.lease_end) << "an idle bearer needs no more";
      } else {
        restart_card(boot += step);
        EXPECT_EQ(card_->find(kFirst)->bearer.next_count, before.lease_end);
        EXPECT_EQ(card_->find(kFirst)->bearer.epoch, ++epoch);
      }
      const auto now = *card_->find(kFirst);
      EXPECT_LT(now.numbers.pdcp_next, half);
      EXPECT_LT(now.lease_end, half) << "as far as it may go before anybody knows of it";
      EXPECT_GT(now.lease_end, now.numbers.pdcp_next) << "it can send";
    }
    link_.reset();
    kill_card();
  }
}

TEST_F(CardLinkRestart, a_new_host_knows_what_was_sent_before_it) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kSecond, 12)}));
  restart_card("b");
  restart_card("c");
  (void)card_->send(kSecond, 1, used_);  // at COUNT 1,920: from here on the receiver may miss what follows
  restart_host(bearer(kSecond, 12));
  use_up(kSecond);
  for (const char* boot : {"d", "e"}) {
    const std::uint32_t last = *used_.rbegin();
    restart_card(boot);
    EXPECT_LT(card_->find(kSecond)->numbers.pdcp_next - last, 2048U);
    EXPECT_GT(use_up(kSecond), 1U);
  }
  expect_each_count_once();
}

TEST_F(CardLinkRestart, a_bearer_that_comes_to_the_card_from_the_host_has_a_lease) {
  auto hosts = bearer(kFirst);
  hosts.place = nic::Place::kHost;
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({hosts}));
  ASSERT_TRUE(put({bearer(kFirst)}));
  EXPECT_EQ(link_->look(std::array{BearerId{kFirst}})[0].lease_end, card_->find(kFirst)->lease_end);
  ASSERT_TRUE(put({hosts}));
  restart_card("b");
  EXPECT_EQ(card_->find(kFirst)->bearer.next_count, 4096U) << "the first run's card may have used them";
}

TEST_F(CardLinkRestart, a_lease_whose_answer_is_lost_counts_as_given) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  card_->slow_leases = 1;
  (void)card_->send(kFirst, 3000, used_);
  ASSERT_TRUE(soon([&] { return card_->find(kFirst)->lease_end > 4096; }));
  use_up(kFirst);
  kill_card();
  start_card("b");
  ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
  use_up(kFirst);
  expect_each_count_once();
}

TEST_F(CardLinkRestart, an_installation_whose_answer_is_lost_counts_as_done) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  card_->slow_installs = 1;
  ASSERT_TRUE(put({bearer(kFirst)}));  // answered late: the card counts as away
  ASSERT_TRUE(soon([&] { return card_->find(kFirst).has_value(); }));
  (void)card_->send(kFirst, 100, used_);
  ASSERT_TRUE(up());
  EXPECT_EQ(card_->find(kFirst)->numbers.pdcp_next, 100U) << "the same run: its numbers go on";
  EXPECT_EQ(card_->find(kFirst)->bearer.epoch, 0U);

  card_->slow_installs = 1;
  ASSERT_TRUE(put({bearer(kSecond)}));
  ASSERT_TRUE(soon([&] { return card_->find(kSecond).has_value(); }));
  used_.clear();
  use_up(kSecond);
  kill_card();
  start_card("b");
  ASSERT_TRUE(soon([&] { return card_->size() == 2; }));
  use_up(kSecond);
  expect_each_count_once();
}

TEST_F(CardLinkRestart, what_an_earlier_host_left_is_removed_or_goes_on) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond)}));
  (void)card_->send(kFirst, 3000, used_);
  link_.reset();
  make_link();
  std::this_thread::sleep_for(20ms);  // a host with many bearers takes its time
  ASSERT_TRUE(put({bearer(kFirst)}));
  EXPECT_EQ(card_->size(), 2U) << "nothing is asked of the card yet";
  const std::array longest{nic::CardLease{BearerId{kFirst}, 3000U + 65536U}};
  ASSERT_TRUE(card_->set_leases(longest));
  link_->begin();
  ASSERT_TRUE(up());
  ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
  EXPECT_EQ(card_->find(kFirst)->numbers.pdcp_next, 3000U);
  EXPECT_GE(card_->find(kFirst)->lease_end, 3000U + 65536U);
  use_up(kFirst);
  kill_card();
  start_card("b");
  ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
  use_up(kFirst);
  expect_each_count_once();
}

TEST_F(CardLinkRestart, a_new_host_goes_on_with_the_epoch_of_a_card_that_lives) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  for (const char* boot : {"b", "c"}) {
    kill_card();
    start_card(boot);
    ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
    ASSERT_TRUE(up());
  }
  (void)card_->send(kFirst, 10, used_);
  EXPECT_EQ(card_->find(kFirst)->bearer.epoch, 2U);
  link_.reset();
  make_link();
  ASSERT_TRUE(put({bearer(kFirst)}));
  link_->begin();
  ASSERT_TRUE(up());
  EXPECT_EQ(card_->find(kFirst)->bearer.epoch, 2U) << "its RLC goes on";
  EXPECT_EQ(card_->find(kFirst)->numbers.rlc_next, 10U);
  EXPECT_EQ(link_->look(std::array{BearerId{kFirst}})[0].epoch, 2U);
  kill_card();
  start_card("d");
  ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
  EXPECT_EQ(card_->find(kFirst)->bearer.epoch, 3U) << "one that no run has used";
  EXPECT_EQ(card_->find(kFirst)->numbers.rlc_next, 0U);
}

TEST_F(CardLinkRestart, a_lease_that_was_used_up_while_no_host_was_there_is_renewed_by_the_next) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond, 12)}));
  link_.reset();
  for (const std::uint32_t id : {kFirst, kSecond}) EXPECT_GT(use_up(id), 0U);
  for (const std::uint32_t id : {kFirst, kSecond}) EXPECT_EQ(use_up(id), 0U);
  make_link();
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond, 12)}));
  link_->begin();
  ASSERT_TRUE(up());
  for (const std::uint32_t id : {kFirst, kSecond}) EXPECT_TRUE(soon([&] { return use_up(id) > 0; })) << id;
}

}  // namespace
}  // namespace splitplane::app
