// UEs against a gNB's cell, slot by slot: loss, HARQ, reports and requests, re-establishment, and blocks that no gNB
// sends. The account adds up, and every buffer comes back.
#include "ue/terminal/terminal_cell.h"

#include "ue/terminal/test_gnb.h"

namespace splitplane::ue {
namespace {

using namespace test;

// UEs without PDCP: it keeps the SDUs that RLC completes.
class Ues : public SduSink {
 public:
  explicit Ues(TerminalCell::Settings settings = {}, unsigned mbufs = 4095)
      : pool(mbufs), cell(with_pool(settings, pool), *this) {}
  ~Ues() override {
    for (UeBearer& one : bearers) release(one.config.id);
    EXPECT_EQ(cell.size(), 0U);
    EXPECT_EQ(cell.rlc().held(), 0U);
    EXPECT_TRUE(cell.rlc().idle());
    EXPECT_EQ(cell.stats().grants_waiting.get(), 0U);
    expect_account();
  }

  TerminalChannel& add(const ran::BearerConfig& config, std::uint32_t ue, phy::Rnti rnti, std::uint32_t lcid = 4) {
    UeBearer& line = bearers.emplace_back();
    line.config = config;
    auto parts = cell.make(config, lcid);
    EXPECT_TRUE(cell.attach(ue, rnti, line, parts));
    return *cell.find(config.id);
  }
  void release(BearerId id) {
    TerminalCell::Parts parts;
    cell.detach(id, parts);
  }
  bool send(TerminalChannel& to, const Bytes& sdu) {
    if (!cell.has_room() || to.room() == 0) return false;
    MbufBuffer buffer(pool.make(sdu));
    return buffer && cell.send(to, buffer);
  }
  void take(std::span<RlcSdu> sdus) override {
    EXPECT_LE(sdus.size(), std::size_t{datapath::kBurst});
    for (RlcSdu& one : sdus) {
      received[one.from->id()].push_back(octets_of(one.sdu));
      one.sdu.release();
    }
  }
  void expect_account() {
    EXPECT_TRUE(cell.stats().balanced());
    std::uint64_t all = 0;
    for (const auto& [id, sdus] : received) all += sdus.size();
    EXPECT_EQ(cell.stats().sdus.get(), all);
    const auto& d = cell.stats().demux;
    EXPECT_EQ(d.octets, d.sdu_octets + d.element_octets + d.padding_octets + d.subheader_octets + d.dropped_octets);
  }

  Pool pool;
  std::deque<UeBearer> bearers;
  std::map<BearerId, std::vector<Bytes>> received;
  TerminalCell cell;

 private:
  static TerminalCell::Settings with_pool(TerminalCell::Settings settings, const Pool& pool) {
    settings.rlc.pool = pool.get();
    settings.rlc.ticks_per_ms = kMs;
    return settings;
  }
};

// Both ends with the same bearers.
struct Ends {
  explicit Ends(const TerminalCell::Settings& settings = {}, unsigned mbufs = 4095) : ues(settings, mbufs), gnb(mbufs) {
    gnb.deliver = [this](LogicalChannel& from, MbufBuffer sdu) { up[from.id()].push_back(octets_of(sdu)); };
  }
  Gnb::Ue& add(const std::vector<ran::BearerConfig>& bearers) {
    Gnb::Ue& ue = gnb.add(bearers);
    for (std::size_t i = 0; i < bearers.size(); ++i) {
      ues.add(bearers[i], bearers.front().id.value, ue.rnti, static_cast<std::uint32_t>(4 + i));
    }
    return ue;
  }
  void run(unsigned slots = 1) {
    for (; slots != 0; --slots) {
      gnb.run(ues.cell);
      ues.cell.serve(gnb.now);
    }
  }
  bool run_until_silent(unsigned most = 20000) {
    for (; most != 0 && !(gnb.silent() && ues.cell.rlc().held() == 0); --most) run();
    run(60);  // STATUS PDUs that are due, and their acknowledgements
    return most != 0;
  }
  bool send_down(BearerId id, const Bytes& sdu) { return gnb.send(id, MbufBuffer(gnb.pool.make(sdu))); }
  bool send_up(BearerId id, const Bytes& sdu) { return ues.send(*ues.cell.find(id), sdu); }

  Ues ues;
  Gnb gnb;
  std::map<BearerId, std::vector<Bytes>> up;
};

void expect_all(std::vector<Bytes> received, const std::vector<Bytes>& sent, bool in_order) {
  if (!in_order) std::ranges::sort(received, {}, number_of);
  EXPECT_EQ(received.size(), sent.size());
  EXPECT_TRUE(received == sent);
}

struct Variant {
  RlcMode mode;
  std::uint8_t sn_bits;
  unsigned loss;  // percent of blocks
  unsigned dci;   // percent of DCIs
};
class BothEnds : public testing::TestWithParam<Variant> {};

TEST_P(BothEnds, sdus_cross_in_both_directions) {
  const Variant v = GetParam();
  std::mt19937 random(5);
  Ends ends;
  ends.gnb.loss = {v.loss, v.loss, v.dci};
  const std::vector bearers{bearer(1, v.mode, v.sn_bits), bearer(2, v.mode, v.sn_bits)};
  (void)ends.add(bearers);
  const ran::BearerConfig alone = bearer(3, v.mode, v.sn_bits);
  (void)ends.add({alone});
  std::map<BearerId, std::vector<Bytes>> down, up;
  for (unsigned slot = 0; slot < 600; ++slot) {
    for (const BearerId id : {bearers[0].id, bearers[1].id, alone.id}) {
      if (random() % 3 == 0) {
        const Bytes sdu = numbered(static_cast<std::uint32_t>(down[id].size()), 4 + random() % 1500);
        if (ends.send_down(id, sdu)) down[id].push_back(sdu);
      }
      if (random() % 3 == 0) {
        const Bytes sdu = numbered(static_cast<std::uint32_t>(up[id].size()), 4 + random() % 1500);
        if (ends.send_up(id, sdu)) up[id].push_back(sdu);
      }
    }
    ends.run();
  }
  EXPECT_TRUE(ends.run_until_silent());
  const bool is_whole = v.mode == RlcMode::kAm || v.loss + v.dci == 0;
  for (const auto& [id, sent] : down) {
    ASSERT_GT(sent.size(), 100U);
    if (is_whole) expect_all(ends.ues.received[id], sent, v.loss + v.dci == 0);
    for (const Bytes& sdu : ends.ues.received[id]) EXPECT_EQ(sdu, sent[number_of(sdu)]);
    EXPECT_GT(ends.ues.received[id].size(), sent.size() * 8 / 10);
  }
  for (const auto& [id, sent] : up) {
    ASSERT_GT(sent.size(), 100U);
    if (is_whole) expect_all(ends.up[id], sent, v.loss + v.dci == 0);
    for (const Bytes& sdu : ends.up[id]) EXPECT_EQ(sdu, sent[number_of(sdu)]);
    EXPECT_GT(ends.up[id].size(), sent.size() * 8 / 10);
  }
  const TerminalStats& stats = ends.ues.cell.stats();
  EXPECT_GT(stats.requests.get(), 0U);
  EXPECT_GT(ends.gnb.short_bsrs, 0U);
  EXPECT_GT(ends.gnb.long_bsrs, 0U);
  EXPECT_GT(ends.gnb.power_reports, 0U);
  EXPECT_EQ(stats.counted(GrantOutcome::no_place) + stats.counted(GrantOutcome::too_large) +
                stats.counted(GrantOutcome::unknown_rnti),
            0U);
  if (v.loss != 0) {
    EXPECT_GT(stats.counted(DownlinkBlock::not_decoded), 0U);
    EXPECT_GT(stats.counted(GrantOutcome::repetition), 0U);
    EXPECT_EQ(v.dci == 0, ends.gnb.repetitions != 0);
  } else if (v.dci == 0) {
    EXPECT_EQ(stats.counted(DownlinkBlock::not_decoded) + stats.counted(GrantOutcome::repetition), 0U);
  }
  ends.ues.expect_account();
}

INSTANTIATE_TEST_SUITE_P(Loss, BothEnds,
                         testing::Values(Variant{RlcMode::kAm, 18, 0, 0}, Variant{RlcMode::kAm, 12, 5, 0},
                                         Variant{RlcMode::kAm, 18, 30, 0}, Variant{RlcMode::kAm, 18, 10, 5},
                                         Variant{RlcMode::kUm, 12, 0, 0}, Variant{RlcMode::kUm, 12, 5, 0},
                                         Variant{RlcMode::kUm, 6, 30, 0}));

phy::Grant grant(phy::Rnti rnti, std::uint8_t process, std::uint8_t ndi, std::uint32_t bytes, phy::Slot slot = {}) {
  return {.slot = slot, .rnti = rnti, .process = process, .ndi = ndi, .tb_bytes = bytes};
}
// A block with the one PDU that the gNB's channel has.
Bytes block_of(Gnb& gnb, BearerId id, std::size_t bytes) {
  Bytes block(bytes);
  datapath::Cell::BlockOrder order{.rnti = gnb.channel(id).ue->rnti.value(), .tb_bytes = bytes, .block = block};
  gnb.cell.build({&order, 1}, gnb.now);
  return block;
}

TEST(TerminalCell, a_block_is_handed_on_once_and_answered_each_time) {
  Ends ends;
  const auto config = bearer(1);
  const phy::Rnti rnti = ends.add({config}).rnti;
  ASSERT_TRUE(ends.send_down(config.id, numbered(1, 50)));
  const Bytes block = block_of(ends.gnb, config.id, 80);
  phy::Terminals& ue = ends.ues.cell;
  EXPECT_EQ(ue.receive(grant(rnti, 3, 1, 80), block, false, {}), phy::Answer::kNack);
  EXPECT_EQ(ue.receive(grant(rnti, 3, 1, 80), block, true, {}), phy::Answer::kAck) << "NACK, then ACK";
  EXPECT_EQ(ue.receive(grant(rnti, 3, 1, 80), block, true, {}), phy::Answer::kAck) << "the ACK was lost";
  EXPECT_EQ(ue.receive(grant(rnti, 16, 1, 80), block, true, {}), phy::Answer::kNone);
  EXPECT_EQ(ue.receive(grant(99, 3, 0, 80), block, true, {}), phy::Answer::kNone);
  ue.end_slot({});
  EXPECT_EQ(ends.ues.received[config.id], std::vector<Bytes>{numbered(1, 50)});
  const TerminalStats& stats = ends.ues.cell.stats();
  for (std::size_t i = 0; i < kDownlinkBlockCount; ++i) EXPECT_EQ(stats.blocks[i].get(), 1U) << kDownlinkBlockNames[i];
}

TEST(TerminalCell, a_repetition_has_the_same_octets_though_more_waits_now) {
  Ends ends;
  const auto config = bearer(1);
  const phy::Rnti rnti = ends.add({config}).rnti;
  TerminalCell& ue = ends.ues.cell;
  ASSERT_TRUE(ends.send_up(config.id, numbered(1, 500)));
  const auto transmit = [&](std::uint8_t ndi, unsigned slot) {
    ue.granted(grant(rnti, 0, ndi, 200, phy::slot_at({}, slot)));
    const auto sent = ue.transmit(rnti, phy::slot_at({}, slot));
    return Bytes(sent.begin(), sent.end());
  };
  const Bytes first = transmit(1, 1);
  ASSERT_EQ(first.size(), 200U);
  ASSERT_TRUE(ends.send_up(config.id, numbered(2, 500)));
  EXPECT_EQ(transmit(1, 2), first);
  EXPECT_NE(transmit(0, 3), first);
  ue.granted(grant(rnti, 0, 0, 100, phy::slot_at({}, 4)));
  EXPECT_TRUE(ue.transmit(rnti, phy::slot_at({}, 4)).empty()) << "a repetition of another size";
  EXPECT_EQ(ue.stats().counted(GrantOutcome::size_differs), 1U);
}

TEST(TerminalCell, grants_are_for_their_slots) {
  Ends ends;
  const phy::Rnti rnti = ends.add({bearer(1)}).rnti;
  TerminalCell& ue = ends.ues.cell;
  const auto at = [](unsigned n) { return phy::slot_at({}, n); };
  ue.end_slot(at(9));
  ue.granted(grant(rnti, 0, 1, 20, at(12)));
  ue.granted(grant(rnti, 1, 1, 20, at(12)));  // another one for that slot
  ue.granted(grant(rnti, 2, 1, 20, at(13)));
  ue.granted(grant(rnti, 20, 1, 20, at(14)));
  ue.granted(grant(rnti, 3, 1, 1'000'000, at(15)));
  ue.granted(grant(77, 3, 1, 20, at(15)));
  EXPECT_TRUE(ue.transmit(rnti, at(11)).empty());
  EXPECT_EQ(ue.transmit(rnti, at(12)).size(), 20U);
  EXPECT_TRUE(ue.transmit(rnti, at(12)).empty());
  EXPECT_TRUE(ue.transmit(rnti, at(14)).empty());
  EXPECT_TRUE(ue.transmit(rnti, at(15)).empty());
  ue.end_slot(at(15));
  for (unsigned n = 0; n < 20; ++n) ue.granted(grant(rnti, 0, 0, 20, at(20 + n)));
  const TerminalStats& stats = ue.stats();
  EXPECT_EQ(stats.counted(GrantOutcome::not_used), 1U);
  EXPECT_EQ(stats.counted(GrantOutcome::wrong_process), 1U);
  EXPECT_EQ(stats.counted(GrantOutcome::too_large), 1U);
  EXPECT_EQ(stats.counted(GrantOutcome::unknown_rnti), 1U);
  EXPECT_EQ(stats.counted(GrantOutcome::no_place), 1U + 4U) << "16 are kept";
  EXPECT_EQ(stats.grants_waiting.get(), 16U);
  EXPECT_TRUE(stats.balanced());
  ue.end_slot(at(9000));  // frame numbers have begun anew
  ue.granted(grant(rnti, 0, 0, 20, at(9001)));
  EXPECT_EQ(stats.grants_waiting.get(), 1U);
}

TEST(TerminalCell, a_request_is_sent_once_for_data_without_a_grant_until_the_timer_ends) {
  Ends ends({.mac = {.sr_prohibit_ms = 5}});
  const auto config = bearer(1);
  const phy::Rnti rnti = ends.add({config}).rnti;
  TerminalCell& ue = ends.ues.cell;
  const auto at = [](unsigned n) { return phy::slot_at({}, n); };
  EXPECT_FALSE(ue.requests(rnti, at(0))) << "nothing waits";
  ASSERT_TRUE(ends.send_up(config.id, numbered(1, 500)));
  EXPECT_TRUE(ue.requests(rnti, at(1)));
  EXPECT_FALSE(ue.requests(rnti, at(2)));
  ue.serve(5 * kMs);
  EXPECT_TRUE(ue.requests(rnti, at(3)));
  ue.serve(20 * kMs);
  ue.granted(grant(rnti, 0, 1, 60, at(8)));
  EXPECT_FALSE(ue.requests(rnti, at(4))) << "a grant comes";
  ASSERT_EQ(ue.transmit(rnti, at(8)).size(), 60U);
  EXPECT_FALSE(ue.requests(rnti, at(9))) << "the report is in that block";
  ue.serve(20 * kMs + 81 * kMs);
  EXPECT_TRUE(ue.requests(rnti, at(10))) << "retxBSR-Timer: the gNB has not answered it";
  EXPECT_FALSE(ue.requests(66, at(10)));
  EXPECT_EQ(ue.stats().requests.get(), 3U);
}

TEST(TerminalCell, when_all_memory_for_blocks_is_in_use_the_oldest_one_goes) {
  Ends ends({.blocks = 4, .block_bytes = 3100});
  for (unsigned i = 1; i <= 6; ++i) (void)ends.add({bearer(i)});
  ends.gnb.loss.up = 10;
  std::map<BearerId, std::vector<Bytes>> up;
  for (std::uint32_t n = 0; n < 30; ++n) {
    for (unsigned i = 1; i <= 6; ++i) {
      const BearerId id = bearer(i).id;
      up[id].push_back(numbered(n, 300));
      ASSERT_TRUE(ends.send_up(id, up[id].back()));
    }
  }
  ends.gnb.loss.dci = 1;  // a block that is gone is no repetition of the one before
  EXPECT_TRUE(ends.run_until_silent());
  for (const auto& [id, sent] : up) expect_all(ends.up[id], sent, false);
  EXPECT_GT(ends.ues.cell.stats().blocks_taken_back.get(), 0U);
  EXPECT_LE(ends.ues.cell.blocks_free(), 4U);
}

TEST(TerminalCell, blocks_of_the_present_slot_stay) {
  Ends ends({.blocks = 2, .block_bytes = 100});
  std::vector<phy::Rnti> rntis;
  for (unsigned i = 1; i <= 3; ++i) rntis.push_back(ends.add({bearer(i)}).rnti);
  TerminalCell& ue = ends.ues.cell;
  const auto transmit = [&](phy::Rnti rnti, std::uint8_t ndi, unsigned slot) {
    ue.granted(grant(rnti, 0, ndi, 50, phy::slot_at({}, slot)));
    return ue.transmit(rnti, phy::slot_at({}, slot)).size();
  };
  EXPECT_EQ(transmit(rntis[0], 1, 1), 50U);
  EXPECT_EQ(transmit(rntis[1], 1, 1), 50U);
  EXPECT_EQ(transmit(rntis[2], 1, 1), 0U);
  EXPECT_EQ(ue.stats().counted(GrantOutcome::no_memory), 1U);
  ue.end_slot(phy::slot_at({}, 1));
  EXPECT_EQ(transmit(rntis[0], 1, 2), 50U) << "it is sent again, so it is not the oldest one";
  EXPECT_EQ(transmit(rntis[2], 1, 2), 50U);
  EXPECT_EQ(transmit(rntis[1], 1, 2), 0U) << "its block is gone, and there is no other one in this slot";
  EXPECT_EQ(ue.stats().blocks_taken_back.get(), 1U);
}

TEST(TerminalCell, many_ues) {
  constexpr unsigned kUes = 1500;
  Ends ends({.rlc = {.max_sdus = 8192, .max_channels = 2 * kUes}, .blocks = 2 * kUes, .block_bytes = 3100}, 16383);
  ends.gnb.loss = {5, 5, 0};
  std::map<BearerId, std::vector<Bytes>> down, up;
  for (unsigned i = 1; i <= kUes; ++i) {
    const auto config = bearer(i);
    (void)ends.add({config});
  }
  EXPECT_EQ(ends.ues.cell.size(), std::size_t{kUes});
  for (unsigned i = 1; i <= kUes; ++i) {
    const BearerId id = bearer(i).id;
    down[id] = {numbered(i, 400)};
    up[id] = {numbered(i + 1, 300)};
    if (!ends.send_down(id, down[id][0])) down.erase(id);
    if (!ends.send_up(id, up[id][0])) up.erase(id);
  }
  EXPECT_GT(down.size(), 1000U);
  EXPECT_GT(up.size(), 1000U);
  EXPECT_TRUE(ends.run_until_silent(2000));
  for (const auto& [id, sent] : down) EXPECT_EQ(ends.ues.received[id], sent);
  for (const auto& [id, sent] : up) EXPECT_EQ(ends.up[id], sent);
}

TEST(TerminalCell, another_c_rnti_resets_mac_and_other_bearers_go_on) {
  Ends ends;
  const std::vector bearers{bearer(1), bearer(2)};
  Gnb::Ue& ue = ends.add(bearers);
  ends.gnb.loss = {20, 20, 0};
  ends.gnb.most_down = ends.gnb.most_up = 300;
  std::vector<Bytes> down, up;
  for (std::uint32_t n = 0; n < 40; ++n) {
    down.push_back(numbered(n, 200));
    up.push_back(numbered(n, 200));
    for (const auto& one : bearers) {
      ASSERT_TRUE(ends.send_down(one.id, down.back()));
      ASSERT_TRUE(ends.send_up(one.id, up.back()));
    }
  }
  ends.run(20);
  const phy::Rnti before = ue.rnti;
  ends.gnb.reestablish(ue, bearers[0].id);
  ends.run(10);  // the UE does not know it yet
  EXPECT_GT(ends.ues.cell.stats().counted(DownlinkBlock::unknown_rnti), 0U);
  TerminalChannel& channel = *ends.ues.cell.find(bearers[0].id);
  ends.ues.cell.reestablish(channel, 1);
  ends.ues.cell.move(*channel.terminal, ue.rnti);
  EXPECT_EQ(ends.ues.cell.find(before), nullptr);
  EXPECT_EQ(ends.ues.cell.find(ue.rnti), channel.terminal);
  EXPECT_EQ(ends.ues.cell.stats().resets.get(), 1U);
  const std::size_t down_before = ends.ues.received[bearers[0].id].size(), up_before = ends.up[bearers[0].id].size();
  ASSERT_TRUE(ends.send_down(bearers[0].id, numbered(7, 70)));
  ASSERT_TRUE(ends.send_up(bearers[0].id, numbered(8, 80)));
  EXPECT_TRUE(ends.run_until_silent());
  ASSERT_EQ(ends.ues.received[bearers[0].id].size(), down_before + 1) << "it began anew";
  EXPECT_EQ(ends.ues.received[bearers[0].id].back(), numbered(7, 70));
  ASSERT_EQ(ends.up[bearers[0].id].size(), up_before + 1);
  EXPECT_EQ(ends.up[bearers[0].id].back(), numbered(8, 80));
  expect_all(ends.ues.received[bearers[1].id], down, false);
  expect_all(ends.up[bearers[1].id], up, false);
  EXPECT_GT(ends.ues.cell.stats().given_up.get(), 0U);
}

TEST(TerminalCell, a_c_rnti_belongs_to_the_ue_that_got_it_last) {
  Ues ues;
  TerminalChannel& a = ues.add(bearer(1), 1, 30);
  TerminalChannel& b = ues.add(bearer(2), 2, 30);
  EXPECT_EQ(ues.cell.find(phy::Rnti{30}), b.terminal);
  ues.cell.move(*a.terminal, 31);
  EXPECT_EQ(ues.cell.find(phy::Rnti{30}), b.terminal);
  EXPECT_EQ(ues.cell.find(phy::Rnti{31}), a.terminal);
  ues.release(b.id());
  EXPECT_EQ(ues.cell.find(phy::Rnti{30}), nullptr);
}

TEST(TerminalCell, a_channel_that_has_no_place_is_refused) {
  Ues ues;
  (void)ues.add(bearer(1), 1, 30);
  UeBearer line;
  line.config = bearer(2);
  for (const std::uint32_t lcid : {4U, 3U, 33U}) {
    auto parts = ues.cell.make(line.config, lcid);
    EXPECT_FALSE(ues.cell.attach(1, 30, line, parts)) << lcid;
    EXPECT_FALSE(ues.cell.attach(2, 31, line, parts) && lcid != 4) << "a UE without a channel is none";
    ues.release(line.config.id);
  }
  EXPECT_EQ(ues.cell.size(), 1U);
}

TEST(TerminalCell, what_is_held_when_a_bearer_is_released_comes_back) {
  Ends ends;
  const std::vector bearers{bearer(1), bearer(2, RlcMode::kUm)};
  (void)ends.add(bearers);
  ends.gnb.most_down = ends.gnb.most_up = 100;
  for (std::uint32_t n = 0; n < 20; ++n) {
    for (const auto& one : bearers) {
      ASSERT_TRUE(ends.send_down(one.id, numbered(n, 900)));
      ASSERT_TRUE(ends.send_up(one.id, numbered(n, 900)));
    }
  }
  ends.run(30);  // segments at both ends, blocks in HARQ processes, grants for slots to come
  EXPECT_GT(ends.ues.cell.stats().grants_waiting.get(), 0U);
  EXPECT_GT(ends.ues.pool.in_use(), 40U);
  for (const auto& one : bearers) ends.ues.release(one.id);
  EXPECT_EQ(ends.ues.pool.in_use(), 0U);
  EXPECT_EQ(ends.ues.cell.size(), 0U);
  EXPECT_EQ(ends.ues.cell.blocks_free(), 512U);
  EXPECT_EQ(ends.ues.cell.stats().given_up.get(), 40U - ends.up[bearers[0].id].size() - ends.up[bearers[1].id].size());
  ends.run(10);
  EXPECT_GT(ends.ues.cell.stats().counted(DownlinkBlock::unknown_rnti), 0U);
}

// Octets of a good block, cut and spoiled, and octets at random: nothing is lost track of.
TEST(TerminalCell, blocks_that_no_gnb_sends_are_dropped_and_counted) {
  Ends ends;
  const std::vector bearers{bearer(1), bearer(2, RlcMode::kUm)};
  const phy::Rnti rnti = ends.add(bearers).rnti;
  TerminalCell& ue = ends.ues.cell;
  std::mt19937 random(3);
  std::uint8_t ndi = 0;
  Time now = 0;
  const auto receive = [&](wire::Octets block) {
    ndi ^= 1;
    // In memory of its own, so that a sanitizer sees a read beyond it.
    const Bytes copy(block.begin(), block.end());
    EXPECT_EQ(ue.receive(grant(rnti, 0, ndi, static_cast<std::uint32_t>(copy.size())), copy, true, {}),
              phy::Answer::kAck);
    ue.end_slot({});
    ue.serve(now += kMs);
  };
  for (std::uint32_t n = 0; n < 4; ++n) {
    for (const auto& one : bearers) ASSERT_TRUE(ends.send_down(one.id, numbered(n, 60)));
  }
  const Bytes good = block_of(ends.gnb, bearers[0].id, 420);
  for (std::size_t bytes = 0; bytes <= good.size(); ++bytes) receive(wire::Octets(good).first(bytes));
  for (unsigned n = 0; n < 20000; ++n) {
    Bytes block = n % 2 == 0 ? good : Bytes(1 + random() % 200);
    if (n % 2 == 0) {
      for (unsigned change = 0; change < 3; ++change)
        block[random() % block.size()] = static_cast<std::uint8_t>(random());
    } else {
      for (auto& octet : block) octet = static_cast<std::uint8_t>(random());
    }
    receive(block);
  }
  const auto& d = ue.stats().demux;
  EXPECT_GT(d.of(ran::mac::MacDrop::bad_length), 100U);
  EXPECT_GT(d.of(ran::mac::MacDrop::no_channel), 100U);
  EXPECT_GT(d.of(ran::mac::MacDrop::unknown_lcid), 100U);
  EXPECT_EQ(d.of(ran::mac::MacDrop::empty_block), 1U);
  EXPECT_GT(ue.stats().counted(RlcPduOutcome::malformed), 100U);
  ends.ues.expect_account();
}

TEST(TerminalCell, without_buffers_pdus_are_dropped_and_rlc_am_brings_them_again) {
  Ends ends({}, 255);
  const auto config = bearer(1);
  (void)ends.add({config});
  std::vector<rte_mbuf*> hogs;
  while (rte_mbuf* const m = rte_pktmbuf_alloc(ends.ues.pool.get())) hogs.push_back(m);
  const std::vector<Bytes> sent{numbered(0, 700), numbered(1, 700)};
  for (const Bytes& sdu : sent) ASSERT_TRUE(ends.send_down(config.id, sdu));
  ends.run(10);
  EXPECT_GT(ends.ues.cell.stats().demux.of(ran::mac::MacDrop::no_buffer), 0U);
  EXPECT_TRUE(ends.ues.received[config.id].empty());
  rte_pktmbuf_free_bulk(hogs.data(), static_cast<unsigned>(hogs.size()));
  EXPECT_TRUE(ends.run_until_silent());
  expect_all(ends.ues.received[config.id], sent, false);
}

TEST(TerminalCell, a_gnb_that_acknowledges_nothing_is_a_failure_of_the_bearer) {
  Ends ends;
  auto config = bearer(1);
  config.arq.max_retx = 2;
  (void)ends.add({config});
  ASSERT_TRUE(ends.send_up(config.id, numbered(1, 100)));
  ends.gnb.loss.down = 100;  // of STATUS PDUs
  ends.run(1000);
  TerminalChannel& channel = *ends.ues.cell.find(config.id);
  EXPECT_TRUE(channel.has_failed());
  EXPECT_EQ(ends.ues.cell.stats().max_retx.get() + ends.ues.cell.stats().peer_lost.get(), 1U);
  EXPECT_EQ(ends.ues.pool.in_use(), 0U);
  EXPECT_EQ(channel.room(), 0U);
  ends.gnb.loss.down = 0;
  ends.run(20);
  EXPECT_FALSE(ends.ues.cell.requests(ends.gnb.ues[0].rnti, ends.gnb.slot)) << "it has nothing to send any more";
}

// Else the first block of a process whose NDI is that of before would be taken for a repetition.
TEST(TerminalCell, harq_of_both_directions_begins_anew_with_the_phy) {
  Ues ues;
  ASSERT_TRUE(ues.send(ues.add(bearer(1), 1, 100), Bytes(300)));
  phy::Grant up{}, down{};
  up.direction = Direction::kUplink;
  down.direction = Direction::kDownlink;
  up.rnti = down.rnti = 100;
  up.tb_bytes = 200;
  const Bytes padding{63, 0, 0, 0};
  const auto use = [&](unsigned slot) {
    up.slot = down.slot = phy::Slot{{1}, 5, static_cast<std::uint8_t>(slot)};
    ues.cell.granted(up);
    EXPECT_EQ(ues.cell.transmit(100, up.slot).size(), 200U);
    EXPECT_EQ(ues.cell.receive(down, padding, true, down.slot), phy::Answer::kAck);
    ues.cell.end_slot(up.slot);
  };
  use(7);
  up.slot = phy::Slot{{1}, 5, 9};
  ues.cell.granted(up);
  ues.cell.phy_starts();
  EXPECT_EQ(ues.cell.stats().counted(GrantOutcome::given_up), 1U);
  use(0);
  EXPECT_EQ(ues.cell.stats().counted(GrantOutcome::new_block), 2U);
  EXPECT_EQ(ues.cell.stats().counted(DownlinkBlock::delivered), 2U);
}

// The control thread destroys it, while the PHY's thread goes on with what all UEs share.
TEST(TerminalCell, a_ue_that_has_left_holds_no_block_and_no_grant) {
  Ues ues;
  ASSERT_TRUE(ues.send(ues.add(bearer(1), 1, 100), Bytes(100)));
  phy::Grant grant{};
  grant.direction = Direction::kUplink;
  grant.rnti = 100;
  grant.tb_bytes = 200;
  grant.slot = phy::Slot{{1}, 5, 3};
  ues.cell.granted(grant);
  ASSERT_EQ(ues.cell.transmit(100, grant.slot).size(), 200U);
  grant.slot = phy::Slot{{1}, 5, 9};
  grant.process = 4;
  ues.cell.granted(grant);
  const std::size_t before = ues.cell.blocks_free();
  TerminalCell::Parts parts;
  ues.cell.detach(bearer(1).id, parts);
  ASSERT_NE(parts.terminal, nullptr);
  EXPECT_EQ(ues.cell.blocks_free(), before + 1);
  EXPECT_EQ(ues.cell.stats().grants_waiting.get(), 0U);
  EXPECT_EQ(ues.cell.stats().counted(GrantOutcome::given_up), 1U);
  EXPECT_EQ(ues.cell.stats().resets.get(), 0U);
  parts = {};
  EXPECT_EQ(ues.cell.blocks_free(), before + 1);
}

}  // namespace
}  // namespace splitplane::ue
