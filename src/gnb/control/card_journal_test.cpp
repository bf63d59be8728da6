// A card's leases and the journal of bearers together, as `splitplane run` has them.
#include <gtest/gtest.h>

#include <atomic>

#include "card/link/test_fixture.h"
#include "gnb/journal/bearer_journal.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

// A link that puts its leases into a journal on a disk, as gnb::Numbers::for_cards() does.
class CardLinkJournal : public CardLinkTest {
 protected:
  void open_journal() {
    auto journal = BearerJournal::open({.path = directory_ + "/test.journal", .owner = {"test", 1}}, false);
    ASSERT_TRUE(journal) << journal.error().message;
    journal_ = *std::move(journal);
  }
  void begin_with_journal() {
    open_journal();
    JournalBearer known;
    known.config.id = BearerId{kFirst};
    known.config.uplink_teid = Teid{0x1001};
    known.config.upf = IpAddress::v4({10, 100, 0, 2});
    journal_->set(known);
    ASSERT_TRUE(journal_->begin([](std::span<const BearerJournal::Grant>) {}));
    lease_journal_ = [this](std::span<const CardNumbering> numberings) {
      for (const CardNumbering& n : numberings)
        journal_->set_numbers(n.id, {.end = n.lease_end, .heard = n.heard, .epoch = n.epoch});
      ++settles_;
      return journal_->wait_for_disk();
    };
    start_card("a");
    start_link();
    ASSERT_TRUE(up());
    ASSERT_TRUE(put({bearer(kFirst)}));
  }
  void send_more_than_a_lease() {
    for (int i = 0; i < 20; ++i) {
      use_up(kFirst);
      std::this_thread::sleep_for(5ms);
    }
  }
  std::unique_ptr<BearerJournal> journal_;
  std::atomic<unsigned> settles_{0};
};

TEST_F(CardLinkJournal, a_card_gets_no_lease_that_is_not_on_the_disk_while_the_host_stops) {
  begin_with_journal();
  journal_->stop();
  ASSERT_TRUE(journal_->finish({}));
  send_more_than_a_lease();
  link_.reset();
  journal_.reset();
  open_journal();
  EXPECT_LE(card_->find(kFirst)->lease_end, journal_->found().bearers.at(kFirst).numbers.end);
}

TEST_F(CardLinkJournal, a_link_that_has_ended_asks_nothing_more_of_its_card) {
  begin_with_journal();
  link_->end();
  const unsigned before = settles_;
  const std::uint32_t lease_end = card_->find(kFirst)->lease_end;
  send_more_than_a_lease();
  EXPECT_EQ(settles_, before);
  EXPECT_EQ(card_->find(kFirst)->lease_end, lease_end);
  EXPECT_TRUE(put({bearer(kFirst), bearer(kSecond)})) << "nobody waits";
  EXPECT_FALSE(card_->find(kSecond));
}

}  // namespace
}  // namespace splitplane::app
