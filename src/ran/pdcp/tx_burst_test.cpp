#include "ran/pdcp/tx_burst.h"

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

TEST(PdcpTx, numbers_sdus_and_leaves_the_sdap_header_clear) {
  Home home;
  const Keys keys = home.keys(1);
  for (const unsigned bits : {12U, 18U}) {
    Config config = config_of(bits);
    config.tx_sdap_header = true;
    Pair pair(home, config, keys.security());
    pair.begin_at((1U << bits) - 1);
    const Bytes sdu = pattern(40);
    ASSERT_EQ(pair.gnb.send(sdu), TxOutcome::sent);
    ASSERT_EQ(pair.gnb.send(sdu), TxOutcome::sent);
    const Bytes& last = pair.gnb.pdus.at((1U << bits) - 1);  // of this HFN
    const Bytes& first = pair.gnb.pdus.at(1U << bits);       // of the next one
    const Bytes all_ones = bits == 12 ? Bytes{0x8F, 0xFF} : Bytes{0x83, 0xFF, 0xFF};
    const Bytes zero = bits == 12 ? Bytes{0x80, 0} : Bytes{0x80, 0, 0};
    EXPECT_TRUE(std::equal(all_ones.begin(), all_ones.end(), last.begin()));
    EXPECT_TRUE(std::equal(zero.begin(), zero.end(), first.begin()));
    EXPECT_EQ(first.size(), zero.size() + sdu.size() + 4);
    EXPECT_EQ(first[zero.size()], sdu[0]) << "SDAP header";
    EXPECT_NE(Bytes(first.begin() + 10, first.begin() + 30), Bytes(sdu.begin() + 8, sdu.begin() + 28));
    EXPECT_EQ(pair.ue.receive(last), RxOutcome::accepted);
    EXPECT_EQ(pair.ue.receive(first), RxOutcome::accepted);
    EXPECT_EQ(pair.ue.delivered, (std::vector<Bytes>{sdu, sdu}));
  }
}

TEST(PdcpTx, null_algorithms_and_no_integrity_change_only_what_they_should) {
  Home home;
  const Keys keys = home.keys(1, CipherAlgorithm::nea0, IntegrityAlgorithm::nia0);
  Side none(home, config_of(12, RlcMode::kUm), {keys.cipher.get(), nullptr});
  Side zeros(home, config_of(12, RlcMode::kUm), keys.security());
  none.send({1, 2, 3});
  zeros.send({1, 2, 3});
  EXPECT_EQ(none.pdus.at(0), (Bytes{0x80, 0, 1, 2, 3}));
  EXPECT_EQ(zeros.pdus.at(0), (Bytes{0x80, 0, 1, 2, 3, 0, 0, 0, 0}));
}

// What a burst gives each bearer is what the bearer would have got alone.
TEST(PdcpTx, bearers_of_a_burst_do_not_disturb_each_other) {
  constexpr CipherAlgorithm kCiphers[] = {CipherAlgorithm::nea0, CipherAlgorithm::nea1, CipherAlgorithm::nea2,
                                          CipherAlgorithm::nea3};
  constexpr IntegrityAlgorithm kIntegrities[] = {IntegrityAlgorithm::nia0, IntegrityAlgorithm::nia1,
                                                 IntegrityAlgorithm::nia2, IntegrityAlgorithm::nia3};
  Home home;
  std::vector<Keys> keys;
  std::vector<std::unique_ptr<Side>> together, alone, peers;
  for (unsigned i = 0; i < 20; ++i) {
    keys.push_back(home.keys(static_cast<std::uint8_t>(i), kCiphers[i % 4], kIntegrities[i / 4 % 4]));
    Config config = config_of(i % 3 == 0 ? 12 : 18, i % 2 == 0 ? RlcMode::kAm : RlcMode::kUm);
    config.drb = static_cast<std::uint8_t>(1 + i);
    config.tx_sdap_header = i % 5 == 0;
    const Security security{keys[i].cipher.get(), i == 19 ? nullptr : keys[i].integrity.get()};
    together.push_back(std::make_unique<Side>(home, config, security));
    alone.push_back(std::make_unique<Side>(home, config, security));
    peers.push_back(std::make_unique<Side>(home, Pair::peer_of(config), security));
  }
  Random random(4);
  std::vector<TxItem<Buffer>> items;
  std::vector<Bytes> sdus;
  std::vector<unsigned> bearers;
  for (int i = 0; i < 100; ++i) {  // more than the engine takes at once
    const unsigned bearer = random() % 20;
    sdus.push_back(pattern(1 + random() % 300, random()));
    bearers.push_back(bearer);
    items.push_back({.from = &together[bearer]->entity.tx(),
                     .buffer = i % 7 == 0 ? home.tight.make(sdus.back()) : home.pool.make(sdus.back())});
    ASSERT_EQ(alone[bearer]->send(sdus.back()), TxOutcome::sent);
  }
  home.tx_burst.protect(items, 0, *together[0], home.maker());
  std::vector<RxItem<Buffer>> back;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[i].outcome, TxOutcome::sent);
    ASSERT_EQ(bytes_of(items[i].buffer), alone[bearers[i]]->pdus.at(items[i].count.value)) << "bearer " << bearers[i];
    back.push_back({.to = &peers[bearers[i]]->entity.rx(), .pdu = home.pool.make(buf::octets(items[i].buffer))});
  }
  home.tx_burst.keep(items);
  home.rx_burst.receive(back, 0, *peers[0], home.maker());
  EXPECT_EQ(peers[0]->delivered, sdus);
}

TEST(PdcpTx, drops_before_it_numbers) {
  Home home;
  const Keys keys = home.keys(1);
  Config config = config_of(12);
  config.max_in_flight = 3;
  config.count_stop = 6;
  Side side(home, config, keys.security());
  const auto& tx = side.entity.tx();
  EXPECT_EQ(side.send(Bytes()), TxOutcome::sdu_empty);
  EXPECT_EQ(side.send(Bytes(9001)), TxOutcome::sdu_too_large);
  EXPECT_EQ(side.send(Bytes(9000)), TxOutcome::sent);
  side.entity.tx().set_credit({1, 100});
  EXPECT_EQ(side.send(Bytes(101)), TxOutcome::no_credit);
  EXPECT_EQ(side.send(Bytes(100)), TxOutcome::sent);
  EXPECT_EQ(side.send(Bytes(1)), TxOutcome::no_credit);
  side.entity.tx().set_credit({100, 1000});
  EXPECT_EQ(side.send(Bytes(900)), TxOutcome::sent);
  EXPECT_EQ(side.send(Bytes(1)), TxOutcome::window_full);
  side.entity.tx().confirm(Count{1});
  EXPECT_EQ(side.send(Bytes(1)), TxOutcome::window_full) << "the oldest one counts";
  side.entity.tx().confirm(Count{0});
  for (int i = 3; i < 5; ++i) EXPECT_EQ(side.send(Bytes(1)), TxOutcome::sent);
  side.entity.tx().confirm(Count{2});
  side.entity.tx().confirm(Count{3});
  EXPECT_EQ(side.send(Bytes(1)), TxOutcome::sent);
  EXPECT_EQ(side.send(Bytes(1)), TxOutcome::count_exhausted);
  EXPECT_EQ(tx.tx_next(), 6U);
  EXPECT_EQ(tx.counters()[TxOutcome::sent], 6U);
  EXPECT_EQ(tx.counters()[TxOutcome::no_credit], 2U);
  EXPECT_EQ(tx.counters()[TxOutcome::window_full], 2U);
  EXPECT_EQ(tx.counters()[TxOutcome::count_exhausted], 1U);
  EXPECT_EQ(side.sent, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST(PdcpTx, without_memory_an_sdu_gets_no_number) {
  Home home({.directories = 1, .sent_pages = 2, .reorder_pages = 1, .waiting_pages = 1});
  const Keys keys = home.keys(1);
  Side side(home, config_of(12), keys.security());
  home.buffers_left = 0;
  EXPECT_EQ(side.send(home.tight.make(pattern(9))), TxOutcome::no_memory) << "no other buffer";
  EXPECT_EQ(side.entity.tx().unconfirmed(), 0U);
  for (std::uint32_t i = 0; i < kPageSns; ++i) ASSERT_EQ(side.send(pattern(9)), TxOutcome::sent);
  EXPECT_EQ(side.send(pattern(9)), TxOutcome::no_memory) << "no other page";
  EXPECT_EQ(side.entity.tx().tx_next(), kPageSns);
}

TEST(PdcpTx, a_buffer_that_it_may_not_write_is_copied) {
  Home home;
  const Keys keys = home.keys(1);
  Pair pair(home, config_of(18, RlcMode::kUm), keys.security());
  Buffer shared = home.pool.make(pattern(50));
  const Buffer other = shared.share();
  EXPECT_EQ(pair.gnb.send(std::move(shared)), TxOutcome::sent);
  EXPECT_EQ(home.made, 1);
  EXPECT_EQ(pair.gnb.send(home.tight.make(pattern(50))), TxOutcome::sent);
  EXPECT_EQ(home.made, 2);
  EXPECT_EQ(pair.gnb.send(pattern(50)), TxOutcome::sent);
  EXPECT_EQ(home.made, 2) << "there is room for header and MAC-I";
  EXPECT_EQ(bytes_of(other), pattern(50));
  for (const auto& [count, pdu] : pair.gnb.pdus) EXPECT_EQ(pair.ue.receive(pdu), RxOutcome::accepted);
  EXPECT_EQ(pair.ue.delivered, std::vector<Bytes>(3, pattern(50)));
}

TEST(PdcpTx, asks_once_for_a_key_at_the_threshold) {
  Home home;
  const Keys keys = home.keys(1), next = home.keys(2);
  Config config = config_of(12, RlcMode::kUm);
  config.count_threshold = 2;
  Pair pair(home, config, keys.security());
  pair.gnb.send({1});
  EXPECT_EQ(pair.gnb.tx_keys_needed, 0);
  for (int i = 0; i < 3; ++i) pair.gnb.send({1});
  EXPECT_EQ(pair.gnb.tx_keys_needed, 1);
  for (const auto& [count, pdu] : pair.gnb.pdus) pair.ue.receive(pdu);
  EXPECT_EQ(pair.ue.rx_keys_needed, 1);
  ASSERT_EQ(pair.gnb.entity.reestablish(next.security(), pair.gnb), Refusal::kNone);
  for (int i = 0; i < 3; ++i) pair.gnb.send({1});
  EXPECT_EQ(pair.gnb.tx_keys_needed, 2);
}

TEST(PdcpTx, the_last_count_is_never_sent) {
  Home home;
  const Keys keys = home.keys(1);
  Pair pair(home, config_of(18), keys.security());
  pair.begin_at(kLastCount - 2);
  EXPECT_EQ(pair.gnb.send({1}), TxOutcome::sent);
  EXPECT_EQ(pair.gnb.send({2}), TxOutcome::sent);
  EXPECT_EQ(pair.gnb.send({3}), TxOutcome::count_exhausted);
  EXPECT_EQ(pair.gnb.entity.tx().tx_next(), kLastCount);
  for (const auto& [count, pdu] : pair.gnb.pdus) EXPECT_EQ(pair.ue.receive(pdu), RxOutcome::accepted);
  EXPECT_EQ(pair.ue.entity.rx().rx_next(), kLastCount);
}

TEST(PdcpTx, discards_in_order_when_the_timer_runs_out) {
  Home home;
  const Keys keys = home.keys(1);
  for (const RlcMode rlc : {RlcMode::kAm, RlcMode::kUm}) {
    Config config = config_of(12, rlc);
    config.discard_timer = 100;
    Side side(home, config, keys.security());
    EXPECT_EQ(side.entity.next_deadline(), kNever);
    for (Time now = 0; now < 30; now += 10) side.send({1}, now);
    EXPECT_EQ(side.entity.next_deadline(), 100U);
    side.entity.advance(99, side);
    EXPECT_TRUE(side.discards.empty());
    side.entity.advance(110, side);
    EXPECT_EQ(side.discards, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(side.entity.next_deadline(), 120U);
    side.entity.tx().confirm(Count{2});
    EXPECT_EQ(side.entity.next_deadline(), rlc == RlcMode::kAm ? kNever : 120U);
    EXPECT_EQ(side.entity.tx().counters()[TxOutcome::discarded_by_timer], 2U);
  }
}

TEST(PdcpTx, a_um_bearer_with_discard_timer_forgets_what_was_sent_long_ago) {
  for (const std::size_t pages : {100U, 10U}) {
    Home home({.directories = 2, .sent_pages = pages, .reorder_pages = 1, .waiting_pages = 1});
    const Keys keys = home.keys(1);
    Config config = config_of(12, RlcMode::kUm);
    config.discard_timer = 100;
    Side side(home, config, keys.security());
    for (unsigned i = 0; i < 5000; ++i) ASSERT_EQ(side.send({1}), TxOutcome::sent);
    side.entity.advance(100, side);
    ASSERT_FALSE(side.discards.empty());
    EXPECT_EQ(side.discards.back(), 4999U);
    EXPECT_EQ(side.discards.front(), pages == 100 ? 5000 - window_size(12) : 4992 - 4 * kPageSns);
    EXPECT_EQ(side.discards.size(), 5000 - side.discards.front());
  }
}

TEST(PdcpTx, a_status_report_confirms_what_it_names) {
  Home home;
  const Keys keys = home.keys(1);
  Config config = config_of(18);
  config.status_report_required = true;
  Pair pair(home, config, keys.security());
  pair.begin_at(262'000);
  for (unsigned i = 0; i < 300; ++i) pair.gnb.send(pattern(3, i));
  std::vector<std::uint32_t> received;
  for (const auto& [count, pdu] : pair.gnb.pdus) {
    if (count % 3 == 0) continue;
    ASSERT_EQ(pair.ue.receive(pdu), RxOutcome::accepted);
    received.push_back(count);
  }
  ASSERT_EQ(pair.ue.entity.data_recovery(), Refusal::kNone);
  ASSERT_TRUE(pair.ue.entity.rx().report_is_due());
  EXPECT_EQ(pair.gnb.receive(pair.ue.report()), RxOutcome::control);
  EXPECT_EQ(pair.gnb.discards, received);
  EXPECT_EQ(pair.gnb.entity.tx().unconfirmed(), 100U);
  Bytes wrong{0, 0xFF, 0, 0, 0};
  EXPECT_EQ(pair.gnb.receive(wrong), RxOutcome::control);
  EXPECT_EQ(pair.gnb.entity.tx().counters()[TxOutcome::bad_status_report], 1U) << "FMC is beyond TX_NEXT";
  EXPECT_EQ(pair.gnb.entity.tx().unconfirmed(), 100U);
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test
