#include "phy/mapping/slot_writer.h"

#include <gtest/gtest.h>

#include "phy/mapping/test_grants.h"

namespace splitplane::phy {
namespace {

const Slot kSlot{{1}, 1023, 18};

class SlotWriterTest : public testing::Test {
 protected:
  [[nodiscard]] Grant grant(Rnti rnti, std::uint16_t first_prb, std::uint16_t prbs, std::uint8_t mcs = 10) const {
    return {.slot = kSlot,
            .rnti = rnti,
            .mcs = mcs,
            .first_prb = first_prb,
            .prbs = prbs,
            .tb_bytes = tb_bytes(cell_.shape, mcs, prbs)};
  }
  [[nodiscard]] Grant uplink(Grant grant) const {
    grant.direction = Direction::kUplink;
    grant.slot = after(kSlot, cell_.k);
    return grant;
  }
  void write(const std::vector<Grant>& downlink, const std::vector<Grant>& uplink, const std::vector<Rnti>& chances) {
    Random random(1);
    blocks_ = std::make_unique<test::Blocks>(random, downlink);
    writer_.write({kSlot, blocks_->blocks, uplink, chances});
  }

  CellShape cell_{.cell_id = 77};
  SlotWriter writer_{cell_};
  std::unique_ptr<test::Blocks> blocks_;
};

TEST_F(SlotWriterTest, a_pdsch_its_dci_and_its_block) {
  Grant g = grant(0x4601, 10, 20, 27);
  g.process = 5;
  g.ndi = 1;
  g.rv = 2;
  write({g}, {}, {});
  const auto& dl = writer_.dl_tti();
  EXPECT_EQ(dl.sfn, 1023);
  EXPECT_EQ(dl.slot, 18);
  ASSERT_EQ(dl.pdus.size(), 2U);
  const auto& pdcch = std::get<fapi::PdcchPdu>(dl.pdus[0].body);
  EXPECT_EQ(pdcch.bwp, (fapi::Bwp{273, 0, 1, 0}));
  EXPECT_EQ(pdcch.duration_symbols, 1);
  EXPECT_EQ(pdcch.freq_domain_resource, (std::array<std::uint8_t, 6>{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xF8}));
  ASSERT_EQ(pdcch.dl_dcis.size(), 1U);
  const fapi::DlDci& dci = pdcch.dl_dcis[0];
  EXPECT_EQ(dci.rnti, 0x4601);
  EXPECT_EQ(dci.scrambling_id, 77);
  EXPECT_EQ(dci.cce_index, 0);
  EXPECT_EQ(dci.payload_size_bits, 44);
  // 1 0001010001001101 0000 0 11011 1 10 0101 00 00 000 011: RIV 273 * 19 + 10, k1 = 4
  EXPECT_EQ(std::vector<std::uint8_t>(dci.payload.begin(), dci.payload.begin() + 6),
            (std::vector<std::uint8_t>{0x8A, 0x26, 0x83, 0x79, 0x40, 0x30}));

  const auto& pdsch = std::get<fapi::PdschPdu>(dl.pdus[1].body);
  EXPECT_EQ(pdsch.rnti, 0x4601);
  EXPECT_EQ(pdsch.codewords[0], (fapi::PdschPdu::Codeword{9100, 6, 27, 0, 2, g.tb_bytes}));
  EXPECT_EQ(pdsch.rb_start, 10);
  EXPECT_EQ(pdsch.rb_size, 20);
  EXPECT_EQ(pdsch.start_symbol_index, 1);
  EXPECT_EQ(pdsch.nr_of_symbols, 13);
  EXPECT_EQ(pdsch.dl_dmrs_symb_pos, 1U << 2);

  ASSERT_EQ(writer_.tx_data().pdus.size(), 1U);
  EXPECT_EQ(writer_.tx_data().pdus[0].pdu_index, pdsch.pdu_index);
  EXPECT_EQ(writer_.tx_data().pdus[0].parts[0].octets.data(), blocks_->octets[0].data());
  EXPECT_EQ(writer_.tx_data().pdus[0].bytes(), g.tb_bytes);

  // Its HARQ-ACK, k = 4 slots later, behind the end of the last frame.
  const auto& ul = writer_.ul_tti();
  EXPECT_EQ(ul.sfn, 0);
  EXPECT_EQ(ul.slot, 2);
  ASSERT_EQ(ul.pdus.size(), 1U);
  const auto& pucch = std::get<fapi::PucchPdu>(ul.pdus[0].body);
  EXPECT_EQ(pucch.rnti, 0x4601);
  EXPECT_EQ(pucch.bit_len_harq, 1);
  EXPECT_EQ(pucch.sr_flag, 0);
  EXPECT_EQ(pucch.start_symbol_index, 13);
  EXPECT_TRUE(writer_.ul_dci().pdus.empty());
}

TEST_F(SlotWriterTest, a_pusch_and_its_dci) {
  Grant g = uplink(grant(9, 0, 273, 28));
  g.process = 15;
  g.rv = 3;
  g.retransmission = true;
  write({}, {g}, {});
  const auto& pdcch = std::get<fapi::PdcchPdu>(writer_.ul_dci().pdus[0].body);
  ASSERT_EQ(pdcch.dl_dcis.size(), 1U);
  EXPECT_EQ(pdcch.dl_dcis[0].cce_index, 44);  // from the end of the CORESET
  // 0 0000001000100001 0011 0 11100 0 11 1111 00 00000000: RIV 545, k2 = 4 in row 3
  EXPECT_EQ(std::vector<std::uint8_t>(pdcch.dl_dcis[0].payload.begin(), pdcch.dl_dcis[0].payload.begin() + 6),
            (std::vector<std::uint8_t>{0x01, 0x10, 0x9B, 0x8F, 0xC0, 0x00}));
  const auto& ul = writer_.ul_tti();
  ASSERT_EQ(ul.pdus.size(), 1U);
  const auto& pusch = std::get<fapi::PuschPdu>(ul.pdus[0].body);
  EXPECT_EQ(pusch.pdu_bitmap, fapi::PuschPdu::kHasData);
  EXPECT_EQ(pusch.data.harq_process_id, 15);
  EXPECT_EQ(pusch.data.new_data_indicator, 0);
  EXPECT_EQ(pusch.data.rv_index, 3);
  EXPECT_EQ(pusch.data.tb_size, g.tb_bytes);
  EXPECT_EQ(pusch.target_code_rate, 9480);
  EXPECT_EQ(pusch.nr_of_symbols, 13);
  EXPECT_EQ(writer_.dl_tti().pdus.size() + writer_.tx_data().pdus.size(), 0U);
}

TEST_F(SlotWriterTest, harq_ack_goes_on_the_pusch_and_else_with_the_sr_on_one_pucch) {
  write({grant(1, 0, 9), grant(2, 9, 9), grant(3, 18, 9)}, {uplink(grant(1, 0, 9)), uplink(grant(4, 9, 9))},
        {1, 2, 4, 5});
  const auto& pdus = writer_.ul_tti().pdus;
  ASSERT_EQ(pdus.size(), 5U);
  const auto pusch = [&](std::size_t i) { return std::get<fapi::PuschPdu>(pdus[i].body); };
  const auto pucch = [&](std::size_t i) { return std::get<fapi::PucchPdu>(pdus[i].body); };
  EXPECT_EQ(pusch(0).rnti, 1);
  EXPECT_EQ(pusch(0).pdu_bitmap, fapi::PuschPdu::kHasData | fapi::PuschPdu::kHasUci);
  EXPECT_EQ(pusch(0).uci.harq_ack_bit_length, 1);
  EXPECT_EQ(pusch(1).rnti, 4);
  EXPECT_EQ(pusch(1).pdu_bitmap, fapi::PuschPdu::kHasData);
  const auto what = [&](std::size_t i) { return std::tuple(pucch(i).rnti, pucch(i).bit_len_harq, pucch(i).sr_flag); };
  EXPECT_EQ(what(2), std::tuple(2, 1, 1));
  EXPECT_EQ(what(3), std::tuple(3, 1, 0));
  EXPECT_EQ(what(4), std::tuple(5, 0, 1));
  // One PUCCH resource each.
  EXPECT_EQ(std::tuple(pucch(4).prb_start, pucch(4).initial_cyclic_shift), std::tuple(0, 2));
  EXPECT_TRUE(writer_.left_out().empty());
}

TEST_F(SlotWriterTest, empty_slots_have_dl_tti_and_ul_tti) {
  write({}, {}, {});
  std::vector<fapi::MessageId> sent;
  const auto send = [&sent]<class Message>(const Message&) {
    sent.push_back(Message::kId);
    return Message::kId != fapi::MessageId::kUlTtiRequest;
  };
  EXPECT_EQ(writer_.send(send), 1U);
  EXPECT_EQ(sent, (std::vector{fapi::MessageId::kDlTtiRequest, fapi::MessageId::kUlTtiRequest}));
  sent.clear();
  write({grant(1, 0, 9)}, {uplink(grant(1, 0, 9))}, {});
  EXPECT_EQ(writer_.send(send), 1U);
  EXPECT_EQ(sent, (std::vector{fapi::MessageId::kDlTtiRequest, fapi::MessageId::kTxDataRequest,
                               fapi::MessageId::kUlDciRequest, fapi::MessageId::kUlTtiRequest}));
}

TEST_F(SlotWriterTest, what_does_not_fit_is_told_and_counted) {
  std::vector<Grant> downlink, ul;
  for (Rnti i = 0; i < 30; ++i) {
    downlink.push_back(grant(static_cast<Rnti>(100 + i), static_cast<std::uint16_t>(9 * i), 9));
    ul.push_back(uplink(grant(static_cast<Rnti>(200 + i), static_cast<std::uint16_t>(9 * i), 9)));
  }
  write(downlink, ul, {});
  EXPECT_EQ(writer_.counted(LeftOut::no_cce), 15U);
  ASSERT_EQ(writer_.left_out().size(), 15U);
  EXPECT_EQ(writer_.left_out()[0].rnti, 215);
  EXPECT_EQ(writer_.left_out()[0].direction, Direction::kUplink);
  EXPECT_EQ(count_of<fapi::PuschPdu>(writer_.ul_tti().pdus), 15U);
  EXPECT_EQ(count_of<fapi::PucchPdu>(writer_.ul_tti().pdus), 30U);
  // Every CCE has one DCI.
  std::vector<unsigned> cces(45);
  const auto count = [&cces](const auto& pdus) {
    for (const auto& pdu : pdus) {
      if (const auto* const pdcch = std::get_if<fapi::PdcchPdu>(&pdu.body)) {
        for (const auto& dci : pdcch->dl_dcis) ++cces.at(dci.cce_index);
      }
    }
  };
  count(writer_.dl_tti().pdus);
  count(writer_.ul_dci().pdus);
  EXPECT_EQ(cces, std::vector<unsigned>(45, 1));

  std::vector<Rnti> many(300);
  for (Rnti i = 0; i < 300; ++i) many[i] = static_cast<Rnti>(1000 + i);
  write({}, {}, many);
  EXPECT_EQ(writer_.ul_tti().pdus.size(), 255U);
  EXPECT_EQ(writer_.counted(LeftOut::no_pucch), 45U);
  EXPECT_TRUE(writer_.left_out().empty());
}

TEST_F(SlotWriterTest, tx_data_stays_below_what_p7_can_send) {
  cell_.most_tx_data_bytes = 3000;
  SlotWriter writer(cell_);
  Random random(1);
  std::vector<Grant> downlink;
  for (Rnti i = 0; i < 6; ++i)
    downlink.push_back(grant(static_cast<Rnti>(1 + i), static_cast<std::uint16_t>(40 * i), 20));
  const test::Blocks blocks(random, downlink);
  writer.write({kSlot, blocks.blocks, {}, {}});
  const auto fitting = (3000 - 6) / (downlink[0].tb_bytes + 20);
  EXPECT_EQ(writer.tx_data().pdus.size(), fitting);
  EXPECT_EQ(writer.counted(LeftOut::tx_data_full), 6 - fitting);
  EXPECT_EQ(count_of<fapi::PdschPdu>(writer.dl_tti().pdus), fitting);
  const auto tx = std::make_unique<fapi::TxDataWriter>();
  for (const auto tag : {fapi::PayloadTag::kInline, fapi::PayloadTag::kOffset}) {
    ASSERT_EQ(tx->write(writer.tx_data(), tag), fapi::Reason::ok);
    EXPECT_LE(tx->bytes(), 3000U);
  }
}

TEST_F(SlotWriterTest, grants_that_cannot_be_are_told_and_counted) {
  std::vector<Grant> bad(7, grant(1, 0, 9));
  bad[0].rnti = 0;
  bad[1].process = 16;
  bad[2].mcs = 29;
  bad[3].rv = 4;
  bad[4].first_prb = 265;
  bad[5].tb_bytes += 1;
  bad[6].prbs = 0;
  for (const Grant& one : bad) {
    write({one}, {uplink(one)}, {});
    EXPECT_EQ(writer_.left_out().size(), 2U);
    EXPECT_TRUE(writer_.dl_tti().pdus.empty());
    EXPECT_TRUE(writer_.ul_tti().pdus.empty());
  }
  EXPECT_EQ(writer_.counted(LeftOut::bad_grant), 14U);
  write({grant(1, 0, 9), grant(1, 9, 9)}, {uplink(grant(1, 0, 9)), uplink(grant(1, 9, 9))}, {0, 5, 5});
  EXPECT_EQ(writer_.counted(LeftOut::rnti_twice), 3U);
  EXPECT_EQ(writer_.counted(LeftOut::bad_grant), 15U);
  EXPECT_EQ(count_of<fapi::PucchPdu>(writer_.ul_tti().pdus), 1U);
  ASSERT_EQ(writer_.left_out().size(), 2U);
  EXPECT_EQ(writer_.left_out()[0].first_prb, 9);
  write({uplink(grant(1, 0, 9))}, {grant(1, 0, 9)}, {});
  EXPECT_EQ(writer_.counted(LeftOut::bad_slot), 2U);
}

}  // namespace
}  // namespace splitplane::phy
