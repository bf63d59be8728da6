// A host with more bearers than its card has entries: those that the card serves have entries, and of the host's those
// that find room. The card refuses what is too much, so a test that ends without `overflows` never asked for that.
#include <gmock/gmock.h>

#include <numeric>
#include <random>

#include "card/link/mover.h"
#include "card/link/test_fixture.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::size_t kRoom = 8;

class CardRoomTest : public CardLinkTest {
 protected:
  static std::uint32_t id(unsigned n) { return kFirst + n; }
  static nic::CardBearer of_host(unsigned n) {
    nic::CardBearer b = bearer(id(n));
    b.place = nic::Place::kHost;
    return b;
  }
  static nic::CardBearer of_card(unsigned n) { return bearer(id(n)); }
  static std::vector<nic::CardBearer> hosts(unsigned first, unsigned count) {
    std::vector<nic::CardBearer> all;
    for (unsigned n = first; n < first + count; ++n) all.push_back(of_host(n));
    return all;
  }
  void start_model(const std::string& boot) {
    card_ = std::make_unique<CardModel>(boot);
    card_->capacity = kRoom;
    serve();
  }
  void start() {
    punts_to_owner_ = true;
    start_model("a");
    start_link();
    ASSERT_TRUE(up());
  }
  void restart_card(const std::string& boot) {
    kill_card();
    start_model(boot);
    ASSERT_TRUE(soon([&] { return link_->view().boot == boot; }));
    ASSERT_TRUE(up());
  }
  // The bearers of the host among the first `count` that the card has an entry of.
  [[nodiscard]] std::size_t hosts_there(unsigned count) const {
    std::size_t there = 0;
    for (unsigned n = 0; n < count; ++n) {
      const auto found = card_->find(id(n));
      there += found && found->bearer.place == nic::Place::kHost ? 1 : 0;
    }
    return there;
  }
  [[nodiscard]] bool serves(unsigned n) const {
    const auto found = card_->find(id(n));
    return found && found->bearer.place == nic::Place::kCard;
  }
  [[nodiscard]] CardMover mover() const { return {directory_ + "/card.sock", 5s}; }
  // As gnb/place moves it; the host has used the COUNTs below `next`.
  Expected<void> move_here(unsigned n, std::uint32_t next = 150) {
    const std::array ids{BearerId{id(n)}};
    const auto run = link_->begin_move(ids);
    if (!run) return tl::unexpected(run.error());
    nic::CardBearer armed = of_card(n);
    armed.next_count = next + 4000;
    armed.lease = 1;
    CardMover mover = this->mover();
    if (auto installed = mover.install(std::array{armed}); !installed) {
      link_->give_up_move(ids);
      return installed;
    }
    const nic::CardBeginning beginning{
        .id = ids[0], .next_count = next, .next_rlc = 7, .lease_end = next + 1792, .epoch = 3};
    if (auto moved = link_->moved_here(*run, std::array{CardLink::Arrival{armed, beginning, {}, {}}}); !moved) {
      link_->give_up_move(ids);
      return moved;
    }
    auto begun = mover.begin(std::array{beginning});
    link_->arrived(ids);
    return begun;
  }
  Expected<void> move_away(unsigned n) {
    const std::array ids{BearerId{id(n)}};
    const auto run = link_->begin_move(ids);
    if (!run) return tl::unexpected(run.error());
    const auto asked = link_->moved_away(*run, std::array{of_host(n)});
    if (!asked) return tl::unexpected(asked.error());
    return link_->wait_for(*asked);
  }
};

TEST_F(CardRoomTest, bearers_of_the_host_beyond_the_room_are_absent_and_nothing_waits) {
  start();
  ASSERT_TRUE(put(hosts(0, 20)));
  EXPECT_EQ(card_->size(), kRoom);
  const CardLinkView view = link_->view();
  EXPECT_EQ(view.absent, 20 - kRoom);
  EXPECT_EQ(view.waiting, 0U);
  EXPECT_EQ(view.refused, 0U);
  EXPECT_EQ(view.bearers, 20U);
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, with_several_workers_behind_the_card_each_bearer_needs_an_entry) {
  start_model("a");
  start_link();
  ASSERT_TRUE(up());
  EXPECT_FALSE(put(hosts(0, kRoom + 1)));
  EXPECT_EQ(link_->view().absent, 0U);
  EXPECT_GT(link_->view().refused, 0U);
}

TEST_F(CardRoomTest, with_punts_to_another_vf_each_bearer_needs_an_entry) {
  punts_to_owner_ = true;
  card_ = std::make_unique<CardModel>("a");
  card_->capacity = kRoom;
  card_->punt_air = 0;
  serve();
  start_link();
  ASSERT_TRUE(up());
  EXPECT_FALSE(put(hosts(0, kRoom + 1)));
}

TEST_F(CardRoomTest, a_bearer_for_the_card_takes_the_entry_of_one_of_the_hosts) {
  start();
  ASSERT_TRUE(put(hosts(0, 20)));
  ASSERT_TRUE(put({of_card(20), of_card(21), of_card(22)}));
  for (const unsigned n : {20U, 21U, 22U}) EXPECT_TRUE(serves(n));
  EXPECT_EQ(hosts_there(20), kRoom - 3);
  EXPECT_EQ(link_->view().absent, 20 - (kRoom - 3));
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, a_card_that_serves_as_many_as_it_has_room_for_refuses_one_more) {
  start();
  ASSERT_TRUE(put(hosts(0, 3)));
  std::vector<nic::CardBearer> all;
  for (unsigned n = 10; n < 10 + kRoom; ++n) all.push_back(of_card(n));
  ASSERT_TRUE(put(all));
  EXPECT_EQ(hosts_there(3), 0U);
  const auto refused = put({of_card(30)});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the card is full; allowed: 8 bearers"));
  remove({BearerId{id(30)}, BearerId{id(10)}});
  EXPECT_TRUE(put({of_card(31)}));
}

TEST_F(CardRoomTest, entries_through_which_the_card_finds_flows_stay) {
  start();
  auto session = of_host(0);
  session.has_flows = true;
  auto flow = of_host(1);
  flow.session = Teid{id(0)};
  flow.flows = 1;
  ASSERT_TRUE(put({session, flow}));
  ASSERT_TRUE(put(hosts(2, 10)));
  for (unsigned n = 20; n < 20 + kRoom - 2; ++n) ASSERT_TRUE(put({of_card(n)}));
  EXPECT_TRUE(card_->find(id(0)) && card_->find(id(1)));
  EXPECT_FALSE(put({of_card(40)}));
}

TEST_F(CardRoomTest, an_absent_bearer_moves_to_the_card_and_another_makes_room) {
  start();
  ASSERT_TRUE(put(hosts(0, 20)));
  const auto moved = move_here(19);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_TRUE(serves(19));
  EXPECT_EQ(card_->size(), kRoom);
  EXPECT_EQ(hosts_there(20), kRoom - 1);
  EXPECT_EQ(card_->send(id(19), 100, used_), 100U);
  EXPECT_EQ(link_->view().waiting, 0U);
  EXPECT_EQ(link_->view().absent, 20 - kRoom);
  ASSERT_TRUE(move_away(19));
  EXPECT_FALSE(serves(19));
  EXPECT_EQ(card_->send(id(19), 1, used_), 0U);
  EXPECT_EQ(card_->overflows, 0U);
  expect_each_count_once();
}

TEST_F(CardRoomTest, many_absent_bearers_begin_their_move_together) {
  start();
  ASSERT_TRUE(put(hosts(0, 40)));
  std::vector<BearerId> ids;
  for (unsigned n = 32; n < 32 + kRoom; ++n) ids.push_back(BearerId{id(n)});
  const auto run = link_->begin_move(ids);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(card_->size(), 0U) << "there is room for all of them";
  EXPECT_FALSE(link_->begin_move(std::array{BearerId{id(0)}}));
  link_->give_up_move(ids);
  ASSERT_TRUE(up());
  EXPECT_EQ(card_->size(), kRoom);
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, no_move_begins_to_a_card_without_an_entry_that_could_go) {
  start();
  ASSERT_TRUE(put(hosts(0, 3)));
  for (unsigned n = 10; n < 10 + kRoom; ++n) ASSERT_TRUE(put({of_card(n)}));
  const auto refused = move_here(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "card card0 is full: it serves all bearers that it has entries for");
  ASSERT_TRUE(move_away(10));
  EXPECT_TRUE(move_here(0)) << "one that has left made room";
}

TEST_F(CardRoomTest, a_move_of_an_absent_bearer_that_is_given_up_leaves_it_to_the_host) {
  start();
  ASSERT_TRUE(put(hosts(0, 20)));
  const std::array ids{BearerId{id(19)}};
  for (const bool armed : {false, true}) {
    ASSERT_TRUE(link_->begin_move(ids));
    nic::CardBearer entry = of_card(19);
    entry.lease = 1;
    if (armed) {
      ASSERT_TRUE(mover().install(std::array{entry}));
    }
    link_->give_up_move(ids);
    ASSERT_TRUE(soon([&] {
      const auto found = card_->find(id(19));
      return found && found->bearer.place == nic::Place::kHost;
    }));
    EXPECT_TRUE(up());
    EXPECT_EQ(link_->view().absent, 20 - kRoom);
    EXPECT_EQ(link_->view().connects, 1U);
    const auto again = move_here(19);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_TRUE(move_away(19));
    // It is absent again.
    for (unsigned n = 30; n < 30 + kRoom; ++n) ASSERT_TRUE(put({of_card(n)}));
    ASSERT_FALSE(card_->find(id(19)));
    for (unsigned n = 30; n < 30 + kRoom; ++n) remove({BearerId{id(n)}});
    ASSERT_TRUE(put(hosts(0, 19)));
    ASSERT_FALSE(card_->find(id(19)));
  }
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, an_absent_bearer_may_be_released_right_after_its_move_was_given_up) {
  start();
  ASSERT_TRUE(put(hosts(0, 20)));
  for (const bool armed : {false, true}) {
    const unsigned n = armed ? 18 : 19;
    const std::array ids{BearerId{id(n)}};
    ASSERT_FALSE(card_->find(id(n)));
    ASSERT_TRUE(link_->begin_move(ids));
    nic::CardBearer entry = of_card(n);
    entry.lease = 1;
    if (armed) {
      ASSERT_TRUE(mover().install(std::array{entry}));
    }
    link_->give_up_move(ids);
    remove({ids[0]});
    ASSERT_TRUE(up());
    EXPECT_FALSE(card_->find(id(n)));
    const CardLinkView view = link_->view();
    EXPECT_EQ(view.bearers, n);
    EXPECT_EQ(view.bearers - view.absent, card_->size());
    EXPECT_EQ(view.connects, 1U);
    EXPECT_EQ(view.failures, 0U);
  }
  // Its place is free: another bearer moves there, and one with the same identity may come again.
  ASSERT_TRUE(move_here(17));
  ASSERT_TRUE(put({of_host(19)}));
  EXPECT_EQ(link_->view().bearers, 19U);
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, a_restarted_card_gets_the_bearers_that_it_serves_first) {
  start();
  ASSERT_TRUE(put(hosts(0, 20)));
  for (unsigned n = 20; n < 25; ++n) ASSERT_TRUE(put({of_card(n)}));
  ASSERT_TRUE(move_here(19));
  restart_card("b");
  for (const unsigned n : {19U, 20U, 21U, 22U, 23U, 24U}) EXPECT_TRUE(serves(n)) << n;
  EXPECT_EQ(card_->size(), kRoom);
  EXPECT_EQ(hosts_there(20), 2U);
  EXPECT_EQ(link_->view().absent, 20U - 1 - 2);
  EXPECT_EQ(link_->view().removed, 6U) << "none was installed in vain";
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, what_a_full_card_has_of_an_earlier_host_is_adopted_or_goes) {
  start();
  ASSERT_TRUE(put(hosts(0, 4)));
  for (unsigned n = 20; n < 24; ++n) ASSERT_TRUE(put({of_card(n)}));
  link_.reset();
  make_link();
  std::vector<nic::CardBearer> all = hosts(2, 15);  // 0 and 1 are gone
  for (unsigned n = 20; n < 25; ++n) all.push_back(of_card(n));
  (void)link_->put(all);
  link_->begin();
  ASSERT_TRUE(up());
  EXPECT_FALSE(card_->find(id(0)) || card_->find(id(1)));
  for (unsigned n = 20; n < 25; ++n) EXPECT_TRUE(serves(n)) << n;
  EXPECT_EQ(card_->size(), kRoom);
  EXPECT_EQ(link_->view().absent, 15 - (kRoom - 5));
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, an_entry_of_an_earlier_host_makes_room_for_one_more_bearer_of_the_card) {
  start();
  ASSERT_TRUE(put(hosts(0, 4)));
  for (unsigned n = 20; n < 24; ++n) ASSERT_TRUE(put({of_card(n)}));
  link_.reset();
  make_link();
  std::vector<nic::CardBearer> all = hosts(0, 4);
  for (unsigned n = 20; n < 25; ++n) all.push_back(of_card(n));
  (void)link_->put(all);
  link_->begin();
  ASSERT_TRUE(up());
  for (unsigned n = 20; n < 25; ++n) EXPECT_TRUE(serves(n)) << n;
  EXPECT_EQ(hosts_there(4), 3U);
  EXPECT_EQ(link_->view().refused, 0U);
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, a_move_takes_no_entry_of_a_bearer_that_begins_anew_on_the_card) {
  begin_ = [](BearerId, std::uint8_t) { return CardLinkSettings::KeptWindow{.next = 0, .next_ack = 0, .most = 1024}; };
  start();
  ASSERT_TRUE(put(hosts(0, 3)));
  for (unsigned n = 10; n < 10 + kRoom; ++n) {
    auto keeps = of_card(n);
    keeps.keeps_copies = true;
    ASSERT_TRUE(put({keeps}));
  }
  for (unsigned round = 0; round < 20; ++round) {
    const auto asked = link_->restart(BearerId{id(10)});
    EXPECT_FALSE(move_here(0)) << "there is no entry that could go";
    ASSERT_TRUE(link_->wait_for(asked));
    ASSERT_TRUE(serves(10));
  }
  EXPECT_EQ(link_->view().waiting, 0U);
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, bearers_that_move_together_take_no_entry_from_each_other) {
  std::mt19937 draw(3);
  start();
  for (int round = 0; round < 50; ++round) {
    const unsigned first = 100U * static_cast<unsigned>(round);
    std::vector<unsigned> numbers(20);
    std::iota(numbers.begin(), numbers.end(), first);
    std::ranges::shuffle(numbers, draw);
    for (const unsigned n : numbers) ASSERT_TRUE(put({of_host(n)}));
    std::vector<BearerId> ids;
    for (unsigned i = kRoom / 2; i < kRoom / 2 + kRoom; ++i) ids.push_back(BearerId{id(numbers[i])});
    std::ranges::sort(ids);
    const auto run = link_->begin_move(ids);
    ASSERT_TRUE(run) << run.error().message;
    link_->give_up_move(ids);
    ASSERT_TRUE(up());
    for (const unsigned n : numbers) remove({BearerId{id(n)}});
  }
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(CardRoomTest, entries_that_the_host_needs_are_said) {
  start();
  auto session = of_host(0);
  session.has_flows = true;
  ASSERT_TRUE(put({session, of_host(1), of_card(2)}));
  EXPECT_EQ(link_->view().fixed, 1U);
  EXPECT_EQ(link_->view().serves, 1U);
  remove({BearerId{id(0)}});
  EXPECT_EQ(link_->view().fixed, 0U);
}

TEST_F(CardRoomTest, absent_bearers_are_changed_and_released_without_the_card) {
  start();
  ASSERT_TRUE(put(hosts(0, 20)));
  auto changed = of_host(19);
  changed.poll_pdu = 5;
  EXPECT_TRUE(put({changed}));
  const int installs = card_->installs;
  remove({BearerId{id(19)}, BearerId{id(18)}});
  EXPECT_EQ(card_->installs, installs);
  EXPECT_EQ(link_->view().connects, 1U);
  EXPECT_EQ(link_->view().failures, 0U);
  EXPECT_EQ(link_->view().absent, 18 - kRoom);
}

// Whatever happens in which order: the card is never asked for more than it has room for, it serves what it shall, and
// no COUNT is used twice.
TEST_F(CardRoomTest, any_order_of_changes_moves_and_restarts_keeps_within_the_room) {
  start();
  std::mt19937 draw(5);
  constexpr unsigned kBearers = 24;
  enum class At : std::uint8_t { kNowhere, kHost, kCard };
  std::array<At, kBearers> at{};
  std::array<std::uint32_t, kBearers> next{};  // COUNTs that the host may use
  std::array<std::multiset<std::uint32_t>, kBearers> used;
  unsigned overflows = 0, moves = 0, restarts = 0;
  const auto on_card = [&] { return static_cast<std::size_t>(std::ranges::count(at, At::kCard)); };
  const auto send_all = [&] {
    for (unsigned n = 0; n < kBearers; ++n) (void)card_->send(id(n), 5, used[n]);
  };
  for (int step = 0; step < 600; ++step) {
    const auto n = static_cast<unsigned>(draw() % kBearers), what = static_cast<unsigned>(draw() % 100);
    if (what < 2) {
      overflows += card_->overflows;
      restart_card("run" + std::to_string(++restarts));
    } else if (what == 2) {
      link_.reset();
      make_link();
      std::vector<nic::CardBearer> all;
      for (unsigned each = 0; each < kBearers; ++each) {
        if (at[each] == At::kNowhere) continue;
        all.push_back(at[each] == At::kCard ? of_card(each) : of_host(each));
        all.back().next_count = next[each];
      }
      (void)link_->put(all);
      link_->begin();
      ASSERT_TRUE(up());
    } else if (what < 6) {
      std::vector<BearerId> ids;
      for (unsigned each = n; each < kBearers && ids.size() < 3; ++each) {
        if (at[each] == At::kHost) ids.push_back(BearerId{id(each)});
      }
      const auto run = link_->begin_move(ids);
      ASSERT_EQ(run.has_value(), on_card() + ids.size() <= kRoom || ids.empty());
      if (run) link_->give_up_move(ids);
      for (const BearerId each : ids) ASSERT_TRUE(put({of_host(each.value - kFirst)}));  // waits until the card has it
    } else if (at[n] == At::kNowhere) {
      const bool card = what < 40 && on_card() < kRoom;
      auto wanted = card ? of_card(n) : of_host(n);
      wanted.next_count = next[n];
      const auto done = put({wanted});
      ASSERT_TRUE(done) << done.error().message;
      at[n] = card ? At::kCard : At::kHost;
    } else if (what < 15) {
      send_all();
      const auto numbers = link_->look(std::array{BearerId{id(n)}})[0];
      if (at[n] == At::kCard) next[n] = std::max(next[n], numbers.lease_end);
      remove({BearerId{id(n)}});
      at[n] = At::kNowhere;
    } else if (at[n] == At::kHost) {
      const auto moved = move_here(n, next[n]);
      if (on_card() == kRoom) {
        EXPECT_FALSE(moved);
      } else {
        ASSERT_TRUE(moved) << moved.error().message;
        at[n] = At::kCard;
        ++moves;
      }
    } else {
      const std::array ids{BearerId{id(n)}};
      const auto run = link_->begin_move(ids);
      ASSERT_TRUE(run) << run.error().message;
      CardMover mover = this->mover();
      const auto rows = mover.numbers(ids);
      ASSERT_TRUE(rows);
      next[n] = (*rows)[0].numbers.pdcp_next;
      ASSERT_TRUE(mover.set_leases(std::array{nic::CardLease{ids[0], next[n]}}));
      const auto asked = link_->moved_away(*run, std::array{of_host(n)});
      ASSERT_TRUE(asked && link_->wait_for(*asked));
      at[n] = At::kHost;
      ++moves;
    }
    send_all();
    ASSERT_LE(card_->size(), kRoom);
    for (unsigned each = 0; each < kBearers; ++each) ASSERT_EQ(serves(each), at[each] == At::kCard) << each;
    const CardLinkView view = link_->view();
    ASSERT_EQ(view.waiting, 0U) << "step " << step;
    ASSERT_EQ(view.bearers, kBearers - static_cast<std::size_t>(std::ranges::count(at, At::kNowhere)));
    ASSERT_EQ(view.bearers - view.absent, card_->size());
  }
  EXPECT_EQ(overflows + card_->overflows, 0U);
  EXPECT_EQ(link_->view().refused, 0U);
  EXPECT_GT(moves, 100U);
  EXPECT_GT(restarts, 5U);
  for (const auto& each : used) {
    for (const std::uint32_t count : each) ASSERT_EQ(each.count(count), 1U);
  }
}

}  // namespace
}  // namespace splitplane::app
