#include "phy/mapping/slot_reader.h"

#include <gtest/gtest.h>

#include "phy/fapi/codec.h"
#include "phy/mapping/slot_writer.h"
#include "phy/mapping/test_grants.h"

namespace splitplane::phy {
namespace {

using Refusal = MappingRefusal;

// What the PDUs carry of a grant.
bool same(const Grant& a, const Grant& b, bool with_ndi) {
  return a.slot == b.slot && a.rnti == b.rnti && a.direction == b.direction && a.process == b.process && a.rv == b.rv &&
         a.mcs == b.mcs && a.first_prb == b.first_prb && a.prbs == b.prbs && a.tb_bytes == b.tb_bytes &&
         (!with_ndi || a.ndi == b.ndi);
}

class SlotReaderTest : public testing::Test {
 protected:
  // The message through its octets.
  template <class Message>
  static std::unique_ptr<Message> crossed(const Message& message) {
    static std::vector<std::uint8_t> room(1 << 20);
    const fapi::Written written = fapi::write_body(room, message);
    EXPECT_EQ(written.reason, fapi::Reason::ok);
    auto out = std::make_unique<Message>();
    EXPECT_EQ(fapi::read_body(wire::Octets(room).first(written.bytes), *out), fapi::Reason::ok);
    return out;
  }
  [[nodiscard]] std::uint64_t refused() const {
    std::uint64_t sum = 0;
    reader_.counters().for_each([&sum](auto, auto, std::uint64_t n) { sum += n; });
    return sum;
  }
  // Writes a slot of `count` UEs in each direction. The downlink has RNTIs from 1 on, the uplink from 3 on.
  void write(std::size_t count) {
    downlink_ = test::random_grants(random_, cell_, slot_, Direction::kDownlink, count, 1);
    uplink_ = test::random_grants(random_, cell_, after(slot_, cell_.k), Direction::kUplink, count, 3);
    blocks_ = std::make_unique<test::Blocks>(random_, downlink_);
    const Rnti chances[] = {1, 2, 3, 77};
    writer_ = std::make_unique<SlotWriter>(cell_);
    writer_->write({slot_, blocks_->blocks, uplink_, chances});
    ASSERT_TRUE(writer_->left_out().empty());
    dl_tti_ = crossed(writer_->dl_tti());
    ul_dci_ = crossed(writer_->ul_dci());
    ul_tti_ = crossed(writer_->ul_tti());
    reader_.set(cell_);
  }
  void read() {
    reader_.read(*dl_tti_, assignments_);
    reader_.read(*ul_dci_, grants_);
    reader_.read(*ul_tti_, pusch_, pucch_);
  }
  [[nodiscard]] fapi::PdschPdu& pdsch() { return std::get<fapi::PdschPdu>(dl_tti_->pdus[1].body); }
  [[nodiscard]] fapi::PuschPdu& pusch() { return std::get<fapi::PuschPdu>(ul_tti_->pdus[0].body); }
  [[nodiscard]] fapi::PucchPdu& pucch() {
    return std::get<fapi::PucchPdu>(ul_tti_->pdus[ul_tti_->pdus.size() - 1].body);
  }
  // A changed message of three UEs: only one more is refused, for this reason.
  template <class Change>
  void expect(Refusal why, Change change) {
    write(3);
    change();
    const std::uint64_t before = refused(), of_it = reader_.counters().counted(why);
    read();
    EXPECT_EQ(reader_.counters().counted(why), of_it + 1) << name_of(why);
    EXPECT_EQ(refused(), before + 1) << name_of(why);
    EXPECT_EQ(assignments_.size() + grants_.size() + pusch_.size() + pucch_.size(), 12U - 1U) << name_of(why);
  }

  Random random_{1};
  CellShape cell_;
  Slot slot_{{1}, 5, 19};
  std::vector<Grant> downlink_, uplink_;
  std::unique_ptr<test::Blocks> blocks_;
  std::unique_ptr<SlotWriter> writer_;
  std::unique_ptr<fapi::DlTtiRequest> dl_tti_;
  std::unique_ptr<fapi::UlDciRequest> ul_dci_;
  std::unique_ptr<fapi::UlTtiRequest> ul_tti_;
  SlotReader reader_{cell_};
  SlotReader::List<DownlinkAssignment> assignments_;
  SlotReader::List<UplinkAssignment> grants_;
  SlotReader::List<PuschOrder> pusch_;
  SlotReader::List<PucchOrder> pucch_;
};

TEST_F(SlotReaderTest, grants_come_back_in_every_cell) {
  for (unsigned run = 0; run < 300; ++run) {
    cell_.numerology.mu = static_cast<std::uint8_t>(random_.below(4));
    cell_.prbs = static_cast<std::uint16_t>(12 + random_.below(264));
    cell_.k = static_cast<std::uint8_t>(1 + random_.below(8));
    cell_.shape.table = random_.below(2) == 0 ? McsTable::k64Qam : McsTable::k64QamLowSe;
    cell_.shape.dmrs_res = static_cast<std::uint8_t>(12 * (1 + random_.below(4)));
    cell_.shape.symbols = static_cast<std::uint8_t>(12 + random_.below(2));
    ASSERT_EQ(cell_.wrong(), "");
    slot_ = slot_at(cell_.numerology, random_.next());
    write(1 + random_.below(std::min(20U, cell_.most_dcis() / 2)));
    read();
    ASSERT_EQ(refused(), 0U);
    ASSERT_EQ(assignments_.size(), downlink_.size());
    for (std::size_t i = 0; i < downlink_.size(); ++i) {
      ASSERT_TRUE(same(assignments_[i].grant, downlink_[i], true));
      ASSERT_EQ(assignments_[i].k1, cell_.k);
      ASSERT_EQ(assignments_[i].pdu_index, i);
    }
    ASSERT_EQ(grants_.size(), uplink_.size());
    ASSERT_EQ(pusch_.size(), uplink_.size());
    for (std::size_t i = 0; i < uplink_.size(); ++i) {
      ASSERT_TRUE(same(grants_[i].grant, uplink_[i], true));
      ASSERT_EQ(grants_[i].k2, cell_.k);
      ASSERT_TRUE(same(pusch_[i].grant, uplink_[i], false));
      ASSERT_EQ(pusch_[i].grant.retransmission, uplink_[i].retransmission);
      ASSERT_EQ(pusch_[i].harq, uplink_[i].rnti <= downlink_.size());
    }
    for (const PucchOrder& order : pucch_) {
      ASSERT_EQ(order.harq, order.rnti <= std::min<std::size_t>(2, downlink_.size()));
      ASSERT_EQ(order.sr, order.rnti <= 3 || order.rnti == 77);
    }
  }
}

TEST_F(SlotReaderTest, messages_of_an_empty_slot_have_nothing) {
  write(0);
  read();
  EXPECT_EQ(assignments_.size() + grants_.size() + pusch_.size(), 0U);
  EXPECT_EQ(pucch_.size(), 4U);  // the chances for an SR
  EXPECT_EQ(refused(), 0U);
}

TEST_F(SlotReaderTest, a_pdsch_and_its_dci_must_agree) {
  expect(Refusal::pdsch_differs, [this] { pdsch().codewords[0].mcs_index ^= 1; });
  expect(Refusal::pdsch_differs, [this] { pdsch().codewords[0].rv_index ^= 1; });
  expect(Refusal::pdsch_differs, [this] { pdsch().rb_size += 1; });
  expect(Refusal::tb_size, [this] { pdsch().codewords[0].tb_size += 1; });
  expect(Refusal::bad_pdsch, [this] { pdsch().codewords.add({}); });
  expect(Refusal::bad_pdsch, [this] { pdsch().bwp.bwp_size -= 1; });
  expect(Refusal::bad_pdsch, [this] { pdsch().codewords[0].mcs_table = 1; });
  expect(Refusal::dci_without_pdsch, [this] { dl_tti_->pdus[1].body.emplace<fapi::PdcchPdu>(); });
}

TEST_F(SlotReaderTest, a_pdsch_without_dci_and_a_dci_without_pdsch_are_both_counted) {
  write(3);
  pdsch().rnti = 500;
  read();
  EXPECT_EQ(reader_.counters().counted(Refusal::pdsch_without_dci), 1U);
  EXPECT_EQ(reader_.counters().counted(Refusal::dci_without_pdsch), 1U);
  EXPECT_EQ(assignments_.size(), 2U);
}

TEST_F(SlotReaderTest, a_ue_is_there_once) {
  expect(Refusal::rnti_twice, [this] {
    auto& dcis = std::get<fapi::PdcchPdu>(ul_dci_->pdus[0].body).dl_dcis;
    dcis[1].rnti = dcis[0].rnti;
  });
  expect(Refusal::rnti_twice, [this] { std::get<fapi::PuschPdu>(ul_tti_->pdus[1].body).rnti = pusch().rnti; });
  expect(Refusal::rnti_twice, [this] { pucch().rnti = 1; });
  write(3);
  auto& dcis = std::get<fapi::PdcchPdu>(dl_tti_->pdus[0].body).dl_dcis;
  dcis[1].rnti = dcis[0].rnti;
  std::get<fapi::PdschPdu>(dl_tti_->pdus[2].body).rnti = pdsch().rnti;
  const std::uint64_t before = reader_.counters().counted(Refusal::rnti_twice);
  read();
  EXPECT_EQ(reader_.counters().counted(Refusal::rnti_twice), before + 2);
  EXPECT_EQ(assignments_.size(), 2U);
}

TEST_F(SlotReaderTest, uplink_orders_that_cannot_be_are_refused) {
  expect(Refusal::bad_pusch, [this] { pusch().pdu_bitmap = 0; });
  expect(Refusal::bad_pusch, [this] { pusch().data.harq_process_id = 16; });
  expect(Refusal::bad_pusch, [this] { pusch().rb_start = 273; });
  expect(Refusal::bad_pusch, [this] { pusch().nr_of_symbols = 12; });
  expect(Refusal::bad_pusch, [this] {
    pusch().pdu_bitmap |= fapi::PuschPdu::kHasUci;
    pusch().uci.harq_ack_bit_length = 2;
  });
  expect(Refusal::tb_size, [this] { pusch().data.tb_size += 1; });
  expect(Refusal::bad_rnti, [this] { pusch().rnti = 0; });
  expect(Refusal::bad_pucch, [this] { pucch().format_type = 2; });
  expect(Refusal::bad_pucch, [this] { pucch().bit_len_harq = 2; });
  expect(Refusal::bad_pucch, [this] { pucch().bit_len_csi_part1 = 4; });
  expect(Refusal::bad_pucch, [this] { pucch().sr_flag = 0; });
  expect(Refusal::bad_rnti, [this] { pucch().rnti = 0xFFFF; });
}

TEST_F(SlotReaderTest, dcis_of_another_format_or_size_are_refused) {
  const auto dci = [this]() -> fapi::DlDci& { return std::get<fapi::PdcchPdu>(ul_dci_->pdus[0].body).dl_dcis[1]; };
  expect(Refusal::bad_dci, [&] { dci().payload[0] |= 0x80; });
  expect(Refusal::bad_dci, [&] { dci().payload_size_bits = 43; });
  expect(Refusal::bad_rnti, [&] { dci().rnti = 0xFFFE; });
  write(3);
  auto& of_downlink = std::get<fapi::PdcchPdu>(dl_tti_->pdus[0].body).dl_dcis[2];
  of_downlink.payload[0] &= 0x7F;
  const std::uint64_t before = reader_.counters().counted(Refusal::bad_dci);
  read();
  EXPECT_EQ(reader_.counters().counted(Refusal::bad_dci), before + 1);
  EXPECT_EQ(reader_.counters().counted(Refusal::pdsch_without_dci), 1U);
  EXPECT_EQ(assignments_.size(), 2U);
}

TEST_F(SlotReaderTest, pdus_that_are_not_offered_are_counted) {
  write(3);
  dl_tti_->pdus.append()->body.emplace<fapi::UnknownPdu>();
  ul_tti_->pdus.append()->body.emplace<fapi::UnknownPdu>();
  ul_dci_->pdus.append()->body.emplace<fapi::UnknownPdu>();
  read();
  EXPECT_EQ(reader_.counters().counted(Refusal::unknown_pdu), 3U);
  EXPECT_EQ(refused(), 3U);
  EXPECT_EQ(assignments_.size(), 3U);
}

TEST_F(SlotReaderTest, more_dcis_than_a_slot_can_have_are_counted) {
  write(1);
  const fapi::DlDci one = std::get<fapi::PdcchPdu>(ul_dci_->pdus[0].body).dl_dcis[0];
  ul_dci_->pdus.clear();
  for (Rnti i = 0; i < 300; ++i) {
    if (i % 8 == 0) ul_dci_->pdus.append()->body.emplace<fapi::PdcchPdu>();
    auto& dcis = std::get<fapi::PdcchPdu>(ul_dci_->pdus[ul_dci_->pdus.size() - 1].body).dl_dcis;
    dcis.add(one);
    dcis[dcis.size() - 1].rnti = static_cast<Rnti>(1 + i);
  }
  read();
  EXPECT_EQ(grants_.size(), 255U);
  EXPECT_EQ(reader_.counters().counted(Refusal::too_many), 45U);
}

}  // namespace
}  // namespace splitplane::phy
