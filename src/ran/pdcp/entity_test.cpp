#include "ran/pdcp/entity.h"

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

TEST(PdcpEntity, sends_unconfirmed_sdus_again_under_new_keys) {
  for (const unsigned bits : {12U, 18U}) {
    Home home;
    Keys old = home.keys(1);
    const Keys fresh = home.keys(2, CipherAlgorithm::nea1, IntegrityAlgorithm::nia3);
    Config config = config_of(bits);
    config.tx_sdap_header = true;
    Pair pair(home, config, old.security());
    pair.begin_at((1U << bits) - 20);
    for (unsigned i = 0; i < 40; ++i) ASSERT_EQ(pair.gnb.send(pattern(1 + i, i)), TxOutcome::sent);
    const std::uint32_t first = (1U << bits) - 20;
    pair.gnb.entity.tx().confirm(Count{first + 3});
    const auto before = pair.gnb.pdus;
    pair.gnb.sent.clear();
    ASSERT_EQ(pair.gnb.entity.reestablish(fresh.security(), pair.gnb), Refusal::kNone);
    ASSERT_EQ(pair.ue.entity.reestablish(fresh.security(), pair.ue), Refusal::kNone);
    ASSERT_EQ(pair.gnb.send(pattern(100)), TxOutcome::waiting) << "COUNTs go out in order";
    while (pair.gnb.entity.tx().needs_retired_keys()) ASSERT_GT(pair.gnb.send_again(7), 0U);
    old = {};  // wiped: whatever needs it now is wrong
    while (pair.gnb.entity.tx().sending_again()) pair.gnb.send_again();
    ASSERT_EQ(pair.gnb.sent.size(), 40U);
    EXPECT_TRUE(std::is_sorted(pair.gnb.sent.begin(), pair.gnb.sent.end()));
    for (const std::uint32_t count : pair.gnb.sent) {
      if (before.contains(count)) {
        EXPECT_NE(pair.gnb.pdus[count], before.at(count));
      }
      EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[count]), RxOutcome::accepted);
    }
    pair.ue.entity.release(pair.ue);
    ASSERT_EQ(pair.ue.delivered.size(), 40U);
    EXPECT_EQ(pair.ue.delivered[0], pattern(1, 0));
    EXPECT_EQ(pair.ue.delivered[3], pattern(5, 4)) << "the fourth was confirmed";
    EXPECT_EQ(pair.ue.delivered.back(), pattern(100));
    EXPECT_EQ(pair.gnb.entity.tx().unconfirmed(), 40U);
  }
}

TEST(PdcpEntity, changes_keys_while_counts_go_on_where_the_lower_layer_keeps_pdus) {
  Home home;
  const Keys old = home.keys(1), fresh = home.keys(2);
  Config config = config_of(18);
  config.rlc = RlcMode::kUm;  // it stores nothing
  config.t_reordering = 10;
  Pair pair(home, config, old.security());
  for (unsigned i = 0; i < 5; ++i) ASSERT_EQ(pair.gnb.send(pattern(20, i)), TxOutcome::sent);
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[0]), RxOutcome::accepted);
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[3]), RxOutcome::accepted);
  EXPECT_EQ(pair.gnb.entity.change_keys(old.security()), Refusal::kKeyReused);
  ASSERT_EQ(pair.gnb.entity.change_keys(fresh.security()), Refusal::kNone);
  ASSERT_EQ(pair.ue.entity.change_keys(fresh.security()), Refusal::kNone);
  EXPECT_EQ(pair.gnb.entity.tx().tx_next(), 5U);
  EXPECT_EQ(pair.ue.entity.rx().held(), 1U);
  pair.ue.entity.rx().pause_reordering(500);
  EXPECT_EQ(pair.ue.entity.next_deadline(), 500U) << "t-Reordering waits for the next PDU";
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[1]), RxOutcome::integrity_failed) << "of the keys before";
  ASSERT_EQ(pair.gnb.send(pattern(20, 5)), TxOutcome::sent);
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[5]), RxOutcome::accepted);
  EXPECT_LE(pair.ue.entity.next_deadline(), 10U);
  EXPECT_EQ(pair.ue.delivered.size(), 1U);
  EXPECT_EQ(pair.ue.entity.rx().held(), 2U);
  ASSERT_EQ(pair.gnb.entity.suspend(pair.gnb), Refusal::kNone);
  EXPECT_EQ(pair.gnb.entity.change_keys(home.keys(3).security()), Refusal::kSuspended);
}

TEST(PdcpEntity, goes_on_when_buffers_are_there_again) {
  Home home;
  const Keys old = home.keys(1), fresh = home.keys(2);
  Pair pair(home, config_of(12), old.security());
  pair.gnb.rlc_keeps = true;
  for (unsigned i = 0; i < 10; ++i) pair.gnb.send(pattern(10, i));
  pair.gnb.sent.clear();
  ASSERT_EQ(pair.gnb.entity.reestablish(fresh.security(), pair.gnb), Refusal::kNone);
  home.buffers_left = 4;
  EXPECT_EQ(pair.gnb.send_again(10), 4U);
  EXPECT_EQ(pair.gnb.send_again(10), 0U);
  EXPECT_TRUE(pair.gnb.entity.tx().needs_retired_keys());
  EXPECT_EQ(pair.gnb.entity.reestablish(home.keys(3).security(), pair.gnb), Refusal::kSendingAgain);
  EXPECT_EQ(pair.gnb.entity.data_recovery(), Refusal::kSendingAgain);
  pair.gnb.entity.tx().confirm(Count{7});  // a report may come meanwhile
  home.buffers_left = 100;
  EXPECT_EQ(pair.gnb.send_again(10), 5U);
  EXPECT_FALSE(pair.gnb.entity.tx().sending_again());
  EXPECT_EQ(pair.gnb.sent, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 8, 9}));
}

TEST(PdcpEntity, a_suspended_bearer_numbers_its_sdus_anew) {
  Home home;
  const Keys old = home.keys(1), fresh = home.keys(2);
  Config config = config_of(12);
  config.discard_timer = 1000;
  config.max_waiting = 2;
  Pair pair(home, config, old.security());
  pair.begin_at(500);
  for (unsigned i = 0; i < 4; ++i) pair.gnb.send(pattern(9, i), i);
  pair.gnb.entity.tx().confirm(Count{501});
  ASSERT_EQ(pair.gnb.entity.suspend(pair.gnb), Refusal::kNone);
  ASSERT_EQ(pair.ue.entity.suspend(pair.ue), Refusal::kNone);
  EXPECT_EQ(pair.gnb.entity.suspend(pair.gnb), Refusal::kSuspended);
  EXPECT_EQ(pair.gnb.entity.data_recovery(), Refusal::kSuspended);
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[500]), RxOutcome::suspended);
  EXPECT_EQ(pair.gnb.entity.tx().tx_next(), 0U);
  EXPECT_EQ(pair.gnb.send(pattern(9, 4), 10), TxOutcome::waiting);
  EXPECT_EQ(pair.gnb.send(pattern(9, 5), 11), TxOutcome::waiting);
  EXPECT_EQ(pair.gnb.send(pattern(9, 6), 12), TxOutcome::queue_full);
  pair.gnb.entity.tx().confirm(Count{502});  // it comes too late
  pair.gnb.entity.advance(1000, pair.gnb);   // the first SDU is too old
  EXPECT_TRUE(pair.gnb.discards.empty()) << "RLC holds no PDU of it";
  EXPECT_EQ(pair.gnb.entity.reestablish(old.security(), pair.gnb), Refusal::kKeyReused);
  pair.gnb.sent.clear();
  pair.gnb.pdus.clear();
  ASSERT_EQ(pair.gnb.entity.reestablish(fresh.security(), pair.gnb), Refusal::kNone);
  ASSERT_EQ(pair.ue.entity.reestablish(fresh.security(), pair.ue), Refusal::kNone);
  while (pair.gnb.entity.tx().sending_again()) pair.gnb.send_again(1);
  EXPECT_EQ(pair.gnb.sent, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  for (const auto& [count, pdu] : pair.gnb.pdus) EXPECT_EQ(pair.ue.receive(pdu), RxOutcome::accepted);
  EXPECT_EQ(pair.ue.delivered, (std::vector<Bytes>{pattern(9, 2), pattern(9, 3), pattern(9, 4), pattern(9, 5)}));
  EXPECT_EQ(pair.gnb.entity.next_deadline(), 1002U) << "discardTimer goes on";
}

TEST(PdcpEntity, resuming_waits_for_a_buffer_without_losing_a_count) {
  Home home;
  const Keys old = home.keys(1), fresh = home.keys(2);
  Side side(home, config_of(12), old.security());
  side.rlc_keeps = true;
  for (unsigned i = 0; i < 3; ++i) side.send(pattern(9, i));
  ASSERT_EQ(side.entity.suspend(side), Refusal::kNone);
  ASSERT_EQ(side.entity.reestablish(fresh.security(), side), Refusal::kNone);
  side.sent.clear();
  home.buffers_left = 1;
  EXPECT_EQ(side.send_again(), 1U);
  EXPECT_EQ(side.send_again(), 0U);
  EXPECT_EQ(side.entity.tx().unconfirmed(), 3U);
  home.buffers_left = 9;
  EXPECT_EQ(side.send_again(), 2U);
  EXPECT_EQ(side.sent, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(PdcpEntity, data_recovery_repeats_the_same_octets) {
  Home home;
  const Keys keys = home.keys(1);
  Side side(home, config_of(18), keys.security());
  for (unsigned i = 0; i < 50; ++i) side.send(pattern(20, i));
  side.entity.tx().confirm(Count{10});
  const auto before = side.pdus;
  side.pdus.clear();
  ASSERT_EQ(side.entity.data_recovery(), Refusal::kNone);
  while (side.entity.tx().sending_again()) side.send_again();
  auto expected = before;
  expected.erase(10);
  EXPECT_EQ(side.pdus, expected);
  Side um(home, config_of(18, RlcMode::kUm), keys.security());
  EXPECT_EQ(um.entity.data_recovery(), Refusal::kNotAm);
}

TEST(PdcpEntity, a_um_bearer_begins_anew_with_new_keys_only) {
  Home home;
  const Keys old = home.keys(1), again = home.keys(1), fresh = home.keys(2);
  Config config = config_of(12, RlcMode::kUm);
  config.t_reordering = 1000;
  Pair pair(home, config, old.security());
  for (unsigned i = 0; i < 4; ++i) pair.gnb.send(pattern(9, i));
  pair.ue.receive(pair.gnb.pdus[2]);
  EXPECT_EQ(pair.gnb.entity.reestablish(old.security(), pair.gnb), Refusal::kKeyReused);
  EXPECT_EQ(pair.gnb.entity.reestablish(again.security(), pair.gnb), Refusal::kKeyReused) << "the same octets";
  EXPECT_EQ(pair.gnb.entity.reestablish({fresh.cipher.get(), old.integrity.get()}, pair.gnb), Refusal::kKeyReused);
  EXPECT_EQ(pair.gnb.entity.tx().tx_next(), 4U);
  ASSERT_EQ(pair.gnb.entity.reestablish(fresh.security(), pair.gnb), Refusal::kNone);
  ASSERT_EQ(pair.ue.entity.reestablish(fresh.security(), pair.ue), Refusal::kNone);
  EXPECT_EQ(pair.ue.counts, std::vector<std::uint32_t>{2}) << "what was held is delivered";
  EXPECT_EQ(pair.gnb.entity.tx().tx_next(), 0U);
  EXPECT_EQ(pair.ue.entity.next_deadline(), kNever);
  pair.gnb.send(pattern(5));
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[0]), RxOutcome::accepted);
}

TEST(PdcpEntity, an_am_bearer_keeps_both_keys_or_changes_both) {
  Home home;
  const Keys old = home.keys(1), fresh = home.keys(2);
  Side side(home, config_of(12), old.security());
  side.send(pattern(9));
  const Bytes before = side.pdus[0];
  EXPECT_EQ(side.entity.reestablish({old.cipher.get(), fresh.integrity.get()}, side), Refusal::kKeyReused);
  EXPECT_EQ(side.entity.reestablish({fresh.cipher.get(), old.integrity.get()}, side), Refusal::kKeyReused);
  ASSERT_EQ(side.entity.reestablish(old.security(), side), Refusal::kNone);
  while (side.entity.tx().sending_again()) side.send_again();
  EXPECT_EQ(side.pdus[0], before) << "the same PDU";
}

TEST(PdcpEntity, counts_are_read_at_the_source_and_set_at_the_target) {
  Home home;
  const Keys keys = home.keys(1), fresh = home.keys(2);
  const Config config = config_of(12);
  Pair source(home, config, keys.security());
  for (unsigned i = 0; i < 6; ++i) source.ue.send(pattern(9, i));
  for (const std::uint32_t count : {0U, 2U, 4U}) source.gnb.receive(source.ue.pdus[count]);
  std::vector<std::uint32_t> received;
  source.gnb.entity.rx().for_each_received([&](std::uint32_t count) { received.push_back(count); });
  EXPECT_EQ(source.gnb.entity.rx().rx_deliv(), 1U);
  EXPECT_EQ(received, (std::vector<std::uint32_t>{2, 4}));

  Side target(home, config, fresh.security());
  const auto forward = [&](std::uint32_t tx_next, std::uint32_t rx_deliv, std::vector<std::uint32_t> counts) {
    std::vector<Forwarded<Buffer>> out;
    for (const std::uint32_t count : counts) out.push_back({Count{count}, home.pool.make(pattern(9, count))});
    return target.entity.set_counts(Count{tx_next}, Count{rx_deliv}, out, target);
  };
  EXPECT_EQ(forward(9, 1, {1}), Refusal::kOutOfRange);
  EXPECT_EQ(forward(9, 1, {1 + window_size(12)}), Refusal::kOutOfRange);
  EXPECT_EQ(forward(kLastCount, 1, {}), Refusal::kOutOfRange);
  ASSERT_EQ(forward(9, 1, received), Refusal::kNone);
  EXPECT_EQ(forward(9, 1, {}), Refusal::kNotEmpty);
  EXPECT_EQ(target.entity.rx().rx_next(), 5U);
  EXPECT_EQ(target.entity.tx().tx_next(), 9U);
  ASSERT_EQ(source.ue.entity.reestablish(fresh.security(), source.ue), Refusal::kNone);
  while (source.ue.entity.tx().sending_again()) source.ue.send_again();
  for (const std::uint32_t count : {1U, 3U, 5U}) {
    EXPECT_EQ(target.receive(source.ue.pdus[count]), RxOutcome::accepted);
  }
  EXPECT_EQ(target.counts, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(target.delivered[1], pattern(9, 2));
  EXPECT_EQ(forward(8, 6, {}), Refusal::kCountGoesBack);
  const CountsInUse counts = target.entity.counts_in_use();
  EXPECT_EQ(counts.uplink, Count{5});
  EXPECT_EQ(counts.downlink, Count{8});
  const CountsInUse none = Side(home, config, keys.security()).entity.counts_in_use();
  EXPECT_EQ(none.uplink, Count{0});
}

TEST(PdcpEntity, release_delivers_what_is_held_and_gives_all_back) {
  Home home;
  const Keys keys = home.keys(1);
  Pair pair(home, config_of(18), keys.security());
  for (unsigned i = 0; i < 200; ++i) pair.gnb.send(pattern(9, i));
  for (std::uint32_t i = 5; i < 200; i += 3) pair.ue.receive(pair.gnb.pdus[i]);
  pair.gnb.entity.release(pair.gnb);
  pair.ue.entity.release(pair.ue);
  EXPECT_EQ(pair.ue.delivered.size(), 65U);
  EXPECT_TRUE(home.memory.unused());
  EXPECT_EQ(home.pool.live(), 0U);
}

// Over all PDUs of a run: (key, direction, COUNT) names one PDU, whatever RRC asks for in between, and whenever buffers
// run short.
TEST(PdcpEntity, no_count_protects_two_sdus_under_one_key) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Home home;
    std::vector<Keys> keys;
    std::uint8_t number = 0;
    const auto fresh = [&] {
      keys.push_back(home.keys(++number));
      return keys.back().security();
    };
    Config config = config_of(seed % 2 == 0 ? 12 : 18, seed % 4 < 3 ? RlcMode::kAm : RlcMode::kUm);
    config.discard_timer = 500;
    config.max_in_flight = 30;
    Side side(home, config, fresh());
    side.rlc_keeps = seed % 8 < 4;
    std::map<std::pair<const void*, std::uint32_t>, Bytes> seen;
    const auto watch = [&] {
      for (const auto& [count, pdu] : side.pdus) {
        const auto [at, is_new] = seen.try_emplace({side.entity.tx().security().cipher, count}, pdu);
        ASSERT_EQ(at->second, pdu) << "COUNT " << count << ", seed " << seed;
      }
      side.pdus.clear();
    };
    for (Time now = 0; now < 1500 && number < 200; ++now) {
      home.buffers_left = random() % 4 == 0 ? 0 : 3;
      side.entity.advance(now, side);
      const Security current = side.entity.tx().security();
      switch (random() % 24) {
        case 0:
          static_cast<void>(side.entity.reestablish(fresh(), side));
          break;
        case 1:
          static_cast<void>(side.entity.reestablish(current, side));
          break;
        case 2:
          static_cast<void>(side.entity.suspend(side));
          break;
        case 3:
          static_cast<void>(side.entity.data_recovery());
          break;
        case 4:
          static_cast<void>(side.entity.reestablish({fresh().cipher, current.integrity}, side));
          break;
        case 5:
          static_cast<void>(side.entity.set_counts(Count{side.entity.tx().tx_next() + random() % 5 - 2},
                                                   Count{side.entity.rx().rx_deliv()}, {}, side));
          break;
        case 6:
        case 7:
        case 8:
          side.entity.tx().confirm(Count{side.entity.tx().tx_next() - random() % 12});
          break;
        case 9:
          side.receive({0, 0, 0, 0, static_cast<std::uint8_t>(random() % 10), static_cast<std::uint8_t>(random())});
          break;
        default:
          side.send(pattern(1 + random() % 40, random()), now);
      }
      watch();
      if (side.entity.tx().sending_again()) side.send_again(1 + random() % 4);
      watch();
    }
    EXPECT_GT(seen.size(), 100U);
    side.entity.release(side);
  }
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test
