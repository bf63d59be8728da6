// The thread against the PHY's end of nFAPI, on loopback sockets. The test is the worker, and the PHY's owner.
#include "gnb/phy/phy_thread.h"

#include <gtest/gtest.h>

#include "phy/link/phy_peer.h"
#include "phy/link/test_net.h"
#include "phy/slots/monotonic_time.h"

namespace splitplane::gnb {
namespace {

using datapath::PhyExchange;
using datapath::PhyReport;
using datapath::Rnti;
using phy::test::Bytes;
using phy::test::end_of;
using phy::test::until;
using Kind = PhyReport::Kind;

constexpr unsigned kNet = 77;
constexpr phy::Numerology kMu{1};

struct PhyOwner final : phy::PhyPeerOwner {
  void phy_starts(const fapi::ConfigRequest& c) override {
    ++starts;
    config = c;
  }
  void phy_stops() override { ++stops; }
  void l2_is_away() override {}
  void receive(const fapi::DlTtiRequest& m) override { dl_tti.push_back(m); }
  void receive(const fapi::UlTtiRequest& m) override { ul_tti.push_back(m); }
  void receive(const fapi::UlDciRequest& m) override { ul_dci.push_back(m); }
  void receive(const fapi::TxDataRequest& m) override {
    for (const auto& pdu : m.pdus) {
      Bytes& block = blocks.emplace_back();
      for (const auto& part : pdu.parts) block.insert(block.end(), part.octets.begin(), part.octets.end());
    }
  }
  unsigned starts = 0, stops = 0;
  fapi::ConfigRequest config;
  std::vector<fapi::DlTtiRequest> dl_tti;
  std::vector<fapi::UlTtiRequest> ul_tti;
  std::vector<fapi::UlDciRequest> ul_dci;
  std::vector<Bytes> blocks;
};

struct Report {
  PhyReport report;
  Bytes octets;
};

class PhyThreadTest : public testing::Test {
 protected:
  PhyThreadTest() {
    make_peer();
    PhyThread::Settings settings{.worker = "w0",
                                 .local_p5 = end_of(kNet, 1),
                                 .local_p7 = end_of(kNet, 2),
                                 .p5 = end_of(kNet, 3),
                                 .p7 = end_of(kNet, 4),
                                 .link = {.phy_id = 1, .answer_timeout = 20'000, .away_time = 20'000},
                                 .cell = {.numerology = kMu, .prbs = 106, .k = 4}};
    settings.link.config.dl_grid_size = settings.link.config.ul_grid_size = fapi::PerNumerology{0, 106, 0, 0, 0};
    settings.link.config.phy_cell_id = 0;
    settings.link.config.frame_duplex_type = 0;
    settings.link.config.scs_common = kMu.mu;
    settings.link.config.timing_window = 10;
    auto made = PhyThread::start(settings, exchange_, wakeup_);
    EXPECT_TRUE(made) << made.error().message;
    thread_ = *std::move(made);
  }
  void make_peer() {
    peer_.reset();
    peer_ = std::make_unique<phy::PhyPeer>(
        phy::PhyPeer::Settings{.phy_id = 1},
        std::move(phy::DatagramSocket::open(end_of(kNet, 3), end_of(kNet, 1)).value()),
        std::move(phy::DatagramSocket::open(end_of(kNet, 4), end_of(kNet, 2)).value()), phy_);
  }
  static phy::Time now() { return phy::MonotonicTime(0).now() / 1000; }
  // All goes on until it is so.
  template <class F>
  bool settle(F is_so) {
    return until([&] {
      peer_->poll(now());
      exchange_.reports.take(
          [&](const PhyReport& report, wire::Octets octets) {
            reports_.push_back({report, Bytes(octets.begin(), octets.end())});
          },
          64);
      return is_so();
    });
  }
  // The PHY counts as running with its first slot.
  bool run() {
    const bool runs = settle([&] { return phy_.starts != 0; }) && begin_slot().valid() &&
                      settle([&] { return count(Kind::kRuns) == 1 && count(Kind::kSlot) == 1; });
    exchange_.slots_done.store(exchange_.slots_reported.load());
    reports_.clear();
    return runs;
  }
  phy::Slot begin_slot() {
    const auto slot = peer_->begin_slot(now());
    EXPECT_TRUE(slot);
    return {kMu, slot->sfn, static_cast<std::uint8_t>(slot->slot)};
  }
  [[nodiscard]] std::size_t count(Kind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(reports_, [&](const Report& one) { return one.report.kind == kind; }));
  }
  [[nodiscard]] const Report& last(Kind kind) const {
    return *std::find_if(reports_.rbegin(), reports_.rend(), [&](const Report& r) { return r.report.kind == kind; });
  }
  static phy::Grant grant(phy::Slot slot, Direction direction, phy::Rnti rnti) {
    return {.slot = slot,
            .rnti = rnti,
            .direction = direction,
            .process = 3,
            .ndi = 1,
            .mcs = 10,
            .prbs = 20,
            .tb_bytes = phy::tb_bytes(phy::TbShape{}, 10, 20)};
  }

  PhyExchange exchange_{{.report_bytes = 1 << 18}};
  datapath::Wakeup wakeup_;
  PhyOwner phy_;
  std::unique_ptr<phy::PhyPeer> peer_;
  std::unique_ptr<PhyThread> thread_;
  std::vector<Report> reports_;
};

TEST_F(PhyThreadTest, it_configures_and_starts_the_phy_and_stops_it_in_the_end) {
  ASSERT_TRUE(run());
  EXPECT_EQ(phy_.starts, 1U);
  EXPECT_EQ(phy_.config.dl_grid_size->at(1), 106);
  EXPECT_EQ(thread_->link().state(), phy::PhyLinkState::running);
  std::thread end([this] { thread_.reset(); });
  EXPECT_TRUE(settle([this] { return phy_.stops == 1; }));
  end.join();
}

TEST_F(PhyThreadTest, a_slot_becomes_a_report_and_a_plan_becomes_messages) {
  ASSERT_TRUE(run());
  const phy::Slot now = begin_slot();
  ASSERT_TRUE(settle([&] { return count(Kind::kSlot) == 1; }));
  EXPECT_EQ(last(Kind::kSlot).report.slot, now);
  EXPECT_EQ(exchange_.slots_reported, 2U);

  const phy::Slot planned = phy::after(now, 3), uplink = phy::after(now, 7);
  const phy::Grant down = grant(planned, Direction::kDownlink, 0x4601);
  const Bytes block(down.tb_bytes, 0x5a);
  const std::array downlink{datapath::DownlinkSlots::Sent{down, block}};
  const std::array up{grant(uplink, Direction::kUplink, 0x4602)};
  const std::array<phy::Rnti, 1> chances{0x4603};
  exchange_.orders.put({.number = 1,
                        .slot = planned,
                        .uplink_slot = uplink,
                        .downlink = downlink,
                        .uplink = up,
                        .request_chances = chances});
  exchange_.slots_done = 2;
  ASSERT_TRUE(settle([&] { return phy_.ul_tti.size() == 1 && phy_.blocks.size() == 1 && phy_.ul_dci.size() == 1; }));
  EXPECT_EQ(phy_.blocks[0], block);
  EXPECT_EQ(phy_.dl_tti.at(0).slot, planned.slot);
  EXPECT_EQ(phy_.ul_tti[0].slot, uplink.slot);
  EXPECT_EQ(fapi::count_of<fapi::PdschPdu>(phy_.dl_tti[0].pdus), 1U);
  EXPECT_EQ(fapi::count_of<fapi::PuschPdu>(phy_.ul_tti[0].pdus), 1U);
  EXPECT_EQ(fapi::count_of<fapi::PucchPdu>(phy_.ul_tti[0].pdus), 2U) << "a HARQ-ACK and a chance to ask";
  EXPECT_EQ(exchange_.orders.read(), 1U);
  EXPECT_EQ(thread_->counters().plans_sent.get(), 1U);
  EXPECT_EQ(thread_->counters().messages_dropped.get(), 0U);
}

TEST_F(PhyThreadTest, what_the_phy_received_becomes_reports) {
  ASSERT_TRUE(run());
  const phy::Slot now = begin_slot();
  const Bytes block(900, 0x17);
  fapi::RxDataIndication data{.sfn = now.sfn, .slot = now.slot};
  data.pdus.add({.rnti = 0x4601, .harq_id = 5, .pdu = {block}});
  data.pdus.add({.rnti = 0x4602, .harq_id = 6});
  fapi::CrcIndication crc{.sfn = now.sfn, .slot = now.slot};
  crc.crcs.add({.rnti = 0x4601, .harq_id = 5, .tb_crc_status = 0});
  crc.crcs.add({.rnti = 0x4602, .harq_id = 6, .tb_crc_status = 1});
  auto uci = std::make_unique<fapi::UciIndication>();
  uci->sfn = now.sfn;
  uci->slot = now.slot;
  fapi::UciPucchFormat01Pdu pucch{.pdu_bitmap = fapi::kUciHasSr | fapi::kUciHasHarq, .rnti = 0x4603};
  pucch.sr_indication = 1;
  pucch.harq_values.add(1);
  uci->ucis.append()->body = pucch;
  const Bytes ack{1};
  uci->ucis.append()->body =
      fapi::UciPuschPdu{.pdu_bitmap = fapi::kUciHasHarq, .rnti = 0x4604, .harq = {.bit_len = 1, .bits = {ack}}};
  ASSERT_EQ(peer_->send(crc, PhyThreadTest::now()), phy::SendOutcome::sent);
  ASSERT_EQ(peer_->send(data, PhyThreadTest::now()), phy::SendOutcome::sent);
  ASSERT_EQ(peer_->send(*uci, PhyThreadTest::now()), phy::SendOutcome::sent);
  ASSERT_TRUE(
      settle([&] { return count(Kind::kBlock) == 2 && count(Kind::kHarq) == 2 && count(Kind::kRequest) == 1; }));
  std::vector<Report> blocks, harq;
  for (const Report& one : reports_) {
    if (one.report.kind == Kind::kBlock) blocks.push_back(one);
    if (one.report.kind == Kind::kHarq) harq.push_back(one);
  }
  EXPECT_FALSE(blocks[0].report.good);
  EXPECT_EQ(blocks[0].report.rnti, Rnti{0x4602});
  EXPECT_TRUE(blocks[1].report.good);
  EXPECT_EQ(blocks[1].report.process, 5);
  EXPECT_EQ(blocks[1].octets, block);
  EXPECT_EQ(harq[0].report.rnti, Rnti{0x4603});
  EXPECT_FALSE(harq[0].report.good);
  EXPECT_EQ(harq[0].report.slot, phy::after(now, -4)) << "the PDSCH was K slots before";
  EXPECT_TRUE(harq[1].report.good);
  EXPECT_EQ(last(Kind::kRequest).report.rnti, Rnti{0x4603});
}

TEST_F(PhyThreadTest, grants_without_a_place_in_the_messages_come_back_as_missed) {
  ASSERT_TRUE(run());
  const phy::Slot planned = phy::after(begin_slot(), 3), uplink = phy::after(planned, 4);
  std::vector<phy::Grant> up;
  for (phy::Rnti rnti = 1; rnti <= 30; ++rnti) up.push_back(grant(uplink, Direction::kUplink, rnti));
  exchange_.orders.put({.number = 1, .slot = planned, .uplink_slot = uplink, .uplink = up});
  ASSERT_TRUE(settle([&] { return count(Kind::kBlock) == 30 - 106 / 6; })) << "a DCI for each six PRBs";
  EXPECT_EQ(thread_->counters().left_out.get(), 30U - 106 / 6);
  EXPECT_FALSE(last(Kind::kBlock).report.good);
}

TEST_F(PhyThreadTest, a_phy_that_begins_again_is_found_and_said) {
  ASSERT_TRUE(run());
  begin_slot();
  ASSERT_TRUE(settle([&] { return count(Kind::kSlot) == 1; }));
  make_peer();  // as if the process had been killed and started again
  ASSERT_TRUE(settle([&] { return phy_.starts == 2; }));
  begin_slot();
  ASSERT_TRUE(settle([&] { return count(Kind::kAway) == 1 && count(Kind::kRuns) == 1; }));
}

TEST_F(PhyThreadTest, a_worker_that_reads_nothing_costs_reports_and_nothing_else) {
  ASSERT_TRUE(run());
  const auto lost = [&] { return thread_->counters().reports_dropped.get(); };
  const Bytes block(30'000, 1);
  ASSERT_TRUE(until([&] {
    const phy::Slot now = begin_slot();
    fapi::RxDataIndication data{.sfn = now.sfn, .slot = now.slot};
    data.pdus.add({.rnti = 0x4601, .harq_id = 5, .pdu = {block}});
    (void)peer_->send(data, PhyThreadTest::now());
    peer_->poll(PhyThreadTest::now());
    return lost() != 0;
  }));
  ASSERT_TRUE(settle([&] { return exchange_.reports.empty() && count(Kind::kBlock) != 0; }));
  EXPECT_EQ(thread_->link().state(), phy::PhyLinkState::running);
}

TEST_F(PhyThreadTest, a_port_of_ours_that_is_taken_is_an_error) {
  const PhyThread::Settings settings{.worker = "w1",
                                     .local_p5 = end_of(kNet, 1),
                                     .local_p7 = end_of(kNet, 6),
                                     .p5 = end_of(kNet, 3),
                                     .p7 = end_of(kNet, 4),
                                     .link = {},
                                     .cell = {}};
  const auto made = PhyThread::start(settings, exchange_, wakeup_);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("7001"), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace splitplane::gnb
