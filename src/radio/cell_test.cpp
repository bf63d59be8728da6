// Two cells against each other: segmentation to random grants in both directions, loss, exhaustion, failure and
// re-establishment, and an account that adds up.
#include "radio/cell.h"

#include "radio/test_cells.h"

namespace splitplane::datapath::test {
namespace {

struct Variant {
  RlcMode mode;
  std::uint8_t sn_bits;
  unsigned loss_percent;
};

class TwoCells : public testing::TestWithParam<Variant> {};

TEST_P(TwoCells, sdus_cross_at_random_grants) {
  const auto [mode, sn_bits, loss_percent] = GetParam();
  std::mt19937 random(7);
  End a(bearer(mode, sn_bits)), b(bearer(mode, sn_bits));
  Air to_a(random, loss_percent, kMs), to_b(random, loss_percent, kMs);
  std::array<std::map<std::uint32_t, Bytes>, 2> sent;
  Time now = 0;
  const auto step = [&](End& from, Air& air) {
    for (unsigned n = random() % 4; n != 0; --n)
      air.put(from.pull(random() % 8 == 0 ? random() % 12 : random() % 900), now);
  };
  const auto round = [&] {
    now += kMs / 2;
    a.tick(now);
    b.tick(now);
    step(a, to_b);
    step(b, to_a);
    to_b.arrive(now, b);
    to_a.arrive(now, a);
  };
  for (unsigned i = 0; i < 2000; ++i) {
    for (unsigned side = 0; side < 2; ++side) {
      if (random() % 3 != 0) continue;
      const auto number = static_cast<std::uint32_t>(sent[side].size());
      const Bytes sdu = numbered(number, 4 + random() % 1500);
      if ((side == 0 ? a : b).send(sdu)) sent[side].emplace(number, sdu);
    }
    round();
  }
  for (unsigned i = 0; i < 20000 && a.cell.held() + b.cell.held() != 0; ++i) round();
  for (unsigned i = 0; i < 400; ++i) round();  // until the timers have run out
  EXPECT_EQ(a.cell.held() + b.cell.held(), 0U);
  EXPECT_TRUE(a.cell.idle() && b.cell.idle());
  for (unsigned side = 0; side < 2; ++side) {
    End& at = side == 0 ? b : a;
    std::set<std::uint32_t> received;
    for (const Bytes& sdu : at.delivered) {
      ASSERT_TRUE(sent[side].contains(number_of(sdu)));
      EXPECT_EQ(sent[side][number_of(sdu)], sdu);
      const bool is_new = received.insert(number_of(sdu)).second;
      // UM does not know a complete SDU that comes twice (TS 38.322 5.2.2.2.2).
      EXPECT_TRUE(is_new || mode == RlcMode::kUm);
    }
    if (mode == RlcMode::kAm || loss_percent == 0) {
      EXPECT_EQ(received.size(), sent[side].size());
    } else {
      EXPECT_LT(received.size(), sent[side].size());
    }
    EXPECT_GT(received.size(), 50U);
    EXPECT_GT(at.channel().counters().copied, 20U) << "grants were too large for segments";
    at.expect_account();
  }
  EXPECT_EQ(a.pool.in_use() + b.pool.in_use(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Modes, TwoCells,
                         testing::Values(Variant{RlcMode::kAm, 18, 0}, Variant{RlcMode::kAm, 18, 10},
                                         Variant{RlcMode::kAm, 12, 25}, Variant{RlcMode::kUm, 12, 0},
                                         Variant{RlcMode::kUm, 12, 10}, Variant{RlcMode::kUm, 6, 5}));

TEST(Cell, an_sdu_of_one_pdu_is_delivered_in_its_buffer) {
  End a(bearer(RlcMode::kAm)), b(bearer(RlcMode::kAm));
  ASSERT_TRUE(a.send(numbered(1, 100)));
  b.receive(a.pull(200));
  EXPECT_EQ(b.delivered, std::vector<Bytes>{numbered(1, 100)});
  EXPECT_EQ(b.channel().counters().copied, 0U);
}

TEST(Cell, nothing_is_taken_beyond_the_limit_of_a_channel) {
  ran::BearerConfig config = bearer(RlcMode::kAm);
  config.arq.max_unacked = 5;
  End a(config), b(config);
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_TRUE(a.send(numbered(i, 10)));
  EXPECT_EQ(a.channel().room(), 0U);
  for (int i = 0; i < 5; ++i) b.receive(a.pull(100));
  EXPECT_FALSE(a.send(numbered(5, 10))) << "they are sent, and not acknowledged";
  a.receive(b.pull(100));
  a.tick(1);
  EXPECT_EQ(a.channel().room(), 5U);
  EXPECT_TRUE(a.send(numbered(5, 10)));
}

TEST(Cell, half_of_the_numbers_of_pdcp_are_the_most_in_flight) {
  ran::BearerConfig config = bearer(RlcMode::kUm);
  config.pdcp_sn_bits = 12;
  End a(config, 1023, 100000);
  EXPECT_EQ(a.channel().room(), 2048U);
  config.pdcp_sn_bits = 18;
  End b(config);
  EXPECT_EQ(b.channel().room(), 4096U);
}

TEST(Cell, all_channels_together_have_a_limit) {
  End a(bearer(RlcMode::kUm), 1023, 100);
  unsigned sent = 0;
  while (a.send(numbered(sent, 10))) ++sent;
  EXPECT_EQ(sent, 69U) << "a burst of 32 must have room";
  EXPECT_EQ(a.cell.held(), 69U);
  EXPECT_EQ(a.pull(100).size(), 11U);
  EXPECT_TRUE(a.send(numbered(sent, 10)));
}

TEST(Cell, as_many_sdus_have_room_if_each_is_of_another_channel) {
  constexpr std::uint32_t kChannels = 500;
  Pool pool(1023);
  WorkerStats stats;
  Cell cell({.pool = pool.get(), .max_sdus = 512, .max_channels = kChannels, .ticks_per_ms = kMs}, stats);
  cell.attach(ShardId{2}, kChannels + 1);
  for (std::uint32_t i = 0; i < kChannels; ++i) {
    const ran::BearerConfig config = bearer(RlcMode::kAm, 18, kId + i);
    auto made = cell.make({&config, 1});
    ASSERT_TRUE(made);
    cell.attach(*made, 0);
  }
  std::uint32_t sent = 0;
  for (; cell.has_room(); ++sent) {
    MbufBuffer sdu(pool.make(numbered(sent, 10)));
    ASSERT_TRUE(cell.send(*cell.find(kId + sent), sdu));
  }
  EXPECT_EQ(sent, 481U) << "a burst of 32 must have room";
  Bytes out(100);
  for (std::uint32_t i = 0; i < sent; ++i) ASSERT_EQ(cell.pull(*cell.find(kId + i), out, 0), 13U) << i;
  UeParts parts;
  for (std::uint32_t i = 0; i < kChannels; ++i) cell.detach(BearerId{kId + i}, parts);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(Cell, without_a_buffer_for_a_segmented_sdu_the_sdu_is_dropped_and_counted) {
  End a(bearer(RlcMode::kUm)), b(bearer(RlcMode::kUm), 3);
  ASSERT_TRUE(a.send(numbered(1, 100)));
  const Bytes first = a.pull(60), last = a.pull(60);
  b.receive(first);
  const MbufBuffer hog(rte_pktmbuf_alloc(b.pool.get()));
  b.receive(last);
  EXPECT_TRUE(b.delivered.empty());
  EXPECT_EQ(b.dropped(DropReason::rlc_no_buffer), 1U);
  b.expect_account();
}

TEST(Cell, segments_beyond_the_memory_count_as_lost_and_am_brings_them_again) {
  ran::BearerConfig config = bearer(RlcMode::kAm, 18);
  End a(config, 1023, 1000), b(config, 1023, 40, 40);  // b has 40 places for segments
  for (std::uint32_t i = 0; i < 60; ++i) ASSERT_TRUE(a.send(numbered(i, 100)));
  std::vector<Bytes> firsts, lasts;
  for (unsigned i = 0; i < 60; ++i) {
    firsts.push_back(a.pull(50));
    lasts.push_back(a.pull(200));
  }
  for (const Bytes& pdu : firsts) b.receive(pdu);
  EXPECT_GT(b.dropped(DropReason::rlc_no_memory), 0U);
  b.expect_account();
  for (const Bytes& pdu : lasts) b.receive(pdu);
  Time now = 0;
  for (unsigned i = 0; i < 4000 && b.delivered.size() < 60; ++i) {
    now += kMs;
    a.tick(now);
    b.tick(now);
    for (Bytes pdu = a.pull(400); !pdu.empty(); pdu = a.pull(400)) b.receive(pdu);
    for (Bytes pdu = b.pull(400); !pdu.empty(); pdu = b.pull(400)) a.receive(pdu);
  }
  EXPECT_EQ(b.delivered.size(), 60U);
  b.expect_account();
  a.expect_account();
}

// 1 octet of each SDU arrives, then pieces of one octet with gaps: each of them holds a buffer.
TEST(Cell, a_bearer_that_sends_crumbs_takes_an_eighth_of_the_segments_at_most) {
  WorkerStats stats;
  Pool pool(2047);
  Cell cell({.pool = pool.get(), .max_segments = 1024, .ticks_per_ms = kMs}, stats);
  cell.attach(ShardId{2}, 3);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const ran::BearerConfig config = bearer(i == 0 ? RlcMode::kAm : RlcMode::kUm, 12, kId + i);
    auto made = cell.make({&config, 1});
    ASSERT_TRUE(made);
    cell.attach(*made, 0);
  }
  std::size_t delivered = 0;
  const auto receive = [&](std::uint32_t i, const Bytes& pdu) {
    cell.receive(*cell.find(kId + i), MbufBuffer(pool.make(pdu)), 0,
                 [&](const LogicalChannel&, const MbufBuffer&) { ++delivered; });
    EXPECT_LE(pool.in_use(), 2 * 128U);
  };
  const auto crumb = [](bool am, std::uint32_t sn, std::uint16_t so) {
    Bytes pdu(5);
    const auto si = so == 0 ? wire::rlc::Segment::kFirst : wire::rlc::Segment::kMiddle;
    pdu.resize((am ? wire::rlc::write_am(pdu, 12, {.si = si, .so = so, .sn = sn})
                   : wire::rlc::write_um(pdu, 12, {.si = si, .so = so, .sn = sn})) +
               1);
    return pdu;
  };
  for (std::uint16_t so = 0; so < 2000; so += 2) receive(0, crumb(true, 0, so));  // of the SDU that AM waits for
  for (std::uint32_t sn = 1; sn < 600; ++sn) receive(0, crumb(true, sn, 0));
  EXPECT_GE(pool.in_use(), 64U);
  const unsigned of_am = pool.in_use();
  for (std::uint32_t sn = 0; sn < 600; ++sn) receive(1, crumb(false, sn, 0));
  EXPECT_EQ(pool.in_use(), of_am + 128);
  EXPECT_GT(stats.drops[static_cast<std::size_t>(DropReason::rlc_no_memory)].get(), 500U);
  EXPECT_EQ(delivered, 0U);
  // An SDU that comes whole needs no segment.
  Bytes whole(3 + 10);
  (void)wire::rlc::write_am(whole, 12, {.si = wire::rlc::Segment::kComplete, .sn = 700});
  receive(0, whole);
  EXPECT_EQ(delivered, 1U);
  UeParts out;
  for (std::uint32_t i = 0; i < 2; ++i) cell.detach(BearerId{kId + i}, out);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(Cell, a_peer_that_acknowledges_nothing_is_a_failure_until_reestablishment) {
  ran::BearerConfig config = bearer(RlcMode::kAm);
  config.arq.max_retx = 3;
  End a(config), b(config);
  for (std::uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(a.send(numbered(i, 100)));
  Time now = 0;
  for (unsigned i = 0; i < 2000 && !a.channel().has_failed(); ++i) {
    now += kMs;
    a.tick(now);
    while (!a.pull(1000).empty()) {
    }
  }
  ASSERT_TRUE(a.channel().has_failed());
  EXPECT_EQ(a.stats.rlc_max_retx.get() + a.stats.rlc_peer_lost.get(), 1U);
  EXPECT_EQ(a.channel().counters().given_up, 4U);
  EXPECT_EQ(a.cell.held(), 0U);
  EXPECT_EQ(a.pool.in_use(), 0U);
  EXPECT_EQ(a.channel().volume(), 0U);
  EXPECT_FALSE(a.send(numbered(4, 100)));
  ASSERT_TRUE(b.send(numbered(9, 100)));
  a.receive(b.pull(200));
  EXPECT_EQ(a.dropped(DropReason::rlc_failed), 1U);
  a.expect_account();

  a.reestablish();
  b.reestablish();
  EXPECT_EQ(b.channel().counters().given_up, 1U);
  ASSERT_TRUE(a.send(numbered(5, 100)));
  b.receive(a.pull(200));
  EXPECT_EQ(b.delivered, std::vector<Bytes>{numbered(5, 100)});
  a.receive(b.pull(200));
  a.tick(now + kMs);
  EXPECT_EQ(a.cell.held(), 0U);
  a.expect_account();
  b.expect_account();
}

TEST(Cell, a_pdu_that_is_none_is_counted) {
  End a(bearer(RlcMode::kAm)), b(bearer(RlcMode::kUm));
  a.receive({});
  a.receive({0x80});
  a.receive({0x0f, 0xff});  // STATUS that is cut
  b.receive({0xff});
  EXPECT_EQ(a.dropped(DropReason::rlc_malformed), 2U);
  EXPECT_EQ(a.stats.rlc_status_malformed.get(), 1U);
  EXPECT_EQ(b.dropped(DropReason::rlc_malformed), 1U);
  a.expect_account();
  b.expect_account();
}

TEST(Cell, a_ue_has_its_bearers_on_the_lcids_from_4_on) {
  Pool pool;
  WorkerStats stats;
  Cell cell({.pool = pool.get(), .ticks_per_ms = kMs}, stats);
  cell.attach(ShardId{2}, 8);
  std::vector<ran::BearerConfig> bearers;
  for (std::uint32_t i = 0; i < 3; ++i) bearers.push_back(bearer(i == 1 ? RlcMode::kUm : RlcMode::kAm, 12, kId + i));
  auto made = cell.make(bearers);
  ASSERT_TRUE(made);
  const Rnti rnti = made->ue->rnti.value();
  EXPECT_EQ(cell.find(rnti), nullptr) << "it is not in the cell yet";
  cell.attach(*made, 0);
  RadioUe* const ue = cell.find(rnti);
  ASSERT_NE(ue, nullptr);
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(ue->find(4 + i), cell.find(kId + i));
    EXPECT_EQ(ue->find(4 + i)->ue, ue);
  }
  EXPECT_EQ(ue->find(7), nullptr);

  MbufBuffer sdu(pool.make({1, 2, 3}));
  ASSERT_TRUE(cell.send(*cell.find(kId + 1), sdu));
  UeParts out;
  cell.detach(BearerId{kId + 1}, out);
  EXPECT_EQ(cell.held(), 0U);
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(ue->find(5), nullptr);
  EXPECT_EQ(ue->find(6), cell.find(kId + 2));
  cell.detach(BearerId{kId}, out);
  EXPECT_EQ(out.ue, nullptr);
  cell.detach(BearerId{kId + 2}, out);
  EXPECT_NE(out.ue, nullptr);
  EXPECT_EQ(cell.find(rnti), nullptr);
}

// The SDUs of a block: LCID and octets.
std::vector<std::pair<std::uint32_t, std::size_t>> sdus_of(const Bytes& block) {
  std::vector<std::pair<std::uint32_t, std::size_t>> all;
  wire::mac::Cursor cursor(block, Direction::kDownlink);
  for (wire::mac::SubPdu s; cursor.next(s);) {
    if (s.kind == wire::mac::Kind::kSdu) all.emplace_back(s.lcid, s.payload.size());
  }
  EXPECT_EQ(cursor.reason(), wire::Reason::ok);
  return all;
}

TEST(Cell, blocks_of_a_slot_carry_what_waits_of_each_ue) {
  Pool pool(1023);
  WorkerStats stats;
  Cell cell({.pool = pool.get(), .max_sdus = 512, .ticks_per_ms = kMs}, stats);
  cell.attach(ShardId{2}, 8);
  std::vector<Rnti> rntis;
  for (std::uint32_t ue = 0; ue < 2; ++ue) {
    const std::vector bearers{bearer(RlcMode::kAm, 12, kId + 2 * ue), bearer(RlcMode::kUm, 12, kId + 2 * ue + 1)};
    auto made = cell.make(bearers);
    ASSERT_TRUE(made);
    rntis.push_back(made->ue->rnti.value());
    cell.attach(*made, 0);
    for (std::uint32_t i = 0; i < 2; ++i) {
      MbufBuffer sdu(pool.make(numbered(i, 100 + 10 * ue)));
      ASSERT_TRUE(cell.send(*cell.find(kId + 2 * ue + i), sdu));
    }
  }
  std::vector<Bytes> memory(4, Bytes(300, 0xe5));
  std::vector<Cell::BlockOrder> orders{{.rnti = rntis[1], .tb_bytes = 300, .block = memory[0]},
                                       {.rnti = Rnti{77}, .tb_bytes = 300, .block = memory[1]},
                                       {.rnti = rntis[0], .tb_bytes = 0, .block = memory[2]},
                                       {.rnti = Rnti{0xffff}, .tb_bytes = 300, .block = memory[3]}};
  cell.build(orders, 0);
  EXPECT_TRUE(orders[0].built);
  EXPECT_FALSE(orders[1].built || orders[2].built || orders[3].built);
  // Each with its subheader of two octets, and the RLC header: two octets of AM, one of UM.
  EXPECT_EQ(sdus_of(memory[0]), (std::vector<std::pair<std::uint32_t, std::size_t>>{{4, 112}, {5, 111}}));
  EXPECT_EQ(memory[1], Bytes(300, 0xe5));
  EXPECT_EQ(stats.mac_built.get(), 1U);
  EXPECT_EQ(cell.held(), 3U) << "UM's is gone, AM's waits for its acknowledgement";
  EXPECT_LT(cell.next_work(0), TimerNode::kNeverExpires) << "t-PollRetransmit runs";

  orders = {{.rnti = rntis[0], .tb_bytes = 60, .block = memory[2]}};
  cell.build(orders, 0);
  memory[2].resize(60);
  EXPECT_EQ(sdus_of(memory[2]), (std::vector<std::pair<std::uint32_t, std::size_t>>{{4, 58}})) << "a segment fills it";
  UeParts out;
  for (std::uint32_t i = 0; i < 4; ++i) cell.detach(BearerId{kId + i}, out);
  EXPECT_EQ(cell.held(), 0U);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(Cell, a_block_without_sense_or_buffers_is_counted_at_its_ue) {
  End a(bearer(RlcMode::kAm)), b(bearer(RlcMode::kAm), 1);
  ASSERT_TRUE(a.send(numbered(1, 50)));
  Bytes block(100);
  std::vector<Cell::BlockOrder> orders{{.rnti = a.channel().ue->rnti.value(), .tb_bytes = 100, .block = block}};
  a.cell.build(orders, 0);
  ASSERT_TRUE(orders[0].built);
  RadioUe& ue = *b.channel().ue;
  unsigned pdus = 0;
  const auto take = [&](LogicalChannel& channel, rte_mbuf* m) {
    ++pdus;
    EXPECT_EQ(&channel, &b.channel());
    rte_pktmbuf_free(m);
  };
  b.cell.demultiplex(ue, block, take);
  EXPECT_EQ(pdus, 1U);
  block[0] = 5;  // an LCID that the UE does not have
  b.cell.demultiplex(ue, block, take);
  block[0] = 4;
  const MbufBuffer hog(rte_pktmbuf_alloc(b.pool.get()));
  b.cell.demultiplex(ue, block, take);
  b.cell.demultiplex(ue, {}, take);
  EXPECT_EQ(pdus, 1U);
  EXPECT_EQ(ue.demux.of(ran::mac::MacDrop::no_channel), 1U);
  EXPECT_EQ(ue.demux.of(ran::mac::MacDrop::no_buffer), 1U);
  EXPECT_EQ(ue.demux.of(ran::mac::MacDrop::empty_block), 1U);
  EXPECT_EQ(b.stats.mac_received.get(), 4U);
  EXPECT_EQ(b.stats.mac_no_buffer.get(), 1U);
  EXPECT_EQ(ue.view().drops.size(), 3U);
}

TEST(Cell, a_session_with_too_many_bearers_is_refused) {
  Pool pool;
  WorkerStats stats;
  Cell cell({.pool = pool.get(), .ticks_per_ms = kMs}, stats);
  const std::vector<ran::BearerConfig> bearers(30, bearer(RlcMode::kAm));
  EXPECT_EQ(cell.make(bearers).error().message, "30 bearers of one UE; allowed: at most 29");
}

}  // namespace
}  // namespace splitplane::datapath::test
