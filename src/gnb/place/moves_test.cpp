#include "gnb/place/moves.h"

#include "card/protocol/lease.h"
#include "gnb/place/test_card.h"
#include "placement/card_placement.h"

namespace splitplane::gnb {
namespace {

using ::testing::HasSubstr;
using What = MoveResult::What;

class MovesTest : public test::PlaceTest {
 protected:
  void SetUp() override {
    PlaceTest::SetUp();
    begin(false);
  }
  void TearDown() override {
    moves_.reset();
    PlaceTest::TearDown();
  }
  void begin(bool card_answers, GnbConfig config = test::with_card()) {
    moves_.reset();
    make_with_card(card_answers, std::move(config));
    moves_.emplace(*parts_);
  }
  MoveResult move(BearerId id, const std::string& card) { return moves_->move(std::array{id}, card).front(); }
  [[nodiscard]] std::string refusal(BearerId id, const std::string& card = "card0") {
    const MoveResult result = move(id, card);
    return result.what == What::kRefused ? result.why
                                         : fmt::format("not refused, but {}", static_cast<int>(result.what));
  }
  // The bearer had numbers at the host.
  void set_numbers(BearerId id, std::uint32_t count, std::uint32_t rlc) {
    line(id).pdcp_tx_next = count;
    line(id).rlc_tx_next = rlc;
    line(id).received = 500;
    line(id).bytes = 50'000;
  }
  // What the worker sends next: frames that waited.
  std::size_t taken(BearerId id) {
    std::size_t frames = 0;
    for (datapath::Burst burst; gnb(id).card_moves.next_taken(burst) != 0; frames += burst.size) {
      for (unsigned i = 0; i < burst.size; ++i) rte_pktmbuf_free(burst.mbuf[i]);
    }
    return frames;
  }

  std::optional<Moves> moves_;
};

TEST_F(MovesTest, a_bearer_that_is_not_there_or_is_there_already_does_not_move) {
  EXPECT_EQ(refusal(BearerId{0x04000077}), "there is no such bearer");
  const BearerId host = add_bearer(), card = add_bearer("card0");
  EXPECT_EQ(move(host, "").what, What::kThere);
  EXPECT_EQ(move(card, "card0").what, What::kThere);
  EXPECT_EQ(refusal(card, "card1"), "it is on card card0; allowed: to move it to the host first");
  EXPECT_EQ(moves_->counters().refused, 2U);
  EXPECT_EQ(moves_->counters().failed, 0U);
}

TEST_F(MovesTest, a_rule_that_keeps_a_bearer_on_the_host_refuses_its_move) {
  ran::BearerConfig strict = test::bearer(8);
  strict.require_psc = true;
  const auto added = add(strict, 0);
  ASSERT_TRUE(added);
  EXPECT_EQ(refusal(added->id), "it has require_psc, which a card does not have");
  EXPECT_EQ(refusal(add_bearer(), "card9"), "its worker is not behind a card");
}

TEST_F(MovesTest, a_bearer_of_a_session_with_several_does_not_move) {
  ran::WantedSession session{.config = {}, .shard = 1};
  session.config.bearers.resize(2);
  for (ran::SessionBearer& one : session.config.bearers) one.config = test::bearer(7);
  session.config.bearers[0].drb = session.config.default_drb = ran::sdap::DrbId{1};
  session.config.bearers[1].drb = ran::sdap::DrbId{2};
  session.config.bearers[1].flows = {Qfi{5}};
  const auto added = parts_->bearers.add_session(session);
  ASSERT_TRUE(added) << added.error().message;
  for (const ran::SessionBearer& one : added->session.bearers)
    EXPECT_EQ(refusal(one.config.id), "it is one of several of its session, and these do not move");
}

TEST_F(MovesTest, a_bearer_behind_a_dispatching_worker_does_not_move) {
  begin(false, test::with_dispatcher(test::with_card()));
  EXPECT_EQ(refusal(add_bearer("", 4)), "its worker is behind a dispatching worker, which passes no fence");
}

TEST_F(MovesTest, a_bearer_whose_windows_the_card_would_not_feed_does_not_move) {
  GnbConfig config = test::with_card();
  PortConfig port = config.ports[1];
  port.name = "vfc";
  port.device = "net_null_vfc";
  config.ports.push_back(port);
  config.cards[0].vfs.push_back("vfc");
  config.cards[0].copies = "vfc";
  config.workers[0].baas = WorkerConfig::Baas::kInline;
  begin(false, config);
  EXPECT_EQ(refusal(add_bearer("", 0)), "its card has a port copies, so another worker gets the clones");
}

TEST_F(MovesTest, with_a_card_that_is_away_a_move_fails_and_the_bearer_stays) {
  const BearerId id = add_bearer();
  set_numbers(id, 70, 70);
  const MoveResult result = move(id, "card0");
  EXPECT_EQ(result.what, What::kFailed);
  EXPECT_THAT(result.why, HasSubstr("card card0 is away"));
  EXPECT_EQ(place_of(id), "");
  EXPECT_EQ(line(id).pdcp_tx_next, 70U);
  EXPECT_EQ(moves_->counters().failed, 1U);
}

// Should this host die now, the next one takes the card's word for it.
TEST_F(MovesTest, the_entry_that_waits_for_the_fence_has_an_epoch_that_was_not_used) {
  begin(true);
  const BearerId id = add_bearer();
  ran::set_epoch(line(id), 9);
  std::optional<std::uint8_t> at_fence;
  behind_fence_ = [&](BearerId first) { at_fence = card_->find(first.value)->bearer.epoch; };
  ASSERT_EQ(move(id, "card0").what, What::kMoved);
  EXPECT_EQ(at_fence, 10);
  EXPECT_EQ(card_->find(id.value)->bearer.epoch, 9);
}

TEST_F(MovesTest, a_bearer_moves_to_the_card_with_its_numbers_and_what_waited) {
  begin(true);
  const BearerId id = add_bearer();
  set_numbers(id, 300, 280);
  behind_fence_ = [this](BearerId first) { hold_packet(first, 60); };
  const MoveResult result = move(id, "card0");
  ASSERT_EQ(result.what, What::kMoved) << result.why;
  EXPECT_EQ(result.in_flight, 1U);
  EXPECT_EQ(place_of(id), "card0");
  EXPECT_TRUE(ran::is_on_card(line(id), id.value));
  const auto there = card_->find(id.value);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->bearer.place, nic::Place::kCard);
  EXPECT_EQ(there->numbers.pdcp_next, 300U);
  EXPECT_EQ(there->numbers.rlc_next, 280U);
  EXPECT_GT(there->lease_end, 300U + nic::kLeaseReserve);
  EXPECT_GT(ran::card_credit(line(id)), 0U);
  EXPECT_EQ(moves_->counters().to_card, 1U);
  EXPECT_EQ(moves_->counters().with_packets, 1U);
  EXPECT_EQ(moves_->counters().packets, 1U);
}

TEST_F(MovesTest, the_uplink_of_a_bearer_that_moved_to_the_card_stays_with_the_worker_when_it_is_modified) {
  begin(true);
  const BearerId moved = add_bearer(), placed = add_bearer("card0");
  ASSERT_EQ(move(moved, "card0").what, What::kMoved);
  for (const BearerId id : {moved, placed}) {
    const auto done = parts_->bearers.modify(id, test::patch({{"ul_teid", 7000 + (id == moved ? 1U : 2U)}}));
    ASSERT_TRUE(done) << done.error().message;
  }
  const auto there = card_->find(moved.value), other = card_->find(placed.value);
  EXPECT_EQ(there->bearer.uplink_teid, Teid{7001});
  EXPECT_EQ(there->bearer.peer, app::kStoppedCardPeer) << "what is on its way to the worker would be overtaken";
  EXPECT_EQ(gnb(moved).bearers.uplink_line(moved.value)->uplink_teid, 7001U);
  EXPECT_EQ(other->bearer.peer, 0U);
}

TEST_F(MovesTest, a_bearer_moves_to_the_host_with_the_cards_numbers_and_what_waited) {
  begin(true);
  const BearerId id = add_bearer("card0");
  std::multiset<std::uint32_t> used;
  ASSERT_EQ(card_->send(id.value, 120, used), 120U);
  behind_fence_ = [this, held = false](BearerId first) mutable {
    if (std::exchange(held, true)) return;
    hold_packet(first, 60);
    card_->set_in_flight(first.value, 1);
  };
  const MoveResult result = move(id, "");
  ASSERT_EQ(result.what, What::kMoved) << result.why;
  EXPECT_EQ(result.in_flight, 1U);
  EXPECT_EQ(place_of(id), "");
  EXPECT_EQ(line(id).pdcp_tx_next, 120U);
  EXPECT_EQ(line(id).rlc_tx_next, 120U);
  EXPECT_EQ(line(id).received, 121U) << "what the card served, and what waited";
  EXPECT_EQ(taken(id), 1U);
  EXPECT_TRUE(soon([&] { return card_->find(id.value)->bearer.place == nic::Place::kHost; }));
  EXPECT_EQ(card_->send(id.value, 1, used), 0U);
  EXPECT_EQ(moves_->counters().to_host, 1U);
}

TEST_F(MovesTest, a_bearer_that_moved_there_and_back_goes_on_where_it_was) {
  begin(true);
  const BearerId id = add_bearer();
  set_numbers(id, 300, 300);
  std::multiset<std::uint32_t> used;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(move(id, "card0").what, What::kMoved);
    ASSERT_EQ(card_->send(id.value, 10, used), 10U);
    const MoveResult back = move(id, "");
    ASSERT_EQ(back.what, What::kMoved) << back.why;
    ASSERT_TRUE(soon([&] { return parts_->cards.views().front().waiting == 0; }));
  }
  EXPECT_EQ(line(id).pdcp_tx_next, 330U);
  EXPECT_EQ(line(id).received, 530U);
  for (const std::uint32_t count : used) EXPECT_EQ(used.count(count), 1U);
}

TEST_F(MovesTest, without_a_fence_the_bearer_stays_and_what_waited_goes_on_here) {
  begin(true);
  const BearerId id = add_bearer();
  set_numbers(id, 300, 280);
  fences_come_ = false;
  const MoveResult result = move(id, "card0");
  EXPECT_EQ(result.what, What::kFailed);
  EXPECT_EQ(result.why, "no fence came from the card");
  EXPECT_EQ(place_of(id), "");
  EXPECT_EQ(line(id).pdcp_tx_next, 300U);
  EXPECT_EQ(line(id).received, 500U);
  EXPECT_TRUE(soon([&] { return card_->find(id.value)->bearer.place == nic::Place::kHost; }));
  fences_come_ = true;
  ASSERT_TRUE(soon([&] { return parts_->cards.views().front().waiting == 0; }));
  EXPECT_EQ(move(id, "card0").what, What::kMoved) << "and it may try again";
}

TEST_F(MovesTest, a_card_whose_packets_never_come_back_keeps_the_bearer_and_its_lease) {
  begin(true);
  const BearerId id = add_bearer("card0");
  const std::uint32_t end = card_->find(id.value)->lease_end;
  card_->set_in_flight(id.value, 1);  // a packet that is nowhere
  const MoveResult result = move(id, "");
  EXPECT_EQ(result.what, What::kFailed);
  EXPECT_EQ(result.why, "the card has not numbered all packets that it got back");
  EXPECT_EQ(place_of(id), "card0");
  EXPECT_TRUE(ran::is_on_card(line(id), id.value));
  EXPECT_TRUE(soon([&] { return card_->find(id.value)->lease_end == end; }));
}

// What waited behind the fence goes on at the host in its order, before later packets.
TEST_F(MovesTest, a_move_to_the_card_that_is_given_up_behind_the_fence_gives_back_what_waited) {
  begin(true);
  const BearerId id = add_bearer();
  set_numbers(id, 300, 280);
  const auto pass = card_->on_fence;
  card_->on_fence = [this, id, pass](std::span<const BearerId> ids, std::uint64_t token) {
    line(id).pdcp_tx_next += 2000;  // further than the card was told to begin at least
    pass(ids, token);
  };
  behind_fence_ = [this](BearerId first) {
    for (const unsigned bytes : {60U, 61U, 62U}) hold_packet(first, bytes);
    EXPECT_TRUE(ran::is_on_card(line(first), first.value));
  };
  const MoveResult result = move(id, "card0");
  EXPECT_EQ(result.what, What::kFailed);
  EXPECT_EQ(result.why, "it has used up its lease meanwhile");
  EXPECT_EQ(place_of(id), "");
  EXPECT_FALSE(ran::is_on_card(line(id), id.value));
  EXPECT_EQ(line(id).pdcp_tx_next, 2300U);
  EXPECT_EQ(line(id).rlc_tx_next, 280U);
  EXPECT_EQ(line(id).received, 500U) << "hold_packet() counts none";
  EXPECT_EQ(gnb(id).card_returns.held(id), 0U);
  datapath::Burst burst;
  ASSERT_EQ(gnb(id).card_moves.next_taken(burst), 3U);
  for (unsigned i = 0; i < burst.size; ++i) {
    EXPECT_EQ(burst.mbuf[i]->data_len, datapath::kReturnedHeaderBytes + 60 + i);
    rte_pktmbuf_free(burst.mbuf[i]);
  }
  EXPECT_TRUE(soon([&] { return card_->find(id.value)->bearer.place == nic::Place::kHost; }));
  card_->on_fence = pass;
  behind_fence_ = nullptr;
  ASSERT_TRUE(soon([&] { return parts_->cards.views().front().waiting == 0; }));
  EXPECT_EQ(move(id, "card0").what, What::kMoved) << "and it may try again";
  EXPECT_EQ(card_->find(id.value)->numbers.pdcp_next, 2300U);
}

TEST_F(MovesTest, a_worker_that_falls_silent_on_the_way_to_the_card_hears_later_that_the_bearer_stays) {
  begin(true);
  const BearerId id = add_bearer();
  set_numbers(id, 300, 280);
  std::optional<test::Hanging> hanging;
  behind_fence_ = [&](BearerId first) {
    hold_packet(first, 60);
    hanging.emplace(*parts_->workers.owner_of(first.value));
  };
  const MoveResult result = move(id, "card0");
  EXPECT_EQ(result.what, What::kFailed);
  EXPECT_EQ(place_of(id), "");
  EXPECT_TRUE(ran::is_on_card(line(id), id.value)) << "it has not heard of it";
  behind_fence_ = nullptr;
  EXPECT_EQ(move(id, "card0").why, "worker w0 does not answer");
  EXPECT_TRUE(soon([&] { return card_->find(id.value)->bearer.place == nic::Place::kHost; }));
  moves_->catch_up();
  EXPECT_TRUE(ran::is_on_card(line(id), id.value)) << "it is silent still";
  hanging.reset();
  moves_->catch_up();
  EXPECT_FALSE(ran::is_on_card(line(id), id.value));
  EXPECT_EQ(line(id).pdcp_tx_next, 300U);
  EXPECT_EQ(taken(id), 1U);
  ASSERT_TRUE(soon([&] { return parts_->cards.views().front().waiting == 0; }));
  EXPECT_EQ(move(id, "card0").what, What::kMoved);
}

TEST_F(MovesTest, a_worker_that_falls_silent_on_the_way_to_the_host_gives_back_to_the_card_later) {
  begin(true);
  const BearerId id = add_bearer("card0");
  const std::uint32_t end = card_->find(id.value)->lease_end;
  std::optional<test::Hanging> hanging;
  behind_fence_ = [&](BearerId first) {
    if (hanging) return;
    hold_packet(first, 60);
    hanging.emplace(*parts_->workers.owner_of(first.value));
  };
  const MoveResult result = move(id, "");
  EXPECT_EQ(result.what, What::kFailed);
  EXPECT_EQ(result.why, "no fence came from the card");
  EXPECT_EQ(place_of(id), "card0");
  EXPECT_TRUE(soon([&] { return card_->find(id.value)->lease_end == end; })) << "the card may send again";
  hanging.reset();
  moves_->catch_up();
  EXPECT_TRUE(ran::is_on_card(line(id), id.value));
  EXPECT_EQ(gnb(id).card_returns.held(id), 1U) << "until the card grants credit for it";
  std::multiset<std::uint32_t> used;
  EXPECT_EQ(card_->send(id.value, 10, used), 10U);
  behind_fence_ = nullptr;
  card_->set_in_flight(id.value, 1);
  const MoveResult again = move(id, "");
  ASSERT_EQ(again.what, What::kMoved) << again.why;
  EXPECT_EQ(again.in_flight, 1U);
  EXPECT_EQ(line(id).pdcp_tx_next, 10U);
}

// It may have begun or not: so it begins once more, with COUNTs that it cannot have used.
TEST_F(MovesTest, a_card_that_does_not_say_that_it_begins_begins_anew_behind_the_lease) {
  begin(true);
  const BearerId id = add_bearer();
  set_numbers(id, 300, 280);
  const std::uint8_t epoch = card_->find(id.value)->bearer.epoch;
  behind_fence_ = [this](BearerId first) { hold_packet(first, 60); };
  card_->slow_begins = 1;
  std::multiset<std::uint32_t> used;
  const MoveResult result = move(id, "card0");
  EXPECT_EQ(result.what, What::kMoved) << result.why;
  EXPECT_EQ(place_of(id), "card0");
  EXPECT_TRUE(ran::is_on_card(line(id), id.value));
  ASSERT_TRUE(soon([&] { return card_->find(id.value) && card_->find(id.value)->bearer.epoch != epoch; }));
  // The entry that waits is put before it begins.
  ASSERT_TRUE(soon([&] { return parts_->cards.views().front().waiting == 0; }));
  const auto there = card_->find(id.value);
  EXPECT_EQ(there->numbers.rlc_next, 0U);
  EXPECT_GE(there->numbers.pdcp_next, 300 + app::lease_length(there->bearer.pdcp_sn_bits, 0));
  EXPECT_EQ(gnb(id).card_returns.held(id), 1U) << "what waited waits for credit";
  EXPECT_GT(card_->send(id.value, 10, used), 0U);
}

TEST_F(MovesTest, a_card_that_refuses_to_begin_begins_anew_behind_the_lease) {
  begin(true);
  const BearerId id = add_bearer();
  set_numbers(id, 300, 280);
  const std::uint8_t epoch = card_->find(id.value)->bearer.epoch;
  behind_fence_ = [this](BearerId first) { hold_packet(first, 60); };
  card_->refused_begins = 1;
  std::multiset<std::uint32_t> used;
  const MoveResult result = move(id, "card0");
  EXPECT_EQ(result.what, What::kMoved) << result.why;
  EXPECT_EQ(card_->refused_begins, 0);
  EXPECT_EQ(place_of(id), "card0");
  EXPECT_TRUE(ran::is_on_card(line(id), id.value));
  EXPECT_TRUE(soon([&] { return card_->find(id.value) && card_->find(id.value)->bearer.epoch != epoch; }));
  ASSERT_TRUE(soon([&] { return parts_->cards.views().front().waiting == 0; }));
  const auto there = card_->find(id.value);
  EXPECT_EQ(there->bearer.place, nic::Place::kCard);
  EXPECT_EQ(there->numbers.rlc_next, 0U);
  EXPECT_GE(there->numbers.pdcp_next, 300 + app::lease_length(there->bearer.pdcp_sn_bits, 0));
  EXPECT_EQ(gnb(id).card_returns.held(id), 1U) << "what waited waits for credit";
  EXPECT_GT(card_->send(id.value, 10, used), 0U);
}

// The card has given the bearer up by then, so it begins anew there, behind the lease that was the host's for a moment.
TEST_F(MovesTest, a_worker_that_falls_silent_when_a_bearer_arrives_leaves_it_to_the_card) {
  begin(true);
  const BearerId id = add_bearer("card0");
  std::multiset<std::uint32_t> used;
  ASSERT_EQ(card_->send(id.value, 120, used), 120U);
  const auto before = *card_->find(id.value);
  std::optional<test::Hanging> hanging;
  std::thread between;
  std::atomic<bool> has_lock{false};
  behind_fence_ = [&](BearerId first) {
    if (between.joinable()) return;
    hold_packet(first, 60);
    card_->set_in_flight(first.value, 1);
    // The move needs the mutex before the worker hears that the bearer arrives.
    between = std::thread([&] {
      const Locked locked = parts_->control.lock();
      has_lock = true;
      EXPECT_TRUE(soon([&] { return card_->find(id.value)->bearer.place == nic::Place::kHost; })) << "the link told it";
      hanging.emplace(*parts_->workers.owner_of(id.value));
    });
    while (!has_lock) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const MoveResult result = move(id, "");
  ASSERT_TRUE(between.joinable());
  between.join();
  EXPECT_EQ(result.what, What::kFailed);
  EXPECT_EQ(result.why, "worker w0 does not answer");
  EXPECT_EQ(place_of(id), "card0");
  EXPECT_EQ(moves_->counters().failed, 1U);
  EXPECT_TRUE(soon([&] {
    const auto there = card_->find(id.value);
    return there && there->bearer.place == nic::Place::kCard && there->bearer.epoch != before.bearer.epoch;
  }));
  behind_fence_ = nullptr;
  hanging.reset();
  moves_->catch_up();
  EXPECT_TRUE(ran::is_on_card(line(id), id.value));
  EXPECT_EQ(gnb(id).card_returns.held(id), 1U) << "until the card grants credit for it";
  ASSERT_TRUE(soon([&] { return parts_->cards.views().front().waiting == 0; }));
  EXPECT_GE(card_->find(id.value)->numbers.pdcp_next, before.lease_end) << "no COUNT of the lease before";
  EXPECT_EQ(card_->find(id.value)->numbers.rlc_next, 0U);
  EXPECT_GT(card_->send(id.value, 10, used), 0U);
  for (const std::uint32_t count : used) EXPECT_EQ(used.count(count), 1U);
  card_->set_in_flight(id.value, 1);
  const MoveResult again = move(id, "");
  EXPECT_EQ(again.what, What::kMoved) << again.why;
  EXPECT_EQ(again.in_flight, 1U);
}

class FullCardTest : public MovesTest {
 protected:
  static constexpr std::size_t kRoom = 4;

  void SetUp() override {
    MovesTest::SetUp();
    GnbConfig config = test::with_card();
    config.workers.pop_back();  // so that the punts come to the one worker
    room_ = kRoom;
    begin(true, config);
    for (unsigned i = 0; i < 10; ++i) ids_.push_back(add_bearer("", i % 4));
    ASSERT_EQ(view().absent, ids_.size() - kRoom);
  }
  [[nodiscard]] CardLinkView view() const { return parts_->cards.views().front(); }
  [[nodiscard]] bool has_entry(BearerId id, nic::Place place) const {
    const auto found = card_->find(id.value);
    return found && found->bearer.place == place;
  }

  std::vector<BearerId> ids_;
};

TEST_F(FullCardTest, a_bearer_without_an_entry_moves_there_and_back_with_its_numbers) {
  const BearerId id = ids_.back();
  ASSERT_FALSE(card_->find(id.value));
  set_numbers(id, 300, 280);
  behind_fence_ = [this](BearerId first) { hold_packet(first, 60); };
  const MoveResult result = move(id, "card0");
  ASSERT_EQ(result.what, What::kMoved) << result.why;
  behind_fence_ = {};
  EXPECT_EQ(result.in_flight, 1U);
  EXPECT_TRUE(has_entry(id, nic::Place::kCard));
  EXPECT_EQ(card_->find(id.value)->numbers.pdcp_next, 300U);
  std::multiset<std::uint32_t> used;
  ASSERT_EQ(card_->send(id.value, 10, used), 10U);
  const MoveResult back = move(id, "");
  ASSERT_EQ(back.what, What::kMoved) << back.why;
  EXPECT_EQ(line(id).pdcp_tx_next, 310U);
  EXPECT_EQ(view().absent, ids_.size() - kRoom);
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(FullCardTest, as_many_bearers_move_there_together_as_it_has_entries) {
  const auto some = std::span(ids_).last(kRoom);
  for (const MoveResult& result : moves_->move(some, "card0")) EXPECT_EQ(result.what, What::kMoved) << result.why;
  for (const BearerId id : some) EXPECT_TRUE(has_entry(id, nic::Place::kCard));
  EXPECT_EQ(view().absent, ids_.size() - kRoom);
  const MoveResult more = move(ids_.front(), "card0");
  EXPECT_EQ(more.what, What::kFailed);
  EXPECT_THAT(more.why, HasSubstr("card card0 is full"));
  ASSERT_EQ(move(ids_.back(), "").what, What::kMoved);
  EXPECT_EQ(move(ids_.front(), "card0").what, What::kMoved);
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(FullCardTest, a_move_without_a_fence_leaves_a_bearer_without_an_entry_to_the_host) {
  const BearerId id = ids_.back();
  set_numbers(id, 300, 280);
  fences_come_ = false;
  EXPECT_EQ(move(id, "card0").what, What::kFailed);
  EXPECT_EQ(place_of(id), "");
  EXPECT_EQ(line(id).pdcp_tx_next, 300U);
  EXPECT_TRUE(soon([&] { return has_entry(id, nic::Place::kHost); })) << "as the way to its worker";
  fences_come_ = true;
  ASSERT_TRUE(soon([&] { return view().waiting == 0; }));
  EXPECT_EQ(move(id, "card0").what, What::kMoved);
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(FullCardTest, a_bearer_without_an_entry_may_be_released_right_after_its_move_failed) {
  for (const bool fenced : {false, true}) {
    const BearerId id = ids_.back();
    ids_.pop_back();
    ASSERT_FALSE(card_->find(id.value));
    fences_come_ = fenced;
    const auto pass = card_->on_fence;
    if (fenced) {
      card_->on_fence = [this, id, pass](std::span<const BearerId> ids, std::uint64_t token) {
        line(id).pdcp_tx_next += 2000;  // further than the card was told to begin at least
        pass(ids, token);
      };
    }
    EXPECT_EQ(move(id, "card0").what, What::kFailed);
    release(id);
    card_->on_fence = pass;
    ASSERT_TRUE(soon([&] { return view().waiting == 0; }));
    EXPECT_FALSE(card_->find(id.value));
    EXPECT_EQ(view().bearers, ids_.size());
    EXPECT_EQ(view().bearers - view().absent, card_->size());
    EXPECT_EQ(view().failures, 0U);
    EXPECT_EQ(view().connects, 1U);
  }
  fences_come_ = true;
  // The entry that was made free for it is another one's now, or stays free for the next move.
  EXPECT_EQ(move(ids_.back(), "card0").what, What::kMoved);
  EXPECT_TRUE(has_entry(ids_.back(), nic::Place::kCard));
  EXPECT_EQ(card_->overflows, 0U);
}

TEST_F(FullCardTest, bearers_without_an_entry_are_released_without_asking_the_card) {
  const BearerId id = ids_.back();
  const auto removed = view().removed;
  release(id);
  EXPECT_EQ(view().removed, removed);
  EXPECT_EQ(view().failures, 0U);
  EXPECT_EQ(view().absent, ids_.size() - 1 - kRoom);
}

TEST_F(MovesTest, many_bearers_move_in_batches_in_any_order_and_each_has_its_result) {
  begin(true);
  std::vector<BearerId> ids;
  for (const unsigned shard : {5U, 0U, 4U, 1U}) ids.push_back(add_bearer("", shard));
  ids.push_back(BearerId{0x04000077});
  ids.push_back(add_bearer("card0", 2));
  const auto results = moves_->move(ids, "card0");
  ASSERT_EQ(results.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(results[i].id, ids[i]);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i].what, What::kMoved) << results[i].why;
  EXPECT_EQ(results[4].what, What::kRefused);
  EXPECT_EQ(results[5].what, What::kThere);
}

TEST_F(MovesTest, a_bearer_that_is_named_twice_moves_once) {
  begin(true);
  const BearerId id = add_bearer();
  const auto results = moves_->move(std::array{id, id}, "card0");
  EXPECT_EQ(results[0].what, What::kMoved) << results[0].why;
  EXPECT_EQ(results[1].what, What::kThere) << results[1].why;
  EXPECT_EQ(place_of(id), "card0");
}

}  // namespace
}  // namespace splitplane::gnb
