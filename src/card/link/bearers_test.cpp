#include "card/link/bearers.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using Caller = LinkBearers::Caller;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kFirst = 0x04000001, kSecond = 0x04000002;

nic::CardBearer bearer_in(std::uint32_t id, nic::Place place = nic::Place::kCard) {
  return {.id = BearerId{id}, .teid = Teid{id}, .place = place, .pdcp_sn_bits = 18};
}

CardNumbersRow row(std::uint32_t id, std::uint32_t next, std::uint32_t lease_end = 4096) {
  return {BearerId{id}, {.pdcp_next = next, .lease_end = lease_end}};
}

class LinkBearersTest : public testing::Test {
 protected:
  // As the card's owner does when nothing goes wrong.
  void install(std::uint32_t id) {
    const auto prepared = bearers.prepare(id);
    ASSERT_TRUE(prepared && *prepared);
    bearers.installed(id, (*prepared)->version, now);
  }

  LinkBearers bearers;
  LinkBearers::Clock::time_point now{1h};
};

TEST_F(LinkBearersTest, a_bearer_is_dirty_until_the_card_has_its_last_version) {
  const auto first = bearers.put(bearer_in(kFirst), Caller::kWaits);
  EXPECT_FALSE(bearers.is_done(kFirst, first));
  const auto prepared = bearers.prepare(kFirst);
  ASSERT_TRUE(prepared && *prepared);
  const auto second = bearers.put(bearer_in(kFirst), Caller::kWaits);
  EXPECT_TRUE(bearers.is_done(kFirst, first)) << "a later put() has replaced it";
  bearers.installed(kFirst, (*prepared)->version, now);
  EXPECT_TRUE(bearers.find(kFirst)->confirmed);
  EXPECT_FALSE(bearers.is_done(kFirst, second)) << "the card has the version before";
  install(kFirst);
  EXPECT_TRUE(bearers.is_done(kFirst, second));
  EXPECT_FALSE(bearers.has_dirty());
}

TEST_F(LinkBearersTest, only_a_bearer_that_the_card_may_have_is_removed_from_it) {
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  bearers.put(bearer_in(kSecond), Caller::kGoesOn);
  ASSERT_TRUE(bearers.prepare(kFirst));  // sent, and not answered yet
  bearers.remove(kFirst);
  bearers.remove(kSecond);
  EXPECT_THAT(bearers.removals(9), ElementsAre(kFirst));
  EXPECT_FALSE(bearers.is_done(kFirst, LinkBearers::kRemoval));
  bearers.removed(bearers.removals(9));
  EXPECT_TRUE(bearers.is_done(kFirst, LinkBearers::kRemoval));
  EXPECT_EQ(bearers.size(), 0U);
}

TEST_F(LinkBearersTest, a_new_run_of_the_card_numbers_behind_the_lease_in_another_epoch) {
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  install(kFirst);
  const std::uint32_t end = bearers.find(kFirst)->lease_end;
  (void)bearers.renewals(std::array{row(kFirst, 10)}, {}, now);
  bearers.begin_anew();
  const auto* entry = bearers.find(kFirst);
  EXPECT_EQ(entry->want.next_count, end);
  EXPECT_EQ(entry->want.ahead, end - 10) << "a receiver has seen the COUNTs below 10";
  EXPECT_EQ(entry->want.epoch, 1U);
  EXPECT_FALSE(entry->confirmed);
  EXPECT_TRUE(bearers.is_dirty(kFirst));
  bearers.begin_anew();
  EXPECT_EQ(bearers.find(kFirst)->want.epoch, 1U) << "that run was not sent the bearer, so it numbered no packet";
}

TEST_F(LinkBearersTest, packets_are_added_up_over_the_runs_of_a_card) {
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  install(kFirst);
  CardNumbersRow numbers = row(kFirst, 5);
  numbers.numbers.dl_packets = 5;
  (void)bearers.renewals(std::array{numbers}, {}, now);
  bearers.begin_anew();
  EXPECT_EQ(bearers.find(kFirst)->dl_packets, 5U);
  EXPECT_EQ(bearers.find(kFirst)->seen.dl_packets, 0U);
}

TEST_F(LinkBearersTest, a_comparison_removes_what_is_not_desired_and_goes_on_with_the_numbers_of_the_rest) {
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  EXPECT_FALSE(bearers.found_on_card(row(kSecond, 7), now).adopted);
  const auto found = bearers.found_on_card(row(kFirst, 100, 150), now);
  EXPECT_TRUE(found.adopted);
  EXPECT_EQ(found.lease, 150U);
  bearers.compared({kFirst, kSecond});
  EXPECT_THAT(bearers.removals(9), ElementsAre(kSecond));
  EXPECT_EQ(bearers.find(kFirst)->want.next_count, 100U);
  EXPECT_TRUE(bearers.is_dirty(kFirst)) << "the card may have an older configuration of it";
}

TEST_F(LinkBearersTest, a_comparison_finds_what_the_card_lacks) {
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  bearers.put(bearer_in(kSecond), Caller::kGoesOn);
  install(kFirst);
  install(kSecond);
  bearers.remove(kSecond);
  bearers.compared({});
  EXPECT_THAT(bearers.dirty(9), ElementsAre(kFirst));
  EXPECT_FALSE(bearers.has_removals()) << "it is not there any more";
  EXPECT_FALSE(bearers.next_look());
}

TEST_F(LinkBearersTest, a_refused_bearer_stays_as_it_was_for_a_caller_that_waits) {
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  install(kFirst);
  const auto version = bearers.put(bearer_in(kFirst), Caller::kWaits);
  EXPECT_FALSE(bearers.refuse(kFirst, "full"));
  EXPECT_TRUE(bearers.find(kFirst)->confirmed);
  EXPECT_EQ(bearers.take_refusal(kFirst, version), "full");
  EXPECT_EQ(bearers.take_refusal(kFirst, version), "") << "the caller no longer waits";
  EXPECT_TRUE(bearers.refuse(kFirst, "full again")) << "and without a caller the bearer goes off the card";
  EXPECT_FALSE(bearers.find(kFirst)->confirmed);
  EXPECT_TRUE(bearers.is_removal(kFirst));
}

TEST_F(LinkBearersTest, a_bearer_without_a_count_left_is_not_installed) {
  nic::CardBearer used_up = bearer_in(kFirst);
  used_up.ahead = (1U << 17) - 1;
  bearers.put(used_up, Caller::kGoesOn);
  const auto refused = bearers.prepare(kFirst);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("its COUNTs are used up"));
  used_up.id = BearerId{kSecond};
  used_up.place = nic::Place::kHost;
  bearers.put(used_up, Caller::kGoesOn);
  const auto hosts = bearers.prepare(kSecond);
  ASSERT_TRUE(hosts && *hosts);
  EXPECT_FALSE((*hosts)->numbering) << "the card does not number it";
}

TEST_F(LinkBearersTest, a_lease_is_renewed_when_half_of_it_is_used) {
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  install(kFirst);
  EXPECT_THAT(bearers.due(now, 9), IsEmpty());
  ASSERT_TRUE(bearers.next_look());
  now = *bearers.next_look();
  EXPECT_THAT(bearers.due(now, 9), ElementsAre(kFirst));
  EXPECT_THAT(bearers.renewals(std::array{row(kFirst, 1)}, {}, now), IsEmpty());
  const auto renewals = bearers.renewals(std::array{row(kFirst, 3000)}, {}, now);
  ASSERT_EQ(renewals.size(), 1U);
  EXPECT_EQ(renewals[0].before, 4096U);
  EXPECT_GE(renewals[0].numbering.lease_end, 3000U + 4096U);
  EXPECT_EQ(renewals[0].numbering.heard, 3000U);
  EXPECT_TRUE(bearers.renew(renewals[0], now));
  EXPECT_EQ(bearers.find(kFirst)->lease_end, renewals[0].numbering.lease_end);
  EXPECT_FALSE(bearers.renew(renewals[0], now)) << "its lease is another one by now";
}

TEST_F(LinkBearersTest, bearers_of_the_host_have_no_look_at_their_numbers) {
  bearers.put(bearer_in(kFirst, nic::Place::kHost), Caller::kGoesOn);
  bearers.put(bearer_in(kSecond), Caller::kGoesOn);
  install(kFirst);
  EXPECT_FALSE(bearers.next_look());
  EXPECT_EQ(bearers.counts().confirmed, 1U);
  EXPECT_EQ(bearers.size() - bearers.counts().of_host, 1U);
  EXPECT_EQ(bearers.size(), 2U);
}

nic::CardBearer kept_bearer() {
  nic::CardBearer bearer = bearer_in(kFirst);
  bearer.keeps_copies = true;
  return bearer;
}

TEST_F(LinkBearersTest, a_bearer_whose_worker_keeps_copies_goes_on_behind_what_is_sent_again) {
  bearers.put(kept_bearer(), Caller::kGoesOn);
  ASSERT_EQ(bearers.to_begin({kFirst}).size(), 1U);
  EXPECT_FALSE(bearers.can_prepare(kFirst)) << "its worker has not begun";
  bearers.begun(bearers.to_begin({kFirst})[0], {.next = 70, .next_ack = 20, .most = 100});
  EXPECT_TRUE(bearers.can_prepare(kFirst));
  const auto prepared = bearers.prepare(kFirst);
  ASSERT_TRUE(prepared && *prepared);
  EXPECT_EQ((*prepared)->bearer.next_rlc, 70U);
  EXPECT_EQ((*prepared)->bearer.lease, 50U) << "50 SDUs wait for their acknowledgement";
  EXPECT_TRUE(bearers.to_begin({kFirst}).empty()) << "the card may have it";
}

TEST_F(LinkBearersTest, the_lease_of_such_a_bearer_follows_what_the_ue_has_acknowledged) {
  bearers.put(kept_bearer(), Caller::kGoesOn);
  bearers.begun(bearers.to_begin({kFirst})[0], {.next = 0, .next_ack = 0, .most = 100});
  install(kFirst);
  CardNumbersRow numbers = row(kFirst, 90, 100);
  numbers.numbers.rlc_next = 90;
  EXPECT_THAT(bearers.renewals(std::array{numbers}, {}, now), IsEmpty()) << "its worker did not say";
  EXPECT_THAT(bearers.renewals(std::array{numbers}, {{kFirst, {.next = 90, .next_ack = 0, .most = 100}}}, now),
              IsEmpty());
  const auto renewals =
      bearers.renewals(std::array{numbers}, {{kFirst, {.next = 90, .next_ack = 60, .most = 100}}}, now);
  ASSERT_EQ(renewals.size(), 1U);
  EXPECT_EQ(renewals[0].numbering.lease_end, 160U);
  const auto later = bearers.renewals(std::array{numbers}, {{kFirst, {.next = 95, .next_ack = 95, .most = 100}}}, now);
  ASSERT_EQ(later.size(), 1U) << "the UE has acknowledged more than the card had sent when it was asked";
  EXPECT_EQ(later[0].numbering.lease_end, 190U);
}

TEST_F(LinkBearersTest, re_establishment_takes_it_off_the_card_and_puts_it_there_in_the_next_epoch) {
  bearers.put(kept_bearer(), Caller::kGoesOn);
  bearers.begun(bearers.to_begin({kFirst})[0], {.next = 0, .next_ack = 0, .most = 4096});
  install(kFirst);
  const std::uint32_t end = bearers.find(kFirst)->lease_end;
  const auto version = bearers.restart(kFirst);
  EXPECT_THAT(bearers.removals(9), ElementsAre(kFirst));
  EXPECT_FALSE(bearers.is_done(kFirst, version));
  bearers.removed(bearers.removals(9));
  bearers.begun(bearers.to_begin({kFirst})[0], {.next = 5, .next_ack = 0, .most = 4096});
  const auto prepared = bearers.prepare(kFirst);
  ASSERT_TRUE(prepared && *prepared);
  EXPECT_EQ((*prepared)->bearer.epoch, 1U);
  EXPECT_EQ((*prepared)->bearer.next_count, end) << "no COUNT is used twice";
  bearers.installed(kFirst, (*prepared)->version, now);
  EXPECT_TRUE(bearers.is_done(kFirst, version));
  EXPECT_EQ(bearers.restart(kSecond), 0U);
}

TEST_F(LinkBearersTest, what_a_worker_began_before_a_restart_is_not_taken_for_the_next_epoch) {
  bearers.put(kept_bearer(), Caller::kGoesOn);
  const auto before = bearers.to_begin({kFirst})[0];
  (void)bearers.restart(kFirst);
  bearers.begun(before, {.next = 9, .next_ack = 0, .most = 100});
  EXPECT_FALSE(bearers.can_prepare(kFirst));
  bearers.postpone(kFirst);
  EXPECT_FALSE(bearers.has_dirty());
  bearers.resume();
  EXPECT_TRUE(bearers.is_dirty(kFirst));
}

TEST_F(LinkBearersTest, a_host_that_finds_such_a_bearer_on_the_card_begins_it_anew) {
  bearers.put(kept_bearer(), Caller::kGoesOn);
  (void)bearers.found_on_card(row(kFirst, 100, 150), now);
  bearers.compared({kFirst});
  EXPECT_THAT(bearers.removals(9), ElementsAre(kFirst));
  EXPECT_EQ(bearers.find(kFirst)->want.next_count, 150U);
  EXPECT_EQ(bearers.find(kFirst)->want.epoch, 1U);
  EXPECT_FALSE(bearers.find(kFirst)->sent);
}

// Bearers that move between the card and their workers.
class LinkBearersMoveTest : public LinkBearersTest {
 protected:
  static constexpr nic::CardBeginning kBeginning{
      .id = BearerId{kFirst}, .next_count = 150, .next_rlc = 300'000, .lease_end = 2000, .settled = 3, .epoch = 6};
  bool begins_move() { return !bearers.begin_move(std::array{BearerId{kFirst}}); }
  // As it is while the host numbers it.
  void install_of_host() {
    bearers.put(bearer_in(kFirst, nic::Place::kHost), Caller::kGoesOn);
    install(kFirst);
  }
  void install_on_card() {
    bearers.put(bearer_in(kFirst), Caller::kGoesOn);
    install(kFirst);
  }
  void move_here(const LinkBearers::Served& before = {}, const nic::CardNumbers& numbers = {}) {
    install_of_host();
    ASSERT_TRUE(begins_move());
    bearers.moved_here(bearer_in(kFirst), kBeginning, before, numbers, now);
    EXPECT_FALSE(bearers.next_look()) << "the card has not begun: its lease must stay as it is";
    bearers.arrived(kFirst, now);
  }
};

TEST_F(LinkBearersMoveTest, only_what_the_card_has_as_it_is_desired_can_move) {
  EXPECT_FALSE(begins_move()) << "there is none";
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  EXPECT_FALSE(begins_move()) << "the card does not have it yet";
  install(kFirst);
  EXPECT_TRUE(begins_move());
  EXPECT_FALSE(begins_move()) << "it moves already";
  bearers.give_up_move(kFirst);
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  EXPECT_FALSE(begins_move()) << "it has changed";
}

TEST_F(LinkBearersMoveTest, while_a_bearer_moves_its_lease_stays) {
  install_on_card();
  const auto renewals = bearers.renewals(std::array{row(kFirst, 3000)}, {}, now);
  ASSERT_EQ(renewals.size(), 1U);
  ASSERT_TRUE(begins_move());
  EXPECT_FALSE(bearers.renew(renewals[0], now)) << "this one was under way when the move began";
  EXPECT_THAT(bearers.renewals(std::array{row(kFirst, 3000)}, {}, now), IsEmpty());
  EXPECT_EQ(bearers.find(kFirst)->lease_end, 4096U);
  bearers.give_up_move(kFirst);
  EXPECT_EQ(bearers.renewals(std::array{row(kFirst, 3000)}, {}, now).size(), 1U);
}

TEST_F(LinkBearersMoveTest, a_bearer_that_stays_on_the_card_has_its_lease_told_again_once) {
  install_on_card();
  ASSERT_TRUE(begins_move());
  EXPECT_FALSE(bearers.has_leases_to_tell());
  bearers.give_up_move(kFirst);
  EXPECT_FALSE(bearers.is_dirty(kFirst));
  ASSERT_TRUE(bearers.has_leases_to_tell());
  EXPECT_THAT(bearers.take_leases_to_tell(), ElementsAre(nic::CardLease{BearerId{kFirst}, 4096}));
  EXPECT_FALSE(bearers.has_leases_to_tell());
  bearers.give_up_move(kFirst);
  EXPECT_FALSE(bearers.has_leases_to_tell()) << "no move is going on";
}

TEST_F(LinkBearersMoveTest, a_bearer_that_is_gone_by_then_has_no_lease_to_tell) {
  install_on_card();
  ASSERT_TRUE(begins_move());
  bearers.give_up_move(kFirst);
  bearers.remove(kFirst);
  EXPECT_THAT(bearers.take_leases_to_tell(), IsEmpty());
}

TEST_F(LinkBearersMoveTest, a_bearer_that_stays_on_the_host_is_installed_again_as_the_hosts) {
  install_of_host();
  ASSERT_TRUE(begins_move());
  bearers.give_up_move(kFirst);
  ASSERT_TRUE(bearers.is_dirty(kFirst)) << "the card may have it as its own";
  const auto prepared = bearers.prepare(kFirst);
  ASSERT_TRUE(prepared && *prepared);
  EXPECT_EQ((*prepared)->bearer.place, nic::Place::kHost);
  EXPECT_FALSE((*prepared)->numbering);
}

TEST_F(LinkBearersMoveTest, a_bearer_that_moved_away_is_looked_after_no_more) {
  install_on_card();
  bearers.request({BearerId{kFirst}, 1});
  ASSERT_TRUE(begins_move());
  bearers.moved_away(bearer_in(kFirst, nic::Place::kHost));
  EXPECT_TRUE(bearers.is_dirty(kFirst));
  EXPECT_FALSE(bearers.next_look());
  EXPECT_FALSE(bearers.has_requests());
  EXPECT_FALSE(bearers.take_granted(kFirst));
  install(kFirst);
  EXPECT_FALSE(bearers.next_look());
  EXPECT_TRUE(begins_move()) << "it may come back";
}

TEST_F(LinkBearersMoveTest, a_bearer_that_moved_away_and_has_to_come_back_begins_behind_its_lease) {
  install_on_card();
  const std::uint32_t end = bearers.find(kFirst)->lease_end;
  ASSERT_TRUE(begins_move());
  bearers.moved_away(bearer_in(kFirst, nic::Place::kHost));
  install(kFirst);
  bearers.begin_anew();  // and the card restarts
  install(kFirst);
  EXPECT_EQ(bearers.find(kFirst)->want.epoch, 0U) << "the card has numbered none of it since";
  bearers.put(bearer_in(kFirst), Caller::kGoesOn);
  const auto prepared = bearers.prepare(kFirst);
  ASSERT_TRUE(prepared && *prepared);
  EXPECT_EQ((*prepared)->bearer.next_count, end);
}

TEST_F(LinkBearersMoveTest, a_bearer_that_moved_here_is_looked_after_at_once) {
  move_here();
  EXPECT_FALSE(bearers.is_dirty(kFirst)) << "the card has it";
  EXPECT_EQ(bearers.find(kFirst)->lease_end, 2000U);
  ASSERT_TRUE(bearers.next_look());
  EXPECT_LE(*bearers.next_look() - now, 5ms);
  now = *bearers.next_look();
  EXPECT_THAT(bearers.due(now, 9), ElementsAre(kFirst));
  EXPECT_EQ(bearers.renewals(std::array{row(kFirst, 160, 2000)}, {}, now).size(), 1U);
  EXPECT_TRUE(bearers.take_granted(kFirst)) << "its worker has credit";
}

TEST_F(LinkBearersMoveTest, a_bearer_that_moved_here_goes_on_behind_its_lease_after_a_restart) {
  move_here();
  bearers.begin_anew();
  const auto prepared = bearers.prepare(kFirst);
  ASSERT_TRUE(prepared && *prepared);
  const nic::CardBearer& again = (*prepared)->bearer;
  EXPECT_EQ(again.next_count, 2000U);
  EXPECT_EQ(again.ahead, 2000U - 150U) << "what the host has sent a receiver may have seen";
  EXPECT_EQ(again.epoch, 7U);
  EXPECT_EQ(again.next_rlc, 0U) << "RLC begins anew in each epoch";
}

TEST_F(LinkBearersMoveTest, what_host_and_card_have_served_adds_up) {
  nic::CardNumbers numbers{.dl_packets = 10, .ul_packets = 4, .dl_octets = 1000, .ul_octets = 400};
  move_here({.dl_packets = 110, .ul_packets = 4, .dl_octets = 9000, .ul_octets = 400}, numbers);
  const auto sums = [&] {
    LinkBearers::Served all;
    const std::uint32_t last = bearers.visit_served(0, 2, [&](std::uint32_t id, const LinkBearers::Served& served) {
      EXPECT_EQ(id, kFirst);
      all = served;
    });
    EXPECT_EQ(bearers.visit_served(last, 2, [](std::uint32_t, const auto&) { ADD_FAILURE(); }), last);
    return all;
  };
  EXPECT_EQ(sums().dl_packets, 110U) << "those that the card had counted before are in it";
  EXPECT_EQ(sums().dl_octets, 9000U);
  EXPECT_EQ(sums().ul_packets, 4U);
  numbers.dl_packets += 5;
  EXPECT_EQ(bearers.served(kFirst, numbers).dl_packets, 115U);
  bearers.begin_anew();
  EXPECT_EQ(sums().dl_packets, 110U);
  EXPECT_EQ(bearers.served(kFirst, {.dl_packets = 3}).dl_packets, 113U) << "of the next run";
}

// The host ended in the middle of a move, or the card missed the change.
TEST_F(LinkBearersMoveTest, a_bearer_that_the_card_has_as_the_hosts_is_removed_and_installed_as_its_own) {
  install_on_card();
  CardNumbersRow of_host = row(kFirst, 77);
  of_host.numbers.place = nic::Place::kHost;
  EXPECT_FALSE(bearers.found_on_card(of_host, now).adopted);
  bearers.compared({kFirst});
  EXPECT_THAT(bearers.removals(9), ElementsAre(kFirst));
  EXPECT_FALSE(bearers.can_prepare(kFirst)) << "the removal goes first";
  bearers.removed(bearers.removals(9));
  const auto prepared = bearers.prepare(kFirst);
  ASSERT_TRUE(prepared && *prepared);
  EXPECT_EQ((*prepared)->bearer.next_count, 4096U) << "not what its registers say";
  EXPECT_EQ((*prepared)->bearer.place, nic::Place::kCard);
}

}  // namespace
}  // namespace splitplane::app
