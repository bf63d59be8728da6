#include "phy/emulator/emulator.h"

#include <gtest/gtest.h>

#include "phy/emulator/test_cell.h"
#include "phy/mapping/test_grants.h"

namespace splitplane::phy {
namespace {

using test::Block;
using test::TestL2;
using test::TestTerminals;

// Keeps what the emulator says: messages are valid during the call only.
struct Heard final : Indications {
  struct Uci {
    unsigned slot;
    Rnti rnti;
    bool on_pusch;
    int harq;  // -1 without; 0 ACK, 1 NACK, 2 DTX; on a PUSCH 1 stands for both of these
    bool sr;
    friend bool operator==(const Uci&, const Uci&) = default;
  };
  void take(const fapi::CrcIndication& m) override {
    for (const auto& crc : m.crcs) crcs.emplace_back(m.slot, crc.rnti, crc.harq_id, crc.tb_crc_status);
  }
  void take(const fapi::RxDataIndication& m) override {
    ++messages;
    for (const auto& pdu : m.pdus) blocks.emplace_back(pdu.pdu.octets.begin(), pdu.pdu.octets.end());
  }
  void take(const fapi::UciIndication& m) override {
    for (const auto& pdu : m.ucis) {
      if (const auto* const pusch = std::get_if<fapi::UciPuschPdu>(&pdu.body)) {
        const bool ack = pusch->harq.crc != 1 && pusch->harq.bits.octets[0] == 1;
        ucis.push_back({m.slot, pusch->rnti, true, ack ? 0 : 1, false});
      } else {
        const auto& pucch = std::get<fapi::UciPucchFormat01Pdu>(pdu.body);
        const bool has_harq = (pucch.pdu_bitmap & fapi::kUciHasHarq) != 0;
        ucis.push_back({m.slot, pucch.rnti, false, has_harq ? pucch.harq_values[0] : -1, pucch.sr_indication != 0});
      }
    }
  }

  std::vector<std::tuple<unsigned, unsigned, unsigned, unsigned>> crcs;  // slot, RNTI, process, status
  std::vector<Block> blocks;
  std::vector<Uci> ucis;
  unsigned messages = 0;
};

struct Crossed final : AirObserver {
  void crossed(const Grant& grant, wire::Octets block, bool decoded) override {
    ++blocks;
    octets += block.size();
    (grant.direction == Direction::kDownlink ? downlink : uplink) += decoded ? 1 : 0;
  }
  unsigned blocks = 0, downlink = 0, uplink = 0;
  std::size_t octets = 0;
};

class EmulatorTest : public testing::Test {
 protected:
  EmulatorTest() { start(); }
  void start() {
    fapi::ConfigRequest config;
    config.scs_common = 1;
    config.dl_grid_size = config.ul_grid_size = fapi::PerNumerology{0, 273, 0, 0, 0};
    emulator_.phy_starts(config);
    slot_ = slot_at(cell_.numerology, 0);
  }
  [[nodiscard]] Grant grant(Rnti rnti, Direction direction = Direction::kDownlink) const {
    return {.slot = direction == Direction::kDownlink ? slot_ : after(slot_, cell_.k),
            .rnti = rnti,
            .direction = direction,
            .process = 3,
            .mcs = 5,
            .first_prb = static_cast<std::uint16_t>(rnti * 10),
            .prbs = 10,
            .tb_bytes = tb_bytes(cell_.shape, 5, 10)};
  }
  // The messages of the slot that comes next.
  void write(const std::vector<Rnti>& downlink, const std::vector<Rnti>& uplink,
             const std::vector<Rnti>& chances = {}) {
    kept_.clear();
    std::vector<DownlinkBlock> blocks;
    std::vector<Grant> grants;
    for (const Rnti rnti : downlink) {
      kept_.push_back(test::numbered(rnti, grant(rnti).tb_bytes));
      blocks.push_back({grant(rnti), *kept_.back()});
    }
    for (const Rnti rnti : uplink) grants.push_back(grant(rnti, Direction::kUplink));
    writer_.write({slot_, blocks, grants, chances});
  }
  void give() {
    writer_.send([this](const auto& message) {
      emulator_.receive(message);
      return true;
    });
  }
  void end_slot() {
    emulator_.end_slot({.sfn = slot_.sfn, .slot = slot_.slot}, heard_);
    slot_ = after(slot_, 1);
    EXPECT_TRUE(emulator_.counters().balanced());
  }
  void slots(unsigned count) {
    for (unsigned i = 0; i < count; ++i) end_slot();
  }
  [[nodiscard]] const EmulatorCounters& counters() const { return emulator_.counters(); }
  [[nodiscard]] std::uint64_t refused() const {
    std::uint64_t sum = 0;
    emulator_.refused().for_each([&sum](auto, auto, std::uint64_t n) { sum += n; });
    return sum;
  }

  CellShape cell_;
  TestTerminals terminals_;
  Crossed crossed_;
  Emulator emulator_{{.shape = cell_.shape}, terminals_, &crossed_};
  SlotWriter writer_{cell_};
  std::vector<test::BlockPtr> kept_;
  Heard heard_;
  Slot slot_;
};

TEST_F(EmulatorTest, a_block_reaches_its_ue_and_its_ack_comes_where_it_was_ordered) {
  terminals_.ues[7];
  write({7}, {});
  give();
  kept_.clear();  // the emulator has its own octets
  end_slot();
  EXPECT_EQ(terminals_.ues[7].received, (std::vector<std::uint32_t>{7}));
  slots(3);
  EXPECT_TRUE(heard_.ucis.empty());
  end_slot();
  EXPECT_EQ(heard_.ucis, (std::vector<Heard::Uci>{{4, 7, false, 0, false}}));
  EXPECT_EQ(terminals_.calls, "reeeee");
  EXPECT_EQ(counters().answers_sent.get(), 1U);
  EXPECT_EQ(crossed_.downlink, 1U);
}

TEST_F(EmulatorTest, an_uplink_block_needs_a_grant_that_reached_the_ue) {
  terminals_.ues[1].backlog = 1;
  write({}, {1, 2});  // UE 2 is not there
  give();
  slots(5);
  ASSERT_EQ(heard_.crcs.size(), 2U);
  EXPECT_EQ(heard_.crcs[0], std::tuple(4U, 1U, 3U, 0U));
  EXPECT_EQ(heard_.crcs[1], std::tuple(4U, 2U, 3U, 1U));
  ASSERT_EQ(heard_.blocks.size(), 1U);
  EXPECT_EQ(test::number_of(heard_.blocks[0]), 0U);
  EXPECT_EQ(counters().ul_silent.get(), 1U);
  EXPECT_EQ(counters().pusch_empty.get(), 1U);
  EXPECT_EQ(terminals_.calls, "ggeeeette");

  emulator_.set({.dci_loss_percent = 100});
  terminals_.calls.clear();
  terminals_.ues[1].backlog = 1;
  write({}, {1});
  give();
  slots(5);
  EXPECT_EQ(terminals_.calls, "eeeee");
  EXPECT_EQ(heard_.crcs[2], std::tuple(9U, 1U, 3U, 1U));
  EXPECT_EQ(counters().ul_dci_lost.get(), 1U);
}

TEST_F(EmulatorTest, a_ue_with_a_pusch_answers_there_and_sends_no_sr) {
  for (Rnti rnti = 1; rnti <= 3; ++rnti) terminals_.ues[rnti].backlog = 1;
  write({1, 2}, {1}, {1, 2, 3});
  give();
  slots(5);
  EXPECT_EQ(heard_.ucis,
            (std::vector<Heard::Uci>{{4, 1, true, 0, false}, {4, 2, false, 0, true}, {4, 3, false, -1, true}}));
  EXPECT_EQ(counters().sr_chances.get(), 2U);
  EXPECT_EQ(counters().sr_sent.get(), 2U);
}

// The L2 listens on the PUSCH, and the UE, whose grant did not come, answers on its PUCCH.
TEST_F(EmulatorTest, an_answer_where_nothing_was_ordered_is_not_heard) {
  terminals_.ues[1].backlog = 1;
  write({1}, {1});
  emulator_.receive(writer_.dl_tti());
  emulator_.receive(writer_.tx_data());
  emulator_.receive(writer_.ul_tti());
  slots(5);
  EXPECT_EQ(heard_.ucis, (std::vector<Heard::Uci>{{4, 1, true, 1, false}}));
  EXPECT_EQ(counters().harq_dtx.get(), 1U);
  EXPECT_EQ(counters().answers_unasked.get(), 1U);

  // Without UL_TTI.request nothing is heard at all.
  write({1}, {1});
  emulator_.receive(writer_.dl_tti());
  emulator_.receive(writer_.tx_data());
  emulator_.receive(writer_.ul_dci());
  slots(5);
  EXPECT_EQ(heard_.ucis.size(), 1U);
  EXPECT_EQ(counters().answers_unasked.get(), 2U);
  EXPECT_EQ(counters().ul_unheard.get(), 1U);
}

// The L2 listens on a PUCCH, and the UE has a PUSCH: it multiplexes its answer there (TS 38.213 9.2.5).
TEST_F(EmulatorTest, a_ue_with_a_pusch_sends_no_pucch) {
  terminals_.ues[1].backlog = 2;
  write({}, {1});
  emulator_.receive(writer_.ul_dci());
  write({1}, {}, {1});
  give();
  slots(5);
  EXPECT_EQ(heard_.ucis, (std::vector<Heard::Uci>{{4, 1, false, 2, false}}));
  EXPECT_EQ(counters().answers_unasked.get(), 1U);
  EXPECT_EQ(counters().sr_quiet.get(), 1U);
  EXPECT_EQ(counters().ul_unheard.get(), 1U);
}

TEST_F(EmulatorTest, a_lost_block_is_nacked_and_a_lost_dci_is_dtx) {
  terminals_.ues[1];
  emulator_.set({.downlink = {.loss_percent = 100}});
  write({1}, {});
  give();
  slots(5);
  EXPECT_EQ(heard_.ucis.at(0).harq, 1);
  emulator_.set({.dci_loss_percent = 100});
  write({1}, {});
  give();
  slots(5);
  EXPECT_EQ(heard_.ucis.at(1).harq, 2);
  EXPECT_EQ(terminals_.calls, "reeeeeeeeee");
  EXPECT_EQ(counters().dl_lost.get(), 1U);
  EXPECT_EQ(counters().dl_dci_lost.get(), 1U);
  EXPECT_EQ(crossed_.blocks, 2U);
  EXPECT_EQ(crossed_.downlink, 0U);
  // A UE that is not there does not answer.
  emulator_.set({});
  write({2}, {});
  give();
  slots(5);
  EXPECT_EQ(heard_.ucis.at(2).harq, 2);
  EXPECT_EQ(counters().unanswered.get(), 1U);
}

TEST_F(EmulatorTest, a_lost_uplink_block_has_a_wrong_crc_and_no_octets) {
  terminals_.ues[1].backlog = 1;
  emulator_.set({.uplink = {.loss_percent = 100}});
  write({1}, {1});
  give();
  slots(5);
  EXPECT_EQ(heard_.crcs.at(0), std::tuple(4U, 1U, 3U, 1U));
  EXPECT_TRUE(heard_.blocks.empty());
  EXPECT_EQ(heard_.ucis.at(0), (Heard::Uci{4, 1, true, 0, false}));  // UCI has its own code
  EXPECT_EQ(counters().ul_lost.get(), 1U);
  EXPECT_EQ(crossed_.blocks, 2U);
}

TEST_F(EmulatorTest, a_pdsch_needs_its_octets) {
  terminals_.ues[1];
  write({1, 2}, {});
  emulator_.receive(writer_.dl_tti());
  end_slot();
  EXPECT_EQ(counters().dl_no_data.get(), 2U);
  write({1, 2}, {});
  const auto changed = std::make_unique<fapi::TxDataRequest>(writer_.tx_data());
  changed->pdus[0].parts[0].octets = changed->pdus[0].parts[0].octets.subspan(1);
  changed->pdus[1].pdu_index = 9;
  emulator_.receive(writer_.dl_tti());
  emulator_.receive(*changed);
  end_slot();
  EXPECT_EQ(counters().dl_no_data.get(), 4U);
  EXPECT_EQ(counters().tx_unused.get(), 1U);
  EXPECT_EQ(terminals_.calls, "ee");
}

TEST_F(EmulatorTest, late_and_repeated_messages_are_counted) {
  write({1}, {1});
  give();
  give();
  EXPECT_EQ(counters().repeated.get(), 4U);
  slots(1);
  give();
  EXPECT_EQ(counters().late.get(), 3U);  // UL_TTI.request is for a slot that comes
  EXPECT_EQ(counters().repeated.get(), 5U);
  const auto far = std::make_unique<fapi::DlTtiRequest>();
  far->sfn = 1;
  far->slot = 12;
  emulator_.receive(*far);
  EXPECT_EQ(counters().late.get(), 3U);
  far->slot = 13;
  emulator_.receive(*far);
  EXPECT_EQ(counters().late.get(), 4U);
}

TEST_F(EmulatorTest, what_does_not_agree_is_not_heard) {
  terminals_.ues[1].backlog = 2;
  write({}, {1});
  emulator_.receive(writer_.ul_dci());
  auto changed = std::make_unique<fapi::UlTtiRequest>(writer_.ul_tti());
  std::get<fapi::PuschPdu>(changed->pdus[0].body).data.harq_process_id = 4;
  emulator_.receive(*changed);
  slots(5);
  EXPECT_EQ(heard_.crcs.at(0), std::tuple(4U, 1U, 4U, 1U));
  EXPECT_EQ(counters().ul_unheard.get(), 1U);
  // Two grants for one slot: the UE has one PUSCH.
  write({}, {1});
  emulator_.receive(writer_.ul_dci());
  end_slot();
  auto second = std::make_unique<fapi::UlDciRequest>();
  cell_.k = 3;
  SlotWriter other(cell_);
  const std::vector<Grant> grants{grant(1, Direction::kUplink)};
  other.write({slot_, {}, grants, {}});
  emulator_.receive(other.ul_dci());
  slots(5);
  EXPECT_EQ(counters().ul_refused.get(), 1U);
}

TEST_F(EmulatorTest, a_stop_forgets_what_was_to_come) {
  terminals_.ues[1].backlog = 1;
  write({1}, {1});
  give();
  slots(2);
  EXPECT_EQ(counters().ul_held.get(), 1U);
  EXPECT_EQ(counters().answers_held.get(), 1U);
  emulator_.phy_stops();
  EXPECT_FALSE(emulator_.running());
  start();
  slots(10);
  EXPECT_TRUE(heard_.crcs.empty());
  EXPECT_TRUE(heard_.ucis.empty());
  EXPECT_EQ(counters().ul_forgotten.get(), 1U);
  EXPECT_EQ(counters().answers_forgotten.get(), 1U);
  EXPECT_EQ(emulator_.starts(), 2U);
  EXPECT_EQ(terminals_.starts, 2U);
}

TEST_F(EmulatorTest, long_rx_data_goes_in_several_messages) {
  Emulator emulator({.shape = cell_.shape, .most_data_bytes = 2000}, terminals_);
  fapi::ConfigRequest config;
  config.scs_common = 1;
  config.dl_grid_size = fapi::PerNumerology{0, 273, 0, 0, 0};
  emulator.phy_starts(config);
  std::vector<Rnti> ues;
  for (Rnti rnti = 1; rnti <= 20; ++rnti) {
    ues.push_back(rnti);
    terminals_.ues[rnti].backlog = 1;
  }
  write({}, ues);
  emulator.receive(writer_.ul_dci());
  emulator.receive(writer_.ul_tti());
  for (std::uint16_t i = 0; i < 5; ++i) emulator.end_slot({.sfn = 0, .slot = i}, heard_);
  EXPECT_EQ(heard_.blocks.size(), 20U);
  const std::size_t a_message = (2000 - 6) / (16 + grant(1).tb_bytes);
  EXPECT_EQ(heard_.messages, (20 + a_message - 1) / a_message);
}

TEST_F(EmulatorTest, losses_are_as_set_and_the_same_again_with_the_same_seed) {
  const AirLoss loss{
      .downlink = {.loss_percent = 10, .burst_length = 4}, .uplink = {.loss_percent = 30}, .dci_loss_percent = 5};
  const auto run = [&](std::uint64_t seed) {
    TestTerminals terminals;
    for (Rnti rnti = 1; rnti <= 20; ++rnti) terminals.ues[rnti].backlog = 1'000'000;
    Emulator emulator({.shape = cell_.shape, .seed = seed, .loss = loss}, terminals);
    fapi::ConfigRequest config;
    config.scs_common = 1;
    config.dl_grid_size = fapi::PerNumerology{0, 273, 0, 0, 0};
    emulator.phy_starts(config);
    slot_ = slot_at(cell_.numerology, 0);
    std::vector<Rnti> ues(20);
    for (Rnti i = 0; i < 20; ++i) ues[i] = static_cast<Rnti>(i + 1);
    for (unsigned i = 0; i < 1000; ++i) {
      write(ues, ues);
      writer_.send([&](const auto& message) {
        emulator.receive(message);
        return true;
      });
      emulator.end_slot({.sfn = slot_.sfn, .slot = slot_.slot}, heard_);
      slot_ = after(slot_, 1);
    }
    const EmulatorCounters& c = emulator.counters();
    EXPECT_TRUE(c.balanced());
    return std::tuple(c.dl_lost.get(), c.dl_decoded.get(), c.ul_lost.get(), c.ul_decoded.get(), c.dl_dci_lost.get());
  };
  const auto first = run(1);
  EXPECT_EQ(first, run(1));
  EXPECT_NE(first, run(2));
  const auto [dl_lost, dl_decoded, ul_lost, ul_decoded, dci_lost] = first;
  const auto share = [](std::uint64_t lost, std::uint64_t other) {
    return static_cast<double>(lost) / static_cast<double>(lost + other);
  };
  EXPECT_NEAR(share(dl_lost, dl_decoded), 0.10, 0.02);
  EXPECT_NEAR(share(ul_lost, ul_decoded), 0.30, 0.02);
  EXPECT_NEAR(static_cast<double>(dci_lost) / 20'000, 0.05, 0.01);
}

// More than one cycle of 1024 frames, with everything that can be lost.
TEST_F(EmulatorTest, with_harq_each_block_of_both_directions_arrives_once) {
  cell_.k = 3;
  TestL2 l2(cell_, 9);
  struct ToL2 final : Indications {
    explicit ToL2(TestL2& l2) : to(l2) {}
    void take(const fapi::CrcIndication& m) override { to.take(m); }
    void take(const fapi::RxDataIndication& m) override { to.take(m); }
    void take(const fapi::UciIndication& m) override { to.take(m); }
    TestL2& to;
  } to(l2);
  emulator_.set(
      {.downlink = {.loss_percent = 20, .burst_length = 3}, .uplink = {.loss_percent = 20}, .dci_loss_percent = 10});
  constexpr unsigned kSlotsWithData = 20'600;
  unsigned down = 0, up = 0;
  Random random(5);
  for (unsigned i = 0; i < kSlotsWithData || !l2.idle() || terminals_.waits(); ++i) {
    ASSERT_LT(i, kSlotsWithData + 2000);
    if (i < kSlotsWithData && i % 10 == 0) {
      for (auto& [rnti, ue] : l2.ues()) {
        const unsigned more = random.below(5);
        ue.backlog += more;
        down += more;
        terminals_.ues[rnti].backlog += more;
        up += more;
      }
    }
    l2.plan(slot_);
    ASSERT_TRUE(l2.writer().left_out().empty());
    l2.writer().send([this](const auto& message) {
      emulator_.receive(message);
      return true;
    });
    emulator_.end_slot({.sfn = slot_.sfn, .slot = slot_.slot}, to);
    slot_ = after(slot_, 1);
    ASSERT_TRUE(counters().balanced());
  }
  std::size_t received_down = 0, received_up = 0;
  for (auto& [rnti, ue] : l2.ues()) {
    EXPECT_TRUE(test::all_once(terminals_.ues[rnti].received, ue.next));
    EXPECT_TRUE(test::all_once(ue.received, terminals_.ues[rnti].next));
    received_down += ue.next;
    received_up += ue.received.size();
    EXPECT_GT(ue.nacks, 100U);
    EXPECT_GT(ue.requests, 100U);
  }
  EXPECT_EQ(received_down, down);
  EXPECT_GE(received_up, up);  // grants without data have padding
  EXPECT_EQ(l2.wrong, 0U);
  EXPECT_EQ(terminals_.wrong, 0U);
  EXPECT_EQ(refused(), 0U);
  EXPECT_EQ(counters().dl_no_data.get() + counters().ul_unheard.get() + counters().tx_unused.get(), 0U);
  EXPECT_EQ(counters().late.get() + counters().repeated.get(), 0U);
  EXPECT_EQ(counters().ul_decoded.get(), l2.right_crcs);
  EXPECT_EQ(counters().pusch_ordered.get(), l2.crcs);
}

}  // namespace
}  // namespace splitplane::phy
