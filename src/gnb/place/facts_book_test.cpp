#include "gnb/place/facts_book.h"

#include "gnb/place/test_card.h"

namespace splitplane::gnb {
namespace {

using namespace std::chrono_literals;
using placement::HostOnly;
using placement::Pin;
using placement::Place;

class FactsBookTest : public test::PlaceTest {
 protected:
  void SetUp() override {
    PlaceTest::SetUp();
    begin(false);
  }
  void TearDown() override {
    book_.reset();
    PlaceTest::TearDown();
  }
  void begin(bool card_answers, GnbConfig config = test::with_card()) {
    book_.reset();
    make_with_card(card_answers, std::move(config));
    book_.emplace(*parts_);
  }
  void update(placement::Time now = 1s) {
    book_->begin(now);
    while (book_->look_further(parts_->control.lock())) {
    }
    book_->end(false);
  }
  [[nodiscard]] const placement::BearerFacts& facts(BearerId id) {
    return book_->facts().bearers.at(book_->slot_of(id).value());
  }

  std::optional<FactsBook> book_;
};

TEST_F(FactsBookTest, a_bearer_keeps_its_slot_and_a_new_one_gets_a_free_one) {
  const BearerId first = add_bearer(), second = add_bearer();
  update();
  const auto slot = book_->slot_of(first), other = book_->slot_of(second);
  ASSERT_TRUE(slot && other);
  EXPECT_NE(*slot, *other);
  release(first);
  update();
  EXPECT_FALSE(book_->slot_of(first));
  EXPECT_FALSE(book_->facts().bearers[*slot].lives());
  EXPECT_EQ(book_->slot_of(second), other);
  const BearerId third = add_bearer();
  update();
  EXPECT_EQ(book_->slot_of(third), slot);
  EXPECT_EQ(book_->facts().bearers.size(), 2U);
}

TEST_F(FactsBookTest, a_pin_is_what_the_file_or_ctl_says_now) {
  GnbConfig config = test::with_card();
  config.pins = {{.on = "card0", .upf = test::kUpf, .ul_teid = Teid{101}}};
  begin(false, config);
  const BearerId id = add_bearer(), other = add_bearer();  // their uplink TEIDs are 101 and 102
  update();
  EXPECT_EQ(facts(id).pin, Pin::kCard);
  EXPECT_EQ(facts(id).pin_card, 0);
  EXPECT_EQ(facts(other).pin, Pin::kNone);
  parts_->pins.pin(id, "host");
  update();
  EXPECT_EQ(facts(id).pin, Pin::kHost);
  ASSERT_TRUE(parts_->pins.unpin(id, {test::kUpf, Teid{101}}));
  update();
  EXPECT_EQ(facts(id).pin, Pin::kNone);
}

TEST_F(FactsBookTest, a_bearer_of_the_host_has_the_totals_of_its_lines) {
  const BearerId id = add_bearer();
  line(id).received = 10;
  line(id).bytes = 1000;
  gnb(id).bearers.uplink_line(id.value)->received = 5;
  gnb(id).bearers.uplink_line(id.value)->bytes = 300;
  update();
  EXPECT_EQ(facts(id).packets, 15U);
  EXPECT_EQ(facts(id).octets, 1300U);
  EXPECT_EQ(facts(id).place, Place::worker(0));
  EXPECT_EQ(facts(id).host_only, HostOnly::none);
}

TEST_F(FactsBookTest, a_bearer_on_a_card_has_what_the_card_served_and_what_came_up_here) {
  begin(true);
  const BearerId id = add_bearer("card0");
  std::multiset<std::uint32_t> used;
  ASSERT_EQ(card_->send(id.value, 40, used), 40U);
  gnb(id).bearers.uplink_line(id.value)->received = 5;
  EXPECT_TRUE(soon([&] {
    update();
    return facts(id).packets == 45;
  }));
  EXPECT_EQ(facts(id).place, Place::card(0));
  EXPECT_FALSE(facts(id).moving());
}

TEST_F(FactsBookTest, where_a_move_ended_is_known_until_the_next_look_and_when_for_good) {
  const BearerId id = add_bearer();
  update();
  EXPECT_EQ(facts(id).moved, placement::kNever);
  book_->moved(*book_->slot_of(id), Place::card(0), 7s);
  EXPECT_EQ(facts(id).place, Place::card(0));
  EXPECT_EQ(facts(id).moved, placement::Time(7s));
  update(8s);
  EXPECT_EQ(facts(id).place, Place::worker(0)) << "the store says so";
  EXPECT_EQ(facts(id).moved, placement::Time(7s));
}

TEST_F(FactsBookTest, cards_and_workers_are_those_of_the_instance) {
  update();
  ASSERT_EQ(book_->facts().cards.size(), 1U);
  EXPECT_FALSE(book_->facts().cards[0].up);
  ASSERT_EQ(book_->facts().workers.size(), 2U);
  EXPECT_EQ(book_->facts().workers[1].cards, 1U);
  EXPECT_EQ(book_->facts().shards[5].worker, 1U);
  EXPECT_EQ(book_->card_number("card0"), 0);
  EXPECT_FALSE(book_->card_number("host"));
  begin(true);
  update();
  EXPECT_TRUE(book_->facts().cards[0].up);
}

TEST_F(FactsBookTest, a_card_takes_part_once_it_has_had_all_that_it_shall_have) {
  begin(true);
  nic::CardBearer waits;  // for ever, because the card refuses it
  waits.id = BearerId{0x04123456};
  card_->refuse(waits.id.value);
  const auto put = [&] {
    parts_->cards.link_before(parts_->worker(0), "card0")->put_soon(waits);
    EXPECT_TRUE(soon([&] { return parts_->cards.views().front().waiting == 1; }));
  };
  put();
  update(1s);
  EXPECT_FALSE(book_->facts().cards[0].up);
  update(10'999ms);
  EXPECT_FALSE(book_->facts().cards[0].up);
  update(11s);
  EXPECT_TRUE(book_->facts().cards[0].up) << "it keeps no other from moving";
  begin(true);
  update(1s);
  put();
  update(2s);
  EXPECT_TRUE(book_->facts().cards[0].up) << "what waits later is no reason";
}

TEST_F(FactsBookTest, what_keeps_a_bearer_on_the_host_is_known) {
  begin(false, test::with_dispatcher(test::with_card()));
  const BearerId free = add_bearer("", 0), behind = add_bearer("", 4);
  ran::BearerConfig strict = test::bearer(8);
  strict.require_psc = true;
  const auto added = add(strict, 0);
  ASSERT_TRUE(added);
  update();
  EXPECT_EQ(facts(free).host_only, HostOnly::none);
  EXPECT_EQ(facts(behind).host_only, HostOnly::dispatched);
  EXPECT_EQ(facts(added->id).host_only, HostOnly::require_psc);
}

TEST_F(FactsBookTest, bearers_come_and_go_between_the_pieces_of_a_look) {
  GnbConfig config = test::with_card();
  config.max_bearers = 64 * ran::kShards;
  config.workers[0].shard_first = 0;
  config.workers[0].shard_last = config.workers[1].shard_first = 127;
  ++config.workers[1].shard_first;
  config.workers[1].shard_last = 255;
  ran::BearerGroup group;
  group.count = 2 * FactsBook::kPiece + 10;
  group.first = test::bearer(1000);
  config.bearers.push_back(group);
  begin(false, config);
  const auto all = parts_->store.after(0, parts_->store.size());
  const BearerId early = all[5].id, late = all[FactsBook::kPiece + 5].id;
  book_->begin(1s);
  ASSERT_TRUE(book_->look_further(parts_->control.lock()));
  EXPECT_TRUE(book_->slot_of(early));
  EXPECT_FALSE(book_->slot_of(late));
  release(early);
  release(late);
  const BearerId added = add_bearer("", 255);
  EXPECT_TRUE(book_->look_further(parts_->control.lock()));
  EXPECT_FALSE(book_->look_further(parts_->control.lock()));
  book_->end(false);
  EXPECT_FALSE(book_->slot_of(late));
  EXPECT_TRUE(book_->slot_of(added)) << "it came before its place in the order was reached";
  const auto living = [&] { return std::ranges::count_if(book_->facts().bearers, &placement::BearerFacts::lives); };
  EXPECT_EQ(living(), group.count) << "one is gone, and was seen before";
  update(2s);
  EXPECT_FALSE(book_->slot_of(early));
  EXPECT_EQ(living(), group.count - 1);
}

TEST_F(FactsBookTest, one_bearer_is_looked_at_alone) {
  const BearerId first = add_bearer();
  update();
  const BearerId second = add_bearer();
  book_->begin_look_at_some(2s);
  EXPECT_TRUE(book_->look_at(parts_->control.lock(), second));
  EXPECT_EQ(facts(second).id, second);
  EXPECT_TRUE(book_->slot_of(first));
  EXPECT_FALSE(book_->look_at(parts_->control.lock(), BearerId{0x04000077}));
  update(3s);
  EXPECT_TRUE(book_->slot_of(second));
}

}  // namespace
}  // namespace splitplane::gnb
