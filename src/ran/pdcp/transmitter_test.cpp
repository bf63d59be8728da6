#include "ran/pdcp/transmitter.h"

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

Config discarding(unsigned sn_bits, Time discard_timer) {
  Config config = config_of(sn_bits);
  config.discard_timer = discard_timer;
  config.t_reordering = 5;
  return config;
}

TEST(PdcpTransmitter, what_was_discarded_stays_in_flight_so_the_peer_keeps_its_hfn) {
  Home home;
  const Keys keys = home.keys(1);
  Pair pair(home, discarding(12, 10), keys.security());
  Time now = 0;
  for (; now < 2500; ++now) {  // RLC stalls: each SDU is discarded
    pair.gnb.entity.advance(now, pair.gnb);
    static_cast<void>(pair.gnb.send(pattern(20), now));
  }
  EXPECT_EQ(pair.gnb.entity.tx().tx_next(), window_size(12));
  EXPECT_EQ(pair.gnb.discards.size(), window_size(12) - 1) << "the last one stays with RLC";
  EXPECT_EQ(pair.gnb.entity.next_deadline(), kNever);
  EXPECT_EQ(pair.gnb.entity.tx().counters()[TxOutcome::window_full], 2500 - window_size(12));
  // The link is back, and RLC delivers what it has.
  const std::uint32_t last = window_size(12) - 1;
  ASSERT_EQ(pair.ue.receive(pair.gnb.pdus[last], now), RxOutcome::accepted);
  pair.gnb.entity.tx().confirm(Count{last});
  now += 5;
  pair.ue.entity.advance(now, pair.ue);
  for (unsigned i = 0; i < 5000; ++i, ++now) {
    pair.gnb.entity.advance(now, pair.gnb);
    ASSERT_EQ(pair.gnb.send(pattern(20), now), TxOutcome::sent);
    const std::uint32_t count = pair.gnb.entity.tx().tx_next() - 1;
    ASSERT_EQ(pair.ue.receive(pair.gnb.pdus[count], now), RxOutcome::accepted);
    pair.gnb.entity.tx().confirm(Count{count});
  }
  EXPECT_EQ(pair.ue.delivered.size(), 5001U);
}

TEST(PdcpTransmitter, a_confirmation_after_the_discard_opens_the_window) {
  Home home;
  const Keys keys = home.keys(1);
  Config config = discarding(12, 10);
  config.max_in_flight = 4;
  Side side(home, config, keys.security());
  for (unsigned i = 0; i < 4; ++i) ASSERT_EQ(side.send({1}, i), TxOutcome::sent);
  side.entity.advance(100, side);
  EXPECT_EQ(side.discards, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(side.send({1}, 100), TxOutcome::window_full);
  side.entity.tx().confirm(Count{kLastCount - 1});  // no such COUNT was sent
  EXPECT_EQ(side.send({1}, 100), TxOutcome::window_full);
  side.entity.tx().confirm(Count{1});
  EXPECT_EQ(side.entity.next_deadline(), 13U);
  side.entity.advance(100, side);
  EXPECT_EQ(side.discards.back(), 3U);
  EXPECT_EQ(side.send({1}, 100), TxOutcome::sent);
  EXPECT_EQ(side.send({1}, 100), TxOutcome::sent);
  EXPECT_EQ(side.send({1}, 100), TxOutcome::window_full);
  side.entity.tx().receive_status_report({Count{4}, {}}, side);
  EXPECT_EQ(side.send({1}, 100), TxOutcome::sent);
  EXPECT_EQ(side.send({1}, 100), TxOutcome::sent);
  EXPECT_EQ(side.send({1}, 100), TxOutcome::window_full);
}

TEST(PdcpTransmitter, tells_rrc_once_until_count_begins_anew) {
  Home home;
  std::vector<Keys> keys;
  for (std::uint8_t i = 1; i < 6; ++i) keys.push_back(home.keys(i));
  Config config = config_of(18);
  config.count_threshold = 3;
  Side side(home, config, keys[0].security());
  for (unsigned i = 0; i < 4; ++i) side.send({1});
  for (unsigned i = 1; i < 4; ++i) {
    ASSERT_EQ(side.entity.reestablish(keys[i].security(), side), Refusal::kNone);
    while (side.entity.tx().sending_again()) side.send_again();
    side.send({1});
  }
  EXPECT_EQ(side.tx_keys_needed, 1) << "COUNT goes on, so a new key changes nothing";
  ASSERT_EQ(side.entity.suspend(side), Refusal::kNone);
  ASSERT_EQ(side.entity.reestablish(keys[4].security(), side), Refusal::kNone);
  while (side.entity.tx().sending_again()) side.send_again(1);
  EXPECT_EQ(side.tx_keys_needed, 2);
}

TEST(PdcpTransmitter, resuming_keeps_stored_sdus_while_memory_is_short) {
  for (const bool by_pages : {true, false}) {
    Home home({.directories = by_pages ? 64U : 4U, .sent_pages = by_pages ? 20U : 64U});
    const Keys old = home.keys(1), fresh = home.keys(2);
    Side side(home, config_of(18), old.security());
    for (unsigned i = 0; i < 300; ++i) ASSERT_EQ(side.send(pattern(9, i)), TxOutcome::sent);
    std::vector<std::unique_ptr<Side>> others;  // take all that is left
    for (int i = 0; i < 20; ++i) {
      others.push_back(std::make_unique<Side>(home, config_of(18), old.security()));
      while (others.back()->send({1}) == TxOutcome::sent) continue;
    }
    ASSERT_EQ(side.entity.suspend(side), Refusal::kNone);
    ASSERT_EQ(side.entity.reestablish(fresh.security(), side), Refusal::kNone);
    side.sent.clear();
    for (int i = 0; i < 100; ++i) side.send_again(32);
    if (!by_pages) {  // without a second directory it has to wait
      ASSERT_TRUE(side.sent.empty());
      ASSERT_TRUE(side.entity.tx().needs_retired_keys());
      others.clear();
    }
    while (side.entity.tx().sending_again()) ASSERT_GT(side.send_again(32), 0U);
    EXPECT_EQ(side.sent.size(), 300U);
    EXPECT_EQ(side.entity.tx().counters()[TxOutcome::no_memory], 0U);
  }
}

TEST(PdcpTransmitter, waiting_sdus_wait_for_credit_and_buffers) {
  Home home;
  const Keys old = home.keys(1), fresh = home.keys(2);
  Side side(home, config_of(18), old.security());
  ASSERT_EQ(side.entity.suspend(side), Refusal::kNone);
  for (unsigned i = 0; i < 20; ++i) ASSERT_EQ(side.send(home.tight.make(pattern(9, i))), TxOutcome::waiting);
  ASSERT_EQ(side.entity.reestablish(fresh.security(), side), Refusal::kNone);
  side.entity.tx().set_credit({});
  std::vector<TxItem<Buffer>> items(5);
  EXPECT_EQ(home.tx_burst.send_again(side.entity.tx(), items, side, home.maker()), 0U);
  EXPECT_FALSE(items[0].buffer) << "the SDU is still in the queue";
  EXPECT_EQ(side.entity.tx().waiting(), 20U);
  EXPECT_TRUE(side.entity.tx().sending_again());
  side.entity.tx().set_credit({3, 20});
  EXPECT_EQ(side.send_again(), 2U) << "as many octets";
  side.entity.tx().set_credit({100, 1000});
  home.buffers_left = 1;
  EXPECT_EQ(side.send_again(), 1U);
  home.buffers_left = 100;
  while (side.entity.tx().sending_again()) ASSERT_GT(side.send_again(), 0U);
  EXPECT_EQ(side.sent.size(), 20U);
  EXPECT_EQ(side.entity.tx().counters()[TxOutcome::no_credit], 0U);
  EXPECT_EQ(side.entity.tx().counters()[TxOutcome::no_memory], 0U);
}

TEST(PdcpTransmitter, sending_again_needs_credit_as_well) {
  for (const bool suspends : {false, true}) {
    Home home;
    const Keys old = home.keys(1), fresh = home.keys(2);
    Side side(home, config_of(18), old.security());
    for (unsigned i = 0; i < 10; ++i) side.send(pattern(20, i));
    if (suspends) {
      ASSERT_EQ(side.entity.suspend(side), Refusal::kNone);
    }
    ASSERT_EQ(side.entity.reestablish(fresh.security(), side), Refusal::kNone);
    side.entity.tx().set_credit({3, 1000});
    EXPECT_EQ(side.send_again(32), 3U);
    EXPECT_EQ(side.send_again(32), 0U);
    side.entity.tx().set_credit({10, 40});
    EXPECT_EQ(side.send_again(32), 2U);
    side.entity.tx().set_credit({10, 1000});
    EXPECT_EQ(side.send_again(32), 5U);
    EXPECT_FALSE(side.entity.tx().sending_again());
    EXPECT_EQ(side.send(pattern(20)), TxOutcome::sent);
  }
}

TEST(PdcpTransmitter, sends_again_in_a_buffer_that_rlc_has_released) {
  for (const bool integrity_ends : {false, true}) {
    Home home;
    const Keys old = home.keys(1), fresh = home.keys(2);
    Pair pair(home, config_of(12), old.security());
    for (unsigned i = 0; i < 5; ++i) pair.gnb.send(pattern(30, i));
    Security next = fresh.security();
    if (integrity_ends) next.integrity = nullptr;
    ASSERT_EQ(pair.gnb.entity.reestablish(next, pair.gnb), Refusal::kNone);
    ASSERT_EQ(pair.ue.entity.reestablish(next, pair.ue), Refusal::kNone);
    home.made = home.buffers_left = 0;
    while (pair.gnb.entity.tx().sending_again()) ASSERT_GT(pair.gnb.send_again(9), 0U);
    EXPECT_EQ(home.made, 0);
    home.buffers_left = 9;
    for (const auto& [count, pdu] : pair.gnb.pdus) ASSERT_EQ(pair.ue.receive(pdu), RxOutcome::accepted);
    for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(pair.ue.delivered[i], pattern(30, i));
    const auto before = pair.gnb.pdus;
    home.buffers_left = 0;
    ASSERT_EQ(pair.gnb.entity.data_recovery(), Refusal::kNone);
    EXPECT_FALSE(pair.gnb.entity.tx().needs_retired_keys()) << "the keys are those of now";
    while (pair.gnb.entity.tx().sending_again()) ASSERT_GT(pair.gnb.send_again(9), 0U);
    EXPECT_EQ(pair.gnb.pdus, before);
  }
}

TEST(PdcpTransmitter, may_be_suspended_while_it_waits_for_buffers) {
  Home home;
  const Keys first = home.keys(1), second = home.keys(2), third = home.keys(3);
  Side side(home, config_of(12), first.security());
  side.rlc_keeps = true;
  for (unsigned i = 0; i < 6; ++i) side.send(pattern(9, i));
  ASSERT_EQ(side.entity.reestablish(second.security(), side), Refusal::kNone);
  home.buffers_left = 2;
  EXPECT_EQ(side.send_again(9), 2U);
  EXPECT_EQ(side.send_again(9), 0U);
  ASSERT_EQ(side.entity.suspend(side), Refusal::kNone);
  EXPECT_EQ(side.entity.tx().counters()[TxOutcome::not_sent_again], 4U);
  EXPECT_EQ(side.entity.tx().unconfirmed(), 2U);
  ASSERT_EQ(side.entity.reestablish(third.security(), side), Refusal::kNone);
  home.buffers_left = 9;
  side.sent.clear();
  EXPECT_EQ(side.send_again(9), 2U);
  EXPECT_EQ(side.sent, (std::vector<std::uint32_t>{0, 1}));
  Side peer(home, Pair::peer_of(config_of(12)), third.security());
  for (const std::uint32_t count : side.sent) EXPECT_EQ(peer.receive(side.pdus[count]), RxOutcome::accepted);
  EXPECT_EQ(peer.delivered, (std::vector<Bytes>{pattern(9, 0), pattern(9, 1)}));
}

TEST(PdcpTransmitter, needs_retired_keys_only_for_what_they_protect) {
  Home home;
  const Keys old = home.keys(1), fresh = home.keys(2);
  Config config = config_of(18, RlcMode::kUm);
  config.discard_timer = 1000;
  Side side(home, config, old.security());
  for (unsigned i = 0; i < 100; ++i) side.send({1});
  ASSERT_EQ(side.entity.suspend(side), Refusal::kNone);
  for (unsigned i = 0; i < 40; ++i) side.send({1});
  ASSERT_EQ(side.entity.reestablish(fresh.security(), side), Refusal::kNone);
  side.send_again(5);
  ASSERT_TRUE(side.entity.tx().sending_again());
  EXPECT_FALSE(side.entity.tx().needs_retired_keys()) << "a UM bearer stores no PDU";
  while (side.entity.tx().sending_again()) side.send_again(5);
}

TEST(PdcpTransmitter, an_sdu_that_the_library_fails_on_counts_once_and_gives_its_credit_back) {
  Home home;
  const Keys keys = home.keys(1);
  Side side(home, config_of(18), keys.security());
  side.entity.tx().set_credit({1, 20});
  TxItem<Buffer> item{.from = &side.entity.tx(), .buffer = home.pool.make(pattern(20))};
  home.tx_burst.protect({&item, 1}, 0, side, home.maker());
  ASSERT_EQ(item.outcome, TxOutcome::sent);
  side.entity.tx().give_up(item.count.value, 20);
  EXPECT_EQ(side.entity.tx().counters()[TxOutcome::sent], 0U);
  EXPECT_EQ(side.entity.tx().counters()[TxOutcome::crypto_failed], 1U);
  EXPECT_EQ(side.entity.tx().octets(), 0U);
  EXPECT_EQ(side.send(pattern(20)), TxOutcome::sent) << "there is credit again";
}

TEST(PdcpTransmitter, counts_discard_timers_that_it_forgets) {
  Home home({.directories = 2, .sent_pages = 4});
  const Keys keys = home.keys(1);
  Config config = config_of(18, RlcMode::kUm);
  config.discard_timer = 1000;
  Side side(home, config, keys.security());
  for (unsigned i = 0; i < 400; ++i) ASSERT_EQ(side.send({1}), TxOutcome::sent);
  side.entity.advance(1000, side);
  EXPECT_LT(side.discards.size(), 400U);
  EXPECT_EQ(side.discards.size() + side.entity.tx().counters()[TxOutcome::timer_forgotten], 400U);
}

TEST(PdcpTransmitter, a_timer_that_the_clock_does_not_reach_never_runs_out) {
  Home home;
  const Keys keys = home.keys(1);
  Config config = config_of(18);
  config.discard_timer = kNever - 5;
  config.t_reordering = kNever - 5;
  Pair pair(home, config, keys.security());
  pair.gnb.send({1}, 10);
  pair.gnb.send({2}, 10);
  EXPECT_EQ(pair.gnb.entity.next_deadline(), kNever);
  pair.ue.receive(pair.gnb.pdus[1], 10);
  EXPECT_EQ(pair.ue.entity.next_deadline(), kNever);
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test
