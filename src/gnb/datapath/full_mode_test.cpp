// A gNB worker in full mode: what the UE deciphers of RLC PDUs that were cut to grants, the uplink back to N3, and an
// account that adds up.
#include <gtest/gtest.h>

#include <random>

#include "gnb/datapath/gnb.h"
#include "gnb/datapath/test_gnb.h"
#include "secured/test_key_file.h"

namespace splitplane::datapath::test {
namespace {

constexpr std::uint32_t kFirst = 5;  // the index of the bearer, or of the session's first

ran::BearerConfig full_config(RlcMode mode, std::uint8_t rlc_sn_bits, std::uint8_t pdcp_sn_bits, bool sdap = true) {
  return {.rlc_mode = mode,
          .rlc_sn_bits = rlc_sn_bits,
          .pdcp_sn_bits = pdcp_sn_bits,
          .sdap_header_dl = sdap,
          .sdap_header_ul = sdap,
          .arq = {.t_poll_retransmit_ms = 2, .t_reassembly_ms = 2, .t_status_prohibit_ms = 0},
          .security = ran::SecurityConfig{.key = 3, .drb = 7, .t_reordering_ms = 10}};
}

// A gNB worker in full mode, and a UE with the same entities.
struct FullRig : TestGnb {
  explicit FullRig(const ran::BearerConfig& bearer) {
    start();
    add(kFirst, bearer, kPeerV4);
    enter({&config(kFirst), 1});
  }
  // A session with three bearers, at kFirst and behind it.
  explicit FullRig(const ran::SessionConfig& session) {
    start();
    add_session(kFirst);
    std::vector<ran::BearerConfig> bearers;
    for (std::uint32_t i = 0; i < 3; ++i) {
      ran::SessionBearer one = session.bearers[i];
      one.config.id = BearerId{teid(kFirst + i)};
      one.config.rlc_mode = i == 1 ? RlcMode::kUm : RlcMode::kAm;
      one.config.rlc_sn_bits = 12;
      one.config.security = ran::SecurityConfig{.key = 3 + i, .drb = one.drb.value, .t_reordering_ms = 10};
      add(kFirst + i, one.config, kPeerV4);
      downlink[i == 0 ? kFirst + 3 : kFirst + i] = ran::make_session_bearer(one);
      uplink[kFirst + i] = ran::make_session_uplink(config(kFirst + i), PeerId{kPeerV4});
      bearers.push_back(config(kFirst + i));
    }
    downlink[kFirst] = ran::make_session(ran::test::make_session_config(teid(kFirst)));
    enter(bearers);
  }
  ~FullRig() {
    UeParts out;
    for (const auto& one : ue) {
      const std::uint32_t id = one.pdcp->id.value;
      context->pdcp->detach(*context->secured_bearers.find(id));
      ue_pdcp->detach(*one.pdcp);
      context->cell->detach(BearerId{id}, out);
      ue_cell->detach(BearerId{id}, out);
      context->secured_bearers.exchange(id, nullptr);
    }
    EXPECT_EQ(pool.in_use(), 0U);
  }

  void downlink_burst(const std::vector<Bytes>& frames) {
    Burst burst = burst_of(pool, frames);
    gnb_down.process(burst);
  }
  LogicalChannel& channel(std::uint32_t index = kFirst) { return *context->cell->find(teid(index)); }
  LogicalChannel& ue_channel(std::uint32_t index = kFirst) { return *ue_cell->find(teid(index)); }
  // The next RLC PDU of the gNB; empty: none.
  Bytes pull(std::size_t grant, std::uint32_t index = kFirst) {
    Bytes out(grant);
    out.resize(context->cell->pull(channel(index), out, rte_rdtsc()));
    return out;
  }
  Bytes ue_pull(std::size_t grant, std::uint32_t index = kFirst) {
    Bytes out(grant);
    out.resize(ue_cell->pull(ue_channel(index), out, rte_rdtsc()));
    return out;
  }
  // What the UE delivers of an RLC PDU, with the SDAP octet.
  std::vector<Bytes> at_ue(const Bytes& pdu, std::uint32_t index = kFirst) {
    std::vector<Bytes> delivered;
    ue_cell->receive(ue_channel(index), MbufBuffer(pool.make(pdu)), rte_rdtsc(),
                     [&](const LogicalChannel& from, MbufBuffer sdu) {
                       ue_pdcp->incoming.add(*ue_bearer(from.id()), sdu.detach());
                       const auto deliver = [&](BearerId, MbufBuffer one) { delivered.push_back(content(one.get())); };
                       ue_pdcp->receive(ue_pdcp->incoming, rte_rdtsc(), deliver);
                       ue_pdcp->incoming.item[0].pdu.release();
                       ue_pdcp->incoming.size = 0;
                     });
    return delivered;
  }
  // The UE sends an SDU.
  void from_ue_sdu(const Bytes& ip, std::uint8_t qfi = 9, std::uint32_t index = kFirst) {
    Bytes sdu;
    if (config(index).sdap_header_ul) sdu.push_back(static_cast<std::uint8_t>(0x80 | qfi));
    sdu.insert(sdu.end(), ip.begin(), ip.end());
    ue_pdcp->outgoing.add(*ue_bearer(BearerId{teid(index)}), pool.make(sdu));
    ue_pdcp->protect(ue_pdcp->outgoing);
    ue_pdcp->outgoing.size = 0;
    ASSERT_TRUE(ue_cell->send(ue_channel(index), ue_pdcp->outgoing.item[0].buffer));
  }
  void at_gnb(const std::vector<Bytes>& pdus, std::uint32_t index = kFirst) {
    std::vector<RlcPdu> received;
    for (const Bytes& pdu : pdus) received.push_back({&channel(index), pool.make(pdu)});
    gnb_up.receive(received);
  }
  // As the worker does with a block of the PHY.
  void receive_block(RadioUe& from, wire::Octets block) {
    std::vector<RlcPdu> pdus;
    context->cell->demultiplex(from, block,
                               [&](LogicalChannel& channel, rte_mbuf* pdu) { pdus.push_back({&channel, pdu}); });
    gnb_up.receive(pdus);
  }
  void serve() {
    gnb_down.serve_cell();
    gnb_up.serve_reordering();
    ue_cell->serve(rte_rdtsc());
  }
  static Bytes ip_packet(std::size_t size, unsigned salt = 0) {
    Bytes ip(size);
    for (std::size_t i = 0; i < size; ++i) ip[i] = static_cast<std::uint8_t>(salt * 37 + i);
    ip[0] = 0x45;
    return ip;
  }
  static Bytes inner(const Bytes& frame, std::size_t bytes) {
    return {frame.end() - static_cast<std::ptrdiff_t>(bytes), frame.end()};
  }

  struct UeBearer {
    std::unique_ptr<SecuredBearer> pdcp;
  };
  SecuredBearer* ue_bearer(BearerId id) {
    for (auto& one : ue) {
      if (one.pdcp->id == id) return one.pdcp.get();
    }
    return nullptr;
  }

  TestKeyFile file;
  std::unique_ptr<WorkerPdcp> ue_pdcp;
  WorkerStats ue_stats;
  std::unique_ptr<Cell> ue_cell;
  std::vector<UeBearer> ue;
  Taken air, n3;
  GnbDownlink<FeatureSet::full, TestSink, SampledCycles> gnb_down{*context, TestSink{&air}, TestSink{&air}};
  GnbUplink<FeatureSet::full, TestSink, SampledCycles> gnb_up{*context, TestSink{&n3}};

 private:
  void start() {
    const std::uint64_t ms = rte_get_tsc_hz() / 1000;
    const auto pdcp_of = [&](Direction sends) {
      auto made = WorkerPdcp::create(
          {.sends = sends, .pool = pool.get(), .max_held = 256, .ticks_per_ms = ms, .now = rte_rdtsc()}, file.keys());
      EXPECT_TRUE(made);
      return std::move(*made);
    };
    const Cell::Settings settings{.pool = pool.get(), .max_sdus = 200, .ticks_per_ms = ms, .now = rte_rdtsc()};
    context->pdcp = pdcp_of(Direction::kDownlink);
    ue_pdcp = pdcp_of(Direction::kUplink);
    context->cell = std::make_unique<Cell>(settings, context->stats);
    ue_cell = std::make_unique<Cell>(settings, ue_stats);
    context->cell->attach(ShardId{1}, kLines);
    ue_cell->attach(ShardId{1}, kLines);
    context->secured_bearers.attach(ShardId{1}, kLines);
  }
  void enter(std::span<const ran::BearerConfig> bearers) {
    for (const ran::BearerConfig& one : bearers) {
      auto made = context->pdcp->make(one, Count{0}, Count{0});
      EXPECT_TRUE(made);
      context->secured_bearers.exchange(one.id.value, std::move(*made));
      auto ue_made = ue_pdcp->make(one, Count{0}, Count{0});
      EXPECT_TRUE(ue_made);
      ue.push_back({std::move(*ue_made)});
    }
    for (Cell* const cell : {context->cell.get(), ue_cell.get()}) {
      auto parts = cell->make(bearers);
      EXPECT_TRUE(parts);
      cell->attach(*parts, rte_rdtsc());
    }
  }
};

struct Variant {
  RlcMode mode;
  std::uint8_t rlc_sn_bits, pdcp_sn_bits;
  bool sdap;
};

class FullModeBearers : public ::testing::TestWithParam<Variant> {
 protected:
  [[nodiscard]] static ran::BearerConfig bearer() {
    const auto [mode, rlc, pdcp, sdap] = GetParam();
    return full_config(mode, rlc, pdcp, sdap);
  }
};

TEST_P(FullModeBearers, the_ue_deciphers_what_rlc_cut_to_the_grants) {
  FullRig rig(bearer());
  std::mt19937 random(3);
  std::vector<Bytes> expected, delivered;
  for (unsigned i = 0; i < 100; ++i) {
    N3Frame frame = rig.to_bearer(kFirst);
    frame.payload = FullRig::ip_packet(40 + random() % 1400, i);
    rig.downlink_burst({frame.make()});
    expected.push_back(frame.payload);
    if (GetParam().sdap) expected.back().insert(expected.back().begin(), 9);
    const std::size_t grant = 20 + random() % 800;
    for (Bytes pdu = rig.pull(grant); !pdu.empty(); pdu = rig.pull(grant)) {
      EXPECT_LE(pdu.size(), grant);
      for (Bytes& sdu : rig.at_ue(pdu)) delivered.push_back(std::move(sdu));
    }
    if (const Bytes status = rig.ue_pull(100); !status.empty()) rig.at_gnb({status});
    rig.serve();
  }
  EXPECT_EQ(delivered, expected);
  EXPECT_GT(rig.ue_channel().counters().copied, 50U);
  const std::uint64_t end = rte_rdtsc() + rte_get_tsc_hz();
  while (rig.context->cell->held() != 0 && rte_rdtsc() < end) {  // until the UE has acknowledged everything
    if (const Bytes poll = rig.pull(1600); !poll.empty()) (void)rig.at_ue(poll);
    if (const Bytes status = rig.ue_pull(100); !status.empty()) rig.at_gnb({status});
    rig.serve();
  }
  EXPECT_EQ(rig.context->cell->held(), 0U);
  EXPECT_EQ(rig.downlink[kFirst].received, 100U);
  EXPECT_EQ(rig.downlink[kFirst].pdcp_tx_next, 100U);
  EXPECT_TRUE(rig.air.frames.empty());
  rig.expect_balance(100);
}

TEST_P(FullModeBearers, the_uplink_goes_to_the_upf_in_the_frames_of_header_mode) {
  FullRig rig(bearer());
  std::mt19937 random(4);
  std::vector<Bytes> sent;
  for (unsigned i = 0; i < 100; ++i) {
    sent.push_back(FullRig::ip_packet(40 + random() % 1300, i));
    rig.from_ue_sdu(sent.back());
    const std::size_t grant = 20 + random() % 800;
    std::vector<Bytes> pdus;
    for (Bytes pdu = rig.ue_pull(grant); !pdu.empty(); pdu = rig.ue_pull(grant)) pdus.push_back(std::move(pdu));
    rig.at_gnb(pdus);
    if (const Bytes status = rig.pull(100); !status.empty()) (void)rig.at_ue(status);
    rig.serve();
    ASSERT_EQ(rig.n3.frames.size(), i + 1U);
    EXPECT_EQ(FullRig::inner(rig.n3.frames.back(), sent.back().size()), sent.back());
  }
  EXPECT_EQ(rig.uplink[kFirst].received, 100U);
  EXPECT_EQ(rig.uplink[kFirst].pdcp_rx_next, 100U);
  rig.expect_balance(0);

  TestGnb other;  // a bearer of header mode without security
  ran::BearerConfig plain = bearer();
  plain.security.reset();
  other.add(kFirst, plain, kPeerV4);
  Taken of_header_mode;
  GnbUplink<FeatureSet::mat, TestSink, SampledCycles> upward(*other.context, TestSink{&of_header_mode});
  Burst burst = burst_of(other.pool, {other.from_ue(kFirst, 0, sent.front())});
  upward.process(burst);
  ASSERT_EQ(of_header_mode.frames.size(), 1U);
  EXPECT_EQ(rig.n3.frames.front(), of_header_mode.frames.front());
}

INSTANTIATE_TEST_SUITE_P(Modes, FullModeBearers,
                         ::testing::Values(Variant{RlcMode::kAm, 18, 18, true}, Variant{RlcMode::kAm, 12, 12, false},
                                           Variant{RlcMode::kUm, 12, 18, true}, Variant{RlcMode::kUm, 6, 12, false}));

TEST(FullMode, bursts_of_the_most_packets_pass_in_order) {
  FullRig rig(full_config(RlcMode::kAm, 18, 18));
  std::vector<Bytes> frames(kBurst, rig.to_bearer(kFirst).make());
  rig.downlink_burst(frames);
  EXPECT_EQ(rig.context->cell->held(), kBurst);
  for (unsigned i = 0; i < kBurst; ++i) rig.from_ue_sdu(FullRig::ip_packet(100, i));
  std::vector<Bytes> pdus;
  for (Bytes pdu = rig.ue_pull(60); !pdu.empty(); pdu = rig.ue_pull(60)) pdus.push_back(std::move(pdu));
  EXPECT_EQ(pdus.size(), 2 * kBurst);
  rig.at_gnb(pdus);
  ASSERT_EQ(rig.n3.frames.size(), kBurst);
  for (unsigned i = 0; i < kBurst; ++i) EXPECT_EQ(FullRig::inner(rig.n3.frames[i], 100), FullRig::ip_packet(100, i));
  rig.expect_balance(kBurst);
}

TEST(FullMode, what_the_air_loses_am_sends_again_and_pdcp_puts_in_order) {
  FullRig rig(full_config(RlcMode::kAm, 12, 12));
  std::mt19937 random(5);
  std::vector<Bytes> expected, delivered;
  unsigned sent = 0;
  const std::uint64_t end = rte_rdtsc() + 5 * rte_get_tsc_hz();
  while (delivered.size() < 200 && rte_rdtsc() < end) {
    if (sent < 200 && rig.context->cell->held() < 50) {
      N3Frame frame = rig.to_bearer(kFirst);
      frame.payload = FullRig::ip_packet(200, sent++);
      rig.downlink_burst({frame.make()});
      expected.push_back(frame.payload);
      expected.back().insert(expected.back().begin(), 9);
    }
    const Bytes pdu = rig.pull(30 + random() % 250);
    if (!pdu.empty() && random() % 10 != 0) {
      for (Bytes& sdu : rig.at_ue(pdu)) delivered.push_back(std::move(sdu));
    }
    const Bytes status = rig.ue_pull(100);
    if (!status.empty() && random() % 10 != 0) rig.at_gnb({status});
    rig.serve();
  }
  EXPECT_EQ(delivered, expected);
  EXPECT_GT(rig.channel().view().am->retx.pdus, 0U);
  rig.expect_balance(200);
}

TEST(FullMode, a_lost_um_pdu_is_waited_for_until_t_reordering_runs_out) {
  FullRig rig(full_config(RlcMode::kUm, 12, 18));
  for (unsigned i = 0; i < 4; ++i) rig.from_ue_sdu(FullRig::ip_packet(60, i));
  (void)rig.ue_pull(100);
  for (unsigned i = 1; i < 4; ++i) rig.at_gnb({rig.ue_pull(100)});
  EXPECT_EQ(rig.context->pdcp->held(), 3U);
  EXPECT_EQ(rig.n3.frames.size(), 0U);
  const std::uint64_t end = rte_rdtsc() + rte_get_tsc_hz();
  while (rte_rdtsc() < end && rig.n3.frames.empty()) rig.serve();
  ASSERT_EQ(rig.n3.frames.size(), 3U);
  EXPECT_EQ(FullRig::inner(rig.n3.frames[0], 60), FullRig::ip_packet(60, 1));
  rig.expect_balance(0);
}

TEST(FullMode, each_flow_of_a_session_has_its_channel) {
  FullRig rig(ran::test::make_session_config(TestGnb::teid(kFirst)));
  EXPECT_EQ(rig.channel(kFirst).lcid(), 4U);
  EXPECT_EQ(rig.channel(kFirst + 2).lcid(), 6U);
  EXPECT_EQ(rig.channel(kFirst).ue, rig.channel(kFirst + 2).ue);
  std::vector<Bytes> frames;
  for (const std::uint8_t qfi : std::initializer_list<std::uint8_t>{9, 1, 2, 63}) {  // default, DRB 2, DRB 5, DRB 2
    N3Frame frame = rig.to_bearer(kFirst);
    frame.extensions = {{wire::gtpu::kExtensionPsc, {0x00, qfi}}};
    frame.payload = FullRig::ip_packet(100, qfi);
    frames.push_back(frame.make());
  }
  rig.downlink_burst(frames);
  const auto first_at_ue = [&](std::uint32_t index) { return rig.at_ue(rig.pull(300, index), index); };
  const auto sdu = [](std::uint8_t qfi) {
    Bytes of = FullRig::ip_packet(100, qfi);
    of.insert(of.begin(), qfi);
    return std::vector<Bytes>{of};
  };
  EXPECT_EQ(first_at_ue(kFirst), sdu(9));
  EXPECT_EQ(first_at_ue(kFirst + 1), sdu(1));
  EXPECT_EQ(first_at_ue(kFirst + 1), sdu(63));
  EXPECT_EQ(first_at_ue(kFirst + 2), sdu(2));

  rig.from_ue_sdu(FullRig::ip_packet(80, 2), 2, kFirst + 2);
  rig.at_gnb({rig.ue_pull(30, kFirst + 2), rig.ue_pull(300, kFirst + 2)}, kFirst + 2);
  ASSERT_EQ(rig.n3.frames.size(), 1U);
  EXPECT_EQ(FullRig::inner(rig.n3.frames[0], 80), FullRig::ip_packet(80, 2));
  EXPECT_EQ(rig.counted(kFirst, 2), (std::array<std::uint64_t, 4>{1, 100, 1, 80}));
  rig.expect_balance(4);
}

TEST(FullMode, transport_blocks_cross_in_both_directions) {
  FullRig rig(ran::test::make_session_config(TestGnb::teid(kFirst)));
  std::mt19937 random(6);
  const std::array<std::uint8_t, 3> flows{9, 1, 2};  // of the bearers
  std::array<std::vector<Bytes>, 3> expected, delivered;
  std::vector<Bytes> sent;
  Bytes block(4000);
  const auto build = [&](Cell& cell, RadioUe& ue, std::size_t bytes) {
    Cell::BlockOrder order{.rnti = ue.rnti.value(), .tb_bytes = bytes, .block = block};
    cell.build({&order, 1}, rte_rdtsc());
    EXPECT_TRUE(order.built);
    return wire::Octets(block).first(bytes);
  };
  const auto round = [&] {
    const wire::Octets down = build(*rig.context->cell, *rig.channel().ue, 50 + random() % 2000);
    wire::mac::Cursor cursor(down, Direction::kDownlink);
    for (wire::mac::SubPdu s; cursor.next(s);) {
      if (s.kind != wire::mac::Kind::kSdu) continue;
      for (Bytes& sdu : rig.at_ue(Bytes(s.payload.begin(), s.payload.end()), kFirst + s.lcid - 4))
        delivered[s.lcid - 4].push_back(std::move(sdu));
    }
    EXPECT_EQ(cursor.reason(), wire::Reason::ok);
    rig.receive_block(*rig.channel().ue, build(*rig.ue_cell, *rig.ue_channel().ue, 50 + random() % 2000));
    rig.serve();
  };
  for (unsigned i = 0; i < 150; ++i) {
    const auto which = static_cast<std::uint32_t>(random() % 3);
    N3Frame frame = rig.to_bearer(kFirst);
    frame.extensions = {{wire::gtpu::kExtensionPsc, {0x00, flows[which]}}};
    frame.payload = FullRig::ip_packet(40 + random() % 1200, i);
    rig.downlink_burst({frame.make()});
    expected[which].push_back(frame.payload);
    expected[which].back().insert(expected[which].back().begin(), flows[which]);
    sent.push_back(FullRig::ip_packet(60 + random() % 1000, i));
    rig.from_ue_sdu(sent.back(), flows[which], kFirst + which);
    round();
  }
  const std::uint64_t end = rte_rdtsc() + rte_get_tsc_hz();
  while ((rig.context->cell->held() != 0 || rig.n3.frames.size() < sent.size()) && rte_rdtsc() < end) round();
  EXPECT_EQ(delivered, expected);
  EXPECT_EQ(rig.n3.frames.size(), sent.size());
  EXPECT_EQ(rig.context->cell->held(), 0U);
  rig.expect_balance(150);
}

TEST(FullMode, what_does_not_fit_a_channel_is_dropped_before_it_has_a_count) {
  ran::BearerConfig config = full_config(RlcMode::kAm, 18, 18);
  config.arq.max_unacked = 10;
  FullRig rig(config);
  rig.downlink_burst(std::vector<Bytes>(15, rig.to_bearer(kFirst).make()));
  EXPECT_EQ(rig.dropped(DropReason::rlc_window_full), 5U);
  EXPECT_EQ(rig.downlink[kFirst].pdcp_tx_next, 10U);
  EXPECT_EQ(rig.drops[kFirst].downlink, 5U);
  rig.expect_balance(15);
}

TEST(FullMode, what_does_not_fit_the_cell_is_dropped_before_it_has_a_count) {
  FullRig rig(full_config(RlcMode::kUm, 12, 18));
  for (int i = 0; i < 7; ++i) rig.downlink_burst(std::vector<Bytes>(kBurst, rig.to_bearer(kFirst).make()));
  EXPECT_EQ(rig.context->cell->held(), 192U) << "200 at most, in whole bursts";
  EXPECT_EQ(rig.dropped(DropReason::rlc_window_full), kBurst);
  EXPECT_EQ(rig.downlink[kFirst].pdcp_tx_next, 192U);
  rig.expect_balance(7ULL * kBurst);
}

TEST(FullMode, no_count_beyond_the_lease_is_used) {
  FullRig rig(full_config(RlcMode::kUm, 12, 18));
  std::vector<ran::CountLease> leases(kLines);
  rig.context->bearers.attach(ShardId{1},
                              {rig.downlink.data(), rig.uplink.data(), rig.drops.data(), kLines, leases.data()});
  leases[kFirst] = {.end = 5, .mark = 5};
  rig.downlink_burst(std::vector<Bytes>(8, rig.to_bearer(kFirst).make()));
  EXPECT_EQ(rig.context->cell->held(), 5U);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 3U);
  grant_lease(*rig.context, BearerId{TestGnb::teid(kFirst)}, 5, {.end = 7, .mark = 7});
  rig.downlink_burst(std::vector<Bytes>(8, rig.to_bearer(kFirst).make()));
  EXPECT_EQ(rig.context->cell->held(), 7U);
  rig.expect_balance(16);
}

TEST(FullMode, a_bearer_whose_rlc_failed_sends_and_delivers_nothing) {
  ran::BearerConfig config = full_config(RlcMode::kAm, 12, 18);
  config.arq.max_retx = 2;
  FullRig rig(config);
  rig.downlink_burst({rig.to_bearer(kFirst).make()});
  const std::uint64_t end = rte_rdtsc() + 5 * rte_get_tsc_hz();
  while (!rig.channel().has_failed() && rte_rdtsc() < end) {
    (void)rig.pull(1000);
    rig.serve();
  }
  ASSERT_TRUE(rig.channel().has_failed());
  EXPECT_EQ(rig.context->stats.rlc_max_retx.get() + rig.context->stats.rlc_peer_lost.get(), 1U);
  rig.downlink_burst({rig.to_bearer(kFirst).make()});
  rig.from_ue_sdu(FullRig::ip_packet(60));
  rig.at_gnb({rig.ue_pull(100)});
  EXPECT_EQ(rig.dropped(DropReason::rlc_failed), 2U);
  EXPECT_TRUE(rig.n3.frames.empty());
  rig.expect_balance(2);
}

TEST(FullMode, a_bearer_without_entities_is_not_served) {
  FullRig rig(full_config(RlcMode::kUm, 12, 18));
  rig.add(8, full_config(RlcMode::kUm, 12, 18), kPeerV4);
  rig.downlink_burst({rig.to_bearer(8).make()});
  EXPECT_EQ(rig.dropped(DropReason::pdcp_no_keys), 1U);
  EXPECT_EQ(rig.drops[8].downlink, 1U);
  rig.expect_balance(1);
}

TEST(FullMode, forged_and_malformed_pdus_are_counted_by_what_refused_them) {
  FullRig rig(full_config(RlcMode::kAm, 18, 18));
  rig.from_ue_sdu(FullRig::ip_packet(80));
  const Bytes good = rig.ue_pull(200);
  Bytes forged = good;
  forged.back() ^= 1;
  rig.at_gnb({forged});
  EXPECT_EQ(rig.dropped(DropReason::pdcp_integrity_failed), 1U);
  rig.at_gnb({good});
  EXPECT_EQ(rig.dropped(DropReason::rlc_duplicate), 1U) << "RLC has it already";
  rig.at_gnb({Bytes{0x80}, Bytes{0x0f}});
  EXPECT_EQ(rig.dropped(DropReason::rlc_malformed), 1U);
  EXPECT_EQ(rig.context->stats.rlc_status_malformed.get(), 1U);
  EXPECT_TRUE(rig.n3.frames.empty());
  rig.expect_balance(0);
}

TEST(FullMode, frames_on_the_air_port_are_not_served) {
  FullRig rig(full_config(RlcMode::kUm, 12, 18));
  Burst burst = burst_of(rig.pool, {rig.from_ue(kFirst, 0, FullRig::ip_packet(60))});
  rig.gnb_up.process(burst);
  EXPECT_EQ(rig.dropped(DropReason::air_unused), 1U);
  rig.expect_balance(1);
}

TEST(FullMode, the_worker_wakes_for_the_timers_of_rlc) {
  FullRig rig(full_config(RlcMode::kAm, 18, 18));
  const std::uint64_t now = rte_rdtsc();
  EXPECT_EQ(rig.gnb_down.next_work(now), TimerNode::kNeverExpires);
  rig.downlink_burst({rig.to_bearer(kFirst).make()});
  EXPECT_EQ(rig.gnb_down.next_work(now), TimerNode::kNeverExpires) << "it waits for a grant, not for a time";
  const Bytes pdu = rig.pull(1600);
  EXPECT_LT(rig.gnb_down.next_work(now), rte_rdtsc() + rte_get_tsc_hz() / 100) << "t-PollRetransmit runs";
  (void)rig.at_ue(pdu);
  rig.at_gnb({rig.ue_pull(100)});
  EXPECT_LE(rig.gnb_down.next_work(now), now) << "an acknowledged buffer is to be given back";
  const std::uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 10;
  while (rte_rdtsc() < end && !rig.context->cell->idle()) rig.serve();
  EXPECT_EQ(rig.context->cell->held(), 0U);
  EXPECT_EQ(rig.gnb_down.next_work(now), TimerNode::kNeverExpires);
}

}  // namespace
}  // namespace splitplane::datapath::test
