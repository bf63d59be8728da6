#include "ran/pdcp/rx_burst.h"

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

struct Link : Home {
  explicit Link(const Config& config, const MemorySizes& sizes = kSmall)
      : Home(sizes), own(keys(1)), pair(*this, config, own.security()) {}
  // The PDU of `count`, whatever was sent before.
  Bytes pdu(std::uint32_t count, const Bytes& sdu) {
    Config config = config_of(pair.gnb.entity.tx().cover().header_bytes == 2 ? 12 : 18, RlcMode::kUm);
    Side sender(*this, config, own.security());
    EXPECT_EQ(sender.entity.set_counts(Count{count}, Count{0}, {}, sender), Refusal::kNone);
    EXPECT_EQ(sender.send(sdu), TxOutcome::sent);
    return sender.pdus.at(count);
  }
  Side& ue() { return pair.ue; }
  const Receiver<Buffer>& rx() { return pair.ue.entity.rx(); }

  Keys own;
  Pair pair;
};

Config with_reordering(unsigned bits, Time t_reordering) {
  Config config = config_of(bits, RlcMode::kUm);
  config.t_reordering = t_reordering;
  return config;
}

TEST(PdcpRx, delivers_in_order_and_once) {
  for (const unsigned bits : {12U, 18U}) {
    Link link(with_reordering(bits, 1000));
    for (const std::uint32_t count : {1U, 3U, 0U, 1U, 2U, 0U}) link.ue().receive(link.pdu(count, pattern(9, count)));
    EXPECT_EQ(link.ue().counts, (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(link.ue().delivered[3], pattern(9, 3));
    EXPECT_EQ(link.rx().counters()[RxOutcome::accepted], 4U);
    EXPECT_EQ(link.rx().counters()[RxOutcome::too_old], 2U);
    EXPECT_FALSE(link.rx().reordering());
    EXPECT_EQ(link.rx().next_deadline(), kNever);
  }
}

TEST(PdcpRx, waits_for_a_missing_sdu_no_longer_than_t_reordering) {
  Link link(with_reordering(12, 1000));
  link.ue().receive(link.pdu(2, {2}), 10);
  EXPECT_EQ(link.rx().rx_reord(), 3U);
  EXPECT_EQ(link.rx().next_deadline(), 1010U);
  link.ue().receive(link.pdu(5, {5}), 500);
  EXPECT_EQ(link.ue().receive(link.pdu(5, {5}), 500), RxOutcome::duplicate);
  link.ue().entity.advance(1009, link.ue());
  EXPECT_TRUE(link.ue().counts.empty());
  link.ue().entity.advance(1010, link.ue());
  EXPECT_EQ(link.ue().counts, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(link.rx().rx_deliv(), 3U);
  EXPECT_EQ(link.rx().rx_reord(), 6U);
  EXPECT_EQ(link.rx().next_deadline(), 2010U) << "3 and 4 are missing still";
  link.ue().entity.advance(2010, link.ue());
  EXPECT_EQ(link.ue().counts, (std::vector<std::uint32_t>{2, 5}));
  EXPECT_FALSE(link.rx().reordering());
  EXPECT_EQ(link.ue().receive(link.pdu(4, {4}), 2010), RxOutcome::too_old);
}

TEST(PdcpRx, a_changed_t_reordering_starts_again) {
  Link link(with_reordering(12, kNever));
  link.ue().receive(link.pdu(1, {1}), 10);
  EXPECT_TRUE(link.rx().reordering());
  EXPECT_EQ(link.rx().next_deadline(), kNever);
  link.ue().receive(link.pdu(7, {7}), 20);
  link.ue().entity.rx().set_t_reordering(50, 100, link.ue());
  EXPECT_EQ(link.rx().rx_reord(), 8U);
  EXPECT_EQ(link.rx().next_deadline(), 150U);
  link.ue().entity.rx().set_t_reordering(0, 120, link.ue());
  EXPECT_EQ(link.ue().counts, (std::vector<std::uint32_t>{1, 7}));
}

TEST(PdcpRx, out_of_order_delivery_still_knows_duplicates) {
  Config config = with_reordering(18, 1000);
  config.out_of_order_delivery = true;
  Link link(config);
  for (const std::uint32_t count : {5U, 3U, 5U, 0U, 3U}) link.ue().receive(link.pdu(count, {1}));
  EXPECT_EQ(link.ue().counts, (std::vector<std::uint32_t>{5, 3, 0}));
  EXPECT_EQ(link.rx().counters()[RxOutcome::duplicate], 2U);
  EXPECT_EQ(link.rx().held(), 0U);
}

TEST(PdcpRx, finds_the_hfn_on_both_sides_of_a_wrap) {
  for (const unsigned bits : {12U, 18U}) {
    const std::uint32_t window = window_size(bits), modulus = 2 * window;
    for (const std::uint32_t base : {modulus, 5 * modulus, 0x80000000U}) {
      for (const std::int64_t ahead :
           {std::int64_t{window} - 1, std::int64_t{0}, std::int64_t{1}, -std::int64_t{window}}) {
        Link link(with_reordering(bits, kNever));
        link.pair.begin_at(base);
        const auto count = static_cast<std::uint32_t>(base + ahead);
        EXPECT_EQ(link.ue().receive(link.pdu(count, {1})), ahead < 0 ? RxOutcome::too_old : RxOutcome::accepted);
        Link other(with_reordering(bits, kNever));
        other.pair.begin_at(base);
        EXPECT_EQ(other.ue().receive(other.pdu(base + window, {1})), RxOutcome::integrity_failed)
            << "it is beyond the window, so it is taken for an older one";
        EXPECT_EQ(other.ue().failures, std::vector<std::uint32_t>{base - window});
      }
    }
    Link link(with_reordering(bits, kNever));
    EXPECT_EQ(link.ue().receive(link.pdu(window, {1})), RxOutcome::hfn_negative);
  }
}

TEST(PdcpRx, no_count_beyond_the_last_but_one_is_received) {
  Link link(with_reordering(12, kNever));
  link.pair.begin_at(kLastCount - 1);
  EXPECT_EQ(link.ue().receive({0x8F, 0xFF, 1, 2, 3, 4, 5}), RxOutcome::count_out_of_range);
  EXPECT_EQ(link.ue().receive({0x80, 0x00, 1, 2, 3, 4, 5}), RxOutcome::count_out_of_range);
  EXPECT_EQ(link.ue().receive(link.pdu(kLastCount - 1, {1})), RxOutcome::accepted);
  EXPECT_EQ(link.rx().rx_deliv(), kLastCount);
}

TEST(PdcpRx, nothing_forged_is_delivered_or_changes_the_state) {
  Link link(with_reordering(12, 1000));
  const Bytes genuine = link.pdu(0, pattern(30));
  for (std::size_t bit = 0; bit < 8 * genuine.size(); ++bit) {
    Bytes forged = genuine;
    forged[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
    const RxOutcome outcome = link.ue().receive(forged);
    const bool is_control = bit == 0;
    EXPECT_TRUE(outcome == (is_control ? RxOutcome::control : RxOutcome::integrity_failed) ||
                outcome == RxOutcome::hfn_negative)
        << "bit " << bit << ": " << name_of(outcome);
  }
  for (std::size_t size = 0; size < genuine.size(); ++size) {
    const RxOutcome outcome = link.ue().receive(Bytes(genuine.begin(), genuine.begin() + static_cast<int>(size)));
    EXPECT_EQ(outcome, size <= 6 ? RxOutcome::malformed : RxOutcome::integrity_failed);
  }
  Bytes longer = genuine;
  longer.resize(9006);
  EXPECT_EQ(link.ue().receive(longer), RxOutcome::integrity_failed) << "9000 octets of SDU";
  longer.push_back(0);
  EXPECT_EQ(link.ue().receive(longer), RxOutcome::malformed);
  EXPECT_TRUE(link.ue().counts.empty());
  EXPECT_EQ(link.rx().rx_next(), 0U);
  EXPECT_EQ(link.rx().held(), 0U);
  EXPECT_EQ(link.ue().receive(genuine), RxOutcome::accepted);
  EXPECT_EQ(link.ue().delivered, std::vector<Bytes>{pattern(30)});
}

TEST(PdcpRx, a_wrong_key_bearer_or_direction_fails) {
  Home home;
  const Keys keys = home.keys(1), other = home.keys(2);
  Config config = config_of(12, RlcMode::kUm);
  Side gnb(home, config, keys.security());
  gnb.send(pattern(20));
  const Config peer = Pair::peer_of(config);
  Config other_bearer = peer;
  other_bearer.drb = 2;
  EXPECT_EQ(Side(home, peer, other.security()).receive(gnb.pdus[0]), RxOutcome::integrity_failed);
  EXPECT_EQ(Side(home, other_bearer, keys.security()).receive(gnb.pdus[0]), RxOutcome::integrity_failed);
  EXPECT_EQ(Side(home, config, keys.security()).receive(gnb.pdus[0]), RxOutcome::integrity_failed);
  EXPECT_EQ(Side(home, peer, keys.security()).receive(gnb.pdus[0]), RxOutcome::accepted);
}

// A burst whose first PDU moves RX_DELIV so far that the others belong to other HFNs than it seemed.
TEST(PdcpRx, a_burst_is_as_its_pdus_one_after_another) {
  for (const unsigned bits : {12U, 18U}) {
    const std::uint32_t window = window_size(bits);
    Link burst(with_reordering(bits, 0)), single(with_reordering(bits, 0));
    const std::vector<std::uint32_t> counts{window - 1, 2 * window - 2, 2 * window, 2 * window + 5, window, 1};
    std::vector<Bytes> pdus;
    for (const std::uint32_t count : counts) pdus.push_back(burst.pdu(count, pattern(20, count)));
    std::vector<RxOutcome> outcomes;
    for (const Bytes& pdu : pdus) outcomes.push_back(single.ue().receive(pdu));
    EXPECT_EQ(burst.ue().receive_burst(pdus), outcomes);
    EXPECT_EQ(burst.ue().counts, (std::vector<std::uint32_t>{window - 1, 2 * window - 2, 2 * window, 2 * window + 5}));
    EXPECT_EQ(burst.ue().delivered, single.ue().delivered);
    EXPECT_EQ(burst.ue().failures, single.ue().failures);
  }
}

TEST(PdcpRx, bursts_of_any_octets_end_as_pdus_one_after_another) {
  Random random(5);
  for (int round = 0; round < 60; ++round) {
    Config config = with_reordering(random() % 2 == 0 ? 12 : 18, random() % 3 == 0 ? 0 : 1000);
    config.rlc = random() % 2 == 0 ? RlcMode::kAm : RlcMode::kUm;
    config.out_of_order_delivery = random() % 4 == 0;
    Link burst(config), single(config);
    std::vector<Bytes> pdus;
    for (int i = 0; i < 70; ++i) {
      Bytes pdu = burst.pdu(random() % 40, pattern(1 + random() % 60, random()));
      if (random() % 3 == 0) pdu[random() % pdu.size()] ^= static_cast<std::uint8_t>(random());
      if (random() % 8 == 0) pdu.resize(random() % (pdu.size() + 10));
      if (random() % 8 == 0 && !pdu.empty()) pdu[0] = static_cast<std::uint8_t>(random());
      pdus.push_back(pdu);
    }
    std::vector<RxOutcome> outcomes;
    for (const Bytes& pdu : pdus) outcomes.push_back(single.ue().receive(pdu));
    ASSERT_EQ(burst.ue().receive_burst(pdus), outcomes);
    ASSERT_EQ(burst.ue().delivered, single.ue().delivered);
    ASSERT_EQ(burst.rx().rx_deliv(), single.rx().rx_deliv());
    std::uint64_t counted = 0;
    for (std::size_t i = 0; i < kRxOutcomeCount; ++i) counted += burst.rx().counters()[static_cast<RxOutcome>(i)];
    ASSERT_EQ(counted, pdus.size()) << "each PDU is counted once";
  }
}

TEST(PdcpRx, control_pdus_are_counted_by_what_is_wrong) {
  Link link(config_of(12));
  EXPECT_EQ(link.ue().receive({}), RxOutcome::malformed);
  EXPECT_EQ(link.ue().receive({0x10, 1}), RxOutcome::unknown_control);
  EXPECT_EQ(link.ue().receive({0x70}), RxOutcome::unknown_control);
  EXPECT_EQ(link.ue().receive({0x00, 0, 0, 0}), RxOutcome::bad_status_report);
  EXPECT_EQ(link.ue().receive({0x0F, 0, 0, 0, 0}), RxOutcome::control) << "reserved bits are ignored";
  EXPECT_EQ(link.ue().receive(Bytes(9000)), RxOutcome::control);
  EXPECT_EQ(link.ue().receive(Bytes(9001)), RxOutcome::bad_status_report);
}

TEST(PdcpRx, without_a_page_an_sdu_out_of_sequence_counts_as_lost) {
  Link link(with_reordering(12, 1000), {.directories = 4, .sent_pages = 4, .reorder_pages = 2, .waiting_pages = 1});
  EXPECT_EQ(link.ue().receive(link.pdu(5, {5})), RxOutcome::accepted);
  EXPECT_EQ(link.ue().receive(link.pdu(100, {1})), RxOutcome::no_memory);
  EXPECT_EQ(link.rx().rx_next(), 6U);
  for (std::uint32_t count = 0; count < 5; ++count) {
    EXPECT_EQ(link.ue().receive(link.pdu(count, {1})), RxOutcome::accepted) << "in sequence, so it needs no page";
  }
  EXPECT_EQ(link.ue().receive(link.pdu(100, {1})), RxOutcome::accepted);
}

TEST(PdcpRx, a_pdu_that_it_may_not_write_is_copied) {
  Link link(with_reordering(12, 1000));
  Buffer shared = link.pool.make(link.pdu(0, pattern(30)));
  Buffer other = shared.share();
  const int made = link.made;
  std::array<RxItem<Buffer>, 2> items;
  for (auto& item : items) item.to = &link.ue().entity.rx();
  items[0].pdu = std::move(shared);
  link.rx_burst.receive({items.data(), 1}, 0, link.ue(), link.maker());
  EXPECT_EQ(items[0].outcome, RxOutcome::accepted);
  EXPECT_EQ(link.made, made + 1);
  items[1].pdu = other.share();
  link.buffers_left = 0;
  link.rx_burst.receive({&items[1], 1}, 0, link.ue(), link.maker());
  EXPECT_EQ(items[1].outcome, RxOutcome::no_memory);
  EXPECT_EQ(link.ue().delivered, std::vector<Bytes>{pattern(30)});
}

TEST(PdcpRx, a_report_is_cut_where_its_buffer_ends) {
  Link link(config_of(18));
  for (std::uint32_t count = 1; count <= 100; count += 2) link.ue().receive(link.pdu(count, {1}));
  auto& rx = link.ue().entity.rx();
  EXPECT_EQ(rx.report_bytes(), 5U + 13U);
  Bytes whole(18), part(9);
  EXPECT_EQ(rx.write_report(whole), 18U);
  EXPECT_EQ(rx.write_report(part), 9U);
  EXPECT_EQ(Bytes(whole.begin(), whole.begin() + 9), part);
  EXPECT_EQ(part, (Bytes{0, 0, 0, 0, 0, 0xAA, 0xAA, 0xAA, 0xAA}));
  EXPECT_EQ(rx.write_report(MutableOctets(part).first(4)), 0U);
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test
