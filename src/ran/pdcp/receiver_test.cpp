#include "ran/pdcp/receiver.h"

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

// Re-establishes an entity as soon as a MAC-I is wrong.
struct Rekeying {
  Side& side;
  Security fresh;
  int delivered = 0;
  template <class T>
  void discard(T&, Count) {}
  template <class T>
  void key_needed(T&) {}
  void status_report(Receiver<Buffer>&, const wire::pdcp::StatusReport&) {}
  void deliver(Receiver<Buffer>&, Count, Buffer) { ++delivered; }
  void integrity_failure(Receiver<Buffer>&, Count) { ASSERT_EQ(side.entity.reestablish(fresh, *this), Refusal::kNone); }
};

TEST(PdcpReceiver, what_a_burst_still_has_is_dropped_when_the_sink_changes_keys) {
  Home home;
  const Keys keys = home.keys(1), fresh = home.keys(2);
  Pair pair(home, config_of(18), keys.security());
  pair.gnb.send(pattern(20));
  // The new security has no integrity protection, so each PDU would pass.
  Rekeying sink{pair.ue, {fresh.cipher.get(), nullptr}};
  Bytes forged = pair.gnb.pdus[0];
  forged[5] ^= 1;
  std::vector<RxItem<Buffer>> items(3);
  for (auto& item : items) {
    item.to = &pair.ue.entity.rx();
    item.pdu = home.pool.make(forged);
    forged[9] ^= 0x55;
  }
  home.rx_burst.receive(items, 0, sink, home.maker());
  EXPECT_EQ(items[0].outcome, RxOutcome::integrity_failed);
  EXPECT_EQ(items[1].outcome, RxOutcome::keys_changed);
  EXPECT_EQ(items[2].outcome, RxOutcome::keys_changed);
  EXPECT_EQ(sink.delivered, 0);
  EXPECT_EQ(pair.ue.entity.rx().counters()[RxOutcome::keys_changed], 2U);
}

TEST(PdcpReceiver, forwarded_sdus_have_one_count_each_and_a_place_each_or_nothing_changes) {
  Home home({.directories = 64, .sent_pages = 64, .reorder_pages = 8});
  const Keys keys = home.keys(1);
  Side side(home, config_of(18), keys.security());
  const auto forward = [&](const std::vector<std::uint32_t>& counts) {
    std::vector<Forwarded<Buffer>> received;
    for (const std::uint32_t count : counts) received.push_back({Count{count}, home.pool.make(pattern(9, count))});
    const Refusal refusal = side.entity.set_counts(Count{7}, Count{4}, received, side);
    for (const auto& one : received) EXPECT_EQ(static_cast<bool>(one.sdu), refusal != Refusal::kNone);
    return refusal;
  };
  EXPECT_EQ(forward({9, 5, 9}), Refusal::kCountTwice);
  EXPECT_EQ(forward({5, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000}), Refusal::kNoMemory);
  EXPECT_TRUE(side.entity.rx().holds_nothing());
  EXPECT_EQ(side.entity.rx().rx_next(), 0U);
  EXPECT_EQ(side.entity.tx().tx_next(), 0U);
  EXPECT_EQ(forward({9, 5}), Refusal::kNone);
  EXPECT_EQ(side.entity.rx().held(), 2U);
  EXPECT_EQ(side.entity.rx().rx_next(), 10U);
  EXPECT_EQ(side.entity.tx().tx_next(), 7U);
}

TEST(PdcpReceiver, holds_as_many_sdus_as_its_configuration_allows) {
  Home home;
  const Keys keys = home.keys(1);
  Config config = config_of(18);
  config.max_held = 3;
  Pair pair(home, config, keys.security());
  for (unsigned i = 0; i < 6; ++i) pair.gnb.send(pattern(9, i));
  for (std::uint32_t count = 1; count < 4; ++count) {
    ASSERT_EQ(pair.ue.receive(pair.gnb.pdus[count]), RxOutcome::accepted);
  }
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[4]), RxOutcome::no_memory);
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[0]), RxOutcome::accepted) << "this one is not held";
  EXPECT_EQ(pair.ue.delivered.size(), 4U);
  EXPECT_EQ(pair.ue.receive(pair.gnb.pdus[5]), RxOutcome::accepted);
}

TEST(PdcpReceiver, tells_rrc_once_until_count_begins_anew) {
  Home home;
  const Keys keys = home.keys(1), second = home.keys(2), third = home.keys(3);
  Config config = config_of(18);
  config.count_threshold = 2;
  Pair pair(home, config, keys.security());
  for (unsigned i = 0; i < 3; ++i) pair.gnb.send({1});
  for (const auto& [count, pdu] : pair.gnb.pdus) pair.ue.receive(pdu);
  ASSERT_EQ(pair.gnb.entity.reestablish(second.security(), pair.gnb), Refusal::kNone);
  ASSERT_EQ(pair.ue.entity.reestablish(second.security(), pair.ue), Refusal::kNone);
  while (pair.gnb.entity.tx().sending_again()) pair.gnb.send_again();
  pair.gnb.send({1});
  pair.ue.receive(pair.gnb.pdus[3]);
  EXPECT_EQ(pair.ue.rx_keys_needed, 1);
  ASSERT_EQ(pair.gnb.entity.suspend(pair.gnb), Refusal::kNone);
  ASSERT_EQ(pair.ue.entity.suspend(pair.ue), Refusal::kNone);
  pair.gnb.pdus.clear();
  ASSERT_EQ(pair.gnb.entity.reestablish(third.security(), pair.gnb), Refusal::kNone);
  ASSERT_EQ(pair.ue.entity.reestablish(third.security(), pair.ue), Refusal::kNone);
  while (pair.gnb.entity.tx().sending_again()) pair.gnb.send_again();
  for (const auto& [count, pdu] : pair.gnb.pdus) pair.ue.receive(pdu);
  EXPECT_EQ(pair.ue.rx_keys_needed, 2);
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test
