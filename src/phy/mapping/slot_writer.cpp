#include "phy/mapping/slot_writer.h"

#include "wire/dci.h"

namespace splitplane::phy {
namespace {

namespace dci = wire::dci;

constexpr std::uint8_t kZeroDb = 8, kSsZeroDb = 1;    // powerControlOffset and powerControlOffsetSS: 0 dB
constexpr std::uint8_t kSecondDmrsGroup = 2;          // two CDM groups without data
constexpr std::uint8_t kAlphaOne = 3;                 // alpha scaling 1
constexpr std::uint8_t kBetaAck = 11, kBetaCsi = 13;  // what TS 38.331 has when betaOffsets is absent
constexpr std::uint16_t kDcUndetermined = 3301;       // txDirectCurrentLocation
constexpr std::size_t kTxDataFixed = 6;               // of TX_DATA.request, without PDUs
constexpr std::size_t kTxDataPdu = 20;                // of a PDU with one block of either tag, and padding

// What fits always, and so is not asked for: a slot has a DCI for each 6 PRBs and PDCCH symbol.
constexpr unsigned kMostDcis = kMaxPrbs / 6 * 2;
static_assert(kMostDcis + (kMostDcis + 7) / 8 <= fapi::kMaxPdus);

}  // namespace

SlotWriter::SlotWriter(const CellShape& cell) : cell_(cell) {
  left_out_.reserve(2 * fapi::kMaxPdus);
}

void SlotWriter::write(const SlotGrants& grants) {
  const Slot uplink_slot = after(grants.slot, cell_.k);
  const auto begin = [](auto& message, Slot slot) {
    message.sfn = slot.sfn;
    message.slot = slot.slot;
    message.pdus.clear();
  };
  begin(*dl_tti_, grants.slot);
  begin(*tx_data_, grants.slot);
  begin(*ul_dci_, grants.slot);
  begin(*ul_tti_, uplink_slot);
  for (RntiIndex* index : {&downlink_, &uplink_, &chances_, &alone_}) index->clear();
  dl_dcis_ = ul_dcis_ = 0;
  dl_pdcch_ = ul_pdcch_ = nullptr;
  tx_data_bytes_ = kTxDataFixed;
  left_out_.clear();

  for (const DownlinkBlock& block : grants.downlink) add(block, grants.slot);
  for (const Grant& grant : grants.uplink) add(grant, uplink_slot);
  for (const Rnti rnti : grants.request_chances) {
    if (!is_c_rnti(rnti)) {
      count(LeftOut::bad_grant);
    } else if (chances_.has(rnti)) {
      count(LeftOut::rnti_twice);
    } else if (!chances_.add(rnti, 0)) {
      count(LeftOut::no_pucch);
    }
  }
  for (const auto& pdu : dl_tti_->pdus) {
    const auto* const pdsch = std::get_if<fapi::PdschPdu>(&pdu.body);
    if (pdsch == nullptr || uplink_.has(pdsch->rnti)) continue;
    (void)order_pucch(pdsch->rnti, true, chances_.has(pdsch->rnti));  // each DCI has a PUCCH
  }
  for (const Rnti rnti : grants.request_chances) {
    if (!chances_.has(rnti) || downlink_.has(rnti) || uplink_.has(rnti) || !alone_.add(rnti, 0)) continue;
    if (!order_pucch(rnti, false, true)) count(LeftOut::no_pucch);
  }
}

// A grant that the cell, its DCI and the tables of TS 38.214 allow.
bool SlotWriter::is_possible(const Grant& grant) const {
  return is_c_rnti(grant.rnti) && grant.process < kHarqProcesses && grant.ndi <= 1 && grant.rv <= 3 &&
         grant.prbs != 0 && grant.first_prb + grant.prbs <= cell_.prbs && grant.tb_bytes != 0 &&
         grant.tb_bytes == tb_bytes(cell_.shape, grant.mcs, grant.prbs);
}

void SlotWriter::leave_out(const Grant& grant, LeftOut why) {
  count(why);
  left_out_.push_back(grant);
}

fapi::Bwp SlotWriter::bwp() const {
  return {.bwp_size = cell_.prbs, .bwp_start = 0, .subcarrier_spacing = cell_.numerology.mu, .cyclic_prefix = 0};
}

// The place of a DCI in the message's last PDCCH PDU, or in a new one.
template <class Message>
fapi::DlDci& SlotWriter::add_dci(Message& message, fapi::PdcchPdu*& last, Rnti rnti, unsigned cce) const {
  if (last == nullptr || last->dl_dcis.size() == fapi::PdcchPdu::kMaxDcis) {
    last = &message.pdus.append()->body.template emplace<fapi::PdcchPdu>();
    last->bwp = bwp();
    last->duration_symbols = static_cast<std::uint8_t>(14 - cell_.shape.symbols);
    for (unsigned group = 0; group < cell_.prbs / 6U; ++group) {
      last->freq_domain_resource[group / 8] |= static_cast<std::uint8_t>(0x80U >> group % 8);
    }
  }
  fapi::DlDci* const place = last->dl_dcis.append();
  *place = {.rnti = rnti,
            .scrambling_id = cell_.cell_id,
            .scrambling_rnti = 0,  // without pdcch-DMRS-ScramblingID (TS 38.211 7.3.2.3)
            .cce_index = static_cast<std::uint8_t>(cce),
            .aggregation_level = 1,
            .power_control_offset_ss = kSsZeroDb};
  return *place;
}

void SlotWriter::add(const DownlinkBlock& block, Slot slot) {
  const Grant& grant = block.grant;
  if (grant.slot != slot) return leave_out(grant, LeftOut::bad_slot);
  if (!is_possible(grant) || block.block.size() != grant.tb_bytes) return leave_out(grant, LeftOut::bad_grant);
  if (downlink_.has(grant.rnti)) return leave_out(grant, LeftOut::rnti_twice);
  if (dl_dcis_ + ul_dcis_ == cell_.most_dcis()) return leave_out(grant, LeftOut::no_cce);
  const std::size_t bytes = tx_data_bytes_ + kTxDataPdu + grant.tb_bytes;
  if (bytes > cell_.most_tx_data_bytes) return leave_out(grant, LeftOut::tx_data_full);
  tx_data_bytes_ = bytes;
  downlink_.add(grant.rnti, static_cast<std::uint8_t>(dl_dcis_));

  fapi::DlDci& place = add_dci(*dl_tti_, dl_pdcch_, grant.rnti, dl_dcis_++);
  const dci::Format10 format{.allocation = {grant.first_prb, grant.prbs},
                             .mcs = grant.mcs,
                             .ndi = grant.ndi,
                             .rv = grant.rv,
                             .process = grant.process,
                             .harq_timing = static_cast<std::uint8_t>(cell_.k - 1)};
  place.payload_size_bits = static_cast<std::uint16_t>(dci::write(place.payload, format, bandwidth()));

  const auto index = static_cast<std::uint16_t>(tx_data_->pdus.size());
  const Mcs mcs = mcs_at(cell_.shape.table, grant.mcs);
  fapi::PdschPdu& pdsch = dl_tti_->pdus.append()->body.emplace<fapi::PdschPdu>();
  pdsch.rnti = grant.rnti;
  pdsch.pdu_index = index;
  pdsch.bwp = bwp();
  pdsch.codewords.add({.target_code_rate = static_cast<std::uint16_t>(mcs.rate_2048 * 5),
                       .qam_mod_order = mcs.bits,
                       .mcs_index = grant.mcs,
                       .mcs_table = mcs_table_of(cell_.shape),
                       .rv_index = grant.rv,
                       .tb_size = grant.tb_bytes});
  pdsch.data_scrambling_id = cell_.cell_id;
  pdsch.dl_dmrs_symb_pos = cell_.dmrs_symbols(14);
  pdsch.dl_dmrs_scrambling_id = cell_.cell_id;
  pdsch.num_dmrs_cdm_grps_no_data = kSecondDmrsGroup;
  pdsch.dmrs_ports = 1;
  pdsch.rb_start = grant.first_prb;
  pdsch.rb_size = grant.prbs;
  pdsch.start_symbol_index = static_cast<std::uint8_t>(14 - cell_.shape.symbols);
  pdsch.nr_of_symbols = cell_.shape.symbols;
  pdsch.power_control_offset = kZeroDb;
  pdsch.power_control_offset_ss = kSsZeroDb;

  fapi::TxDataRequest::Pdu& data = *tx_data_->pdus.append();
  data.pdu_index = index;
  data.parts.clear();
  data.parts.add({block.block});
}

void SlotWriter::add(const Grant& grant, Slot slot) {
  if (grant.slot != slot) return leave_out(grant, LeftOut::bad_slot);
  if (!is_possible(grant)) return leave_out(grant, LeftOut::bad_grant);
  if (uplink_.has(grant.rnti)) return leave_out(grant, LeftOut::rnti_twice);
  if (dl_dcis_ + ul_dcis_ == cell_.most_dcis()) return leave_out(grant, LeftOut::no_cce);
  uplink_.add(grant.rnti, static_cast<std::uint8_t>(ul_dcis_));

  fapi::DlDci& place = add_dci(*ul_dci_, ul_pdcch_, grant.rnti, cell_.most_dcis() - ++ul_dcis_);
  const dci::Format00 format{.allocation = {grant.first_prb, grant.prbs},
                             .time_row = static_cast<std::uint8_t>(cell_.k - 1),
                             .mcs = grant.mcs,
                             .ndi = grant.ndi,
                             .rv = grant.rv,
                             .process = grant.process};
  place.payload_size_bits = static_cast<std::uint16_t>(dci::write(place.payload, format, bandwidth()));
  order_pusch(grant);
}

void SlotWriter::order_pusch(const Grant& grant) {
  const Mcs mcs = mcs_at(cell_.shape.table, grant.mcs);
  fapi::PuschPdu& pusch = ul_tti_->pdus.append()->body.emplace<fapi::PuschPdu>();
  pusch.rnti = grant.rnti;
  pusch.handle = grant.process;
  pusch.bwp = bwp();
  pusch.target_code_rate = static_cast<std::uint16_t>(mcs.rate_2048 * 5);
  pusch.qam_mod_order = mcs.bits;
  pusch.mcs_index = grant.mcs;
  pusch.mcs_table = mcs_table_of(cell_.shape);
  pusch.data_scrambling_id = cell_.cell_id;
  pusch.ul_dmrs_symb_pos = cell_.dmrs_symbols(cell_.shape.symbols);
  pusch.ul_dmrs_scrambling_id = cell_.cell_id;
  pusch.pusch_identity = cell_.cell_id;
  pusch.num_dmrs_cdm_grps_no_data = kSecondDmrsGroup;
  pusch.dmrs_ports = 1;
  pusch.rb_start = grant.first_prb;
  pusch.rb_size = grant.prbs;
  pusch.tx_direct_current_location = kDcUndetermined;
  pusch.nr_of_symbols = cell_.shape.symbols;
  pusch.data = {.rv_index = grant.rv,
                .harq_process_id = grant.process,
                .new_data_indicator = static_cast<std::uint8_t>(grant.retransmission ? 0 : 1),
                .tb_size = grant.tb_bytes};
  if (!downlink_.has(grant.rnti)) return;
  pusch.pdu_bitmap = fapi::PuschPdu::kHasData | fapi::PuschPdu::kHasUci;
  pusch.uci = {.harq_ack_bit_length = 1,
               .alpha_scaling = kAlphaOne,
               .beta_offset_harq_ack = kBetaAck,
               .beta_offset_csi1 = kBetaCsi,
               .beta_offset_csi2 = kBetaCsi};
}

// ACK, NACK and SR of a UE take four of the twelve cyclic shifts (TS 38.213 9.2.3 to 9.2.5): a PRB has three UEs.
bool SlotWriter::order_pucch(Rnti rnti, bool harq, bool sr) {
  constexpr std::size_t kUesOfPrb = 3;
  const std::size_t number = ul_tti_->pdus.size() - ul_dcis_;  // PUSCHs come first
  if (ul_tti_->pdus.size() == fapi::kMaxPdus || number == kUesOfPrb * cell_.prbs) return false;
  fapi::PucchPdu& pucch = ul_tti_->pdus.append()->body.emplace<fapi::PucchPdu>();
  pucch.rnti = rnti;
  pucch.bwp = bwp();
  pucch.format_type = 0;
  pucch.prb_start = static_cast<std::uint16_t>(number / kUesOfPrb);
  pucch.start_symbol_index = cell_.shape.symbols;
  pucch.hopping_id = cell_.cell_id;
  pucch.initial_cyclic_shift = static_cast<std::uint16_t>(number % kUesOfPrb);
  pucch.sr_flag = sr ? 1 : 0;
  pucch.bit_len_harq = harq ? 1 : 0;
  return true;
}

}  // namespace splitplane::phy
