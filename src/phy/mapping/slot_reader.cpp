#include "phy/mapping/slot_reader.h"

namespace splitplane::phy {

namespace dci = wire::dci;
using Refusal = MappingRefusal;

bool SlotReader::add(RntiIndex& index, Rnti rnti, std::size_t number) {
  if (!is_c_rnti(rnti)) {
    count(Refusal::bad_rnti);
  } else if (index.has(rnti)) {
    count(Refusal::rnti_twice);
  } else if (!index.add(rnti, static_cast<std::uint8_t>(number))) {
    count(Refusal::too_many);
  } else {
    return true;
  }
  return false;
}

Slot SlotReader::slot_of(std::uint16_t sfn, std::uint16_t slot) const {
  return {cell_.numerology, sfn, static_cast<std::uint8_t>(slot)};
}

bool SlotReader::is_of_cell(const fapi::Bwp& bwp) const {
  return bwp.bwp_size == cell_.prbs && bwp.bwp_start == 0 && bwp.subcarrier_spacing == cell_.numerology.mu &&
         bwp.cyclic_prefix == 0;
}

bool SlotReader::is_of_cell(const fapi::PdschPdu& pdsch) const {
  return pdsch.codewords.size() == 1 && pdsch.codewords[0].mcs_table == mcs_table_of(cell_.shape) &&
         (pdsch.pdu_bitmap & fapi::PdschPdu::kHasCbg) == 0 && is_of_cell(pdsch.bwp) &&
         pdsch.nr_of_layers == cell_.shape.layers && pdsch.resource_alloc == 1 &&
         pdsch.nr_of_symbols == cell_.shape.symbols;
}

bool SlotReader::is_of_cell(const fapi::PuschPdu& pusch) const {
  const bool has_uci = (pusch.pdu_bitmap & fapi::PuschPdu::kHasUci) != 0;
  return (pusch.pdu_bitmap & fapi::PuschPdu::kHasData) != 0 && pusch.data.num_cb == 0 &&
         pusch.data.harq_process_id < kHarqProcesses && pusch.data.rv_index <= 3 &&
         (!has_uci || (pusch.uci.harq_ack_bit_length <= 1 && pusch.uci.csi_part1_bit_length == 0 &&
                       pusch.uci.csi_part2_bit_length == 0)) &&
         pusch.mcs_table == mcs_table_of(cell_.shape) && is_of_cell(pusch.bwp) &&
         pusch.nr_of_layers == cell_.shape.layers && pusch.resource_alloc == 1 &&
         pusch.nr_of_symbols == cell_.shape.symbols && pusch.rb_size != 0 &&
         std::uint32_t{pusch.rb_start} + pusch.rb_size <= cell_.prbs;
}

void SlotReader::read(const fapi::DlTtiRequest& message, List<DownlinkAssignment>& out) {
  const Slot slot = slot_of(message.sfn, message.slot);
  out.clear();
  dcis_.clear();
  first_.clear();
  second_.clear();
  for (const auto& pdu : message.pdus) {
    if (const auto* const pdcch = std::get_if<fapi::PdcchPdu>(&pdu.body)) {
      read_dcis(*pdcch);
    } else if (std::holds_alternative<fapi::UnknownPdu>(pdu.body)) {
      count(Refusal::unknown_pdu);
    }
  }
  for (const auto& pdu : message.pdus) {
    if (const auto* const pdsch = std::get_if<fapi::PdschPdu>(&pdu.body)) read(*pdsch, slot, out);
  }
  // A PDSCH that was refused after its UE was found is in second_, too.
  for (std::size_t i = second_.size(); i < first_.size(); ++i) count(Refusal::dci_without_pdsch);
}

void SlotReader::read_dcis(const fapi::PdcchPdu& pdcch) {
  for (const fapi::DlDci& each : pdcch.dl_dcis) {
    const auto format = dci::parse_1_0(each.payload, each.payload_size_bits, bandwidth());
    if (!format) {
      count(Refusal::bad_dci);
    } else if (add(first_, each.rnti, dcis_.size())) {
      dcis_.add(*format);
    }
  }
}

void SlotReader::read(const fapi::PdschPdu& pdsch, Slot slot, List<DownlinkAssignment>& out) {
  if (!is_c_rnti(pdsch.rnti)) return count(Refusal::bad_rnti);
  if (!first_.has(pdsch.rnti)) return count(Refusal::pdsch_without_dci);
  if (!add(second_, pdsch.rnti, 0)) return;
  if (!is_of_cell(pdsch)) return count(Refusal::bad_pdsch);
  const dci::Format10& format = dcis_[first_.entry(pdsch.rnti)];
  const fapi::PdschPdu::Codeword& codeword = pdsch.codewords[0];
  const dci::Allocation allocation{pdsch.rb_start, pdsch.rb_size};
  if (format.allocation != allocation || format.mcs != codeword.mcs_index || format.rv != codeword.rv_index) {
    return count(Refusal::pdsch_differs);
  }
  if (codeword.tb_size == 0 || codeword.tb_size != tb_bytes(cell_.shape, format.mcs, pdsch.rb_size)) {
    return count(Refusal::tb_size);
  }
  out.add({.grant = {.slot = slot,
                     .rnti = pdsch.rnti,
                     .direction = Direction::kDownlink,
                     .process = format.process,
                     .ndi = format.ndi,
                     .rv = format.rv,
                     .mcs = format.mcs,
                     .first_prb = pdsch.rb_start,
                     .prbs = pdsch.rb_size,
                     .tb_bytes = codeword.tb_size},
           .pdu_index = pdsch.pdu_index,
           .k1 = static_cast<std::uint8_t>(format.harq_timing + 1)});
}

void SlotReader::read(const fapi::UlDciRequest& message, List<UplinkAssignment>& out) {
  const Slot slot = slot_of(message.sfn, message.slot);
  out.clear();
  first_.clear();
  for (const auto& pdu : message.pdus) {
    const auto* const pdcch = std::get_if<fapi::PdcchPdu>(&pdu.body);
    if (pdcch == nullptr) {
      count(Refusal::unknown_pdu);
      continue;
    }
    for (const fapi::DlDci& each : pdcch->dl_dcis) read(each, slot, out);
  }
}

void SlotReader::read(const fapi::DlDci& each, Slot slot, List<UplinkAssignment>& out) {
  const auto format = dci::parse_0_0(each.payload, each.payload_size_bits, bandwidth());
  const std::uint32_t bytes = format ? tb_bytes(cell_.shape, format->mcs, format->allocation.prbs) : 0;
  if (bytes == 0) return count(Refusal::bad_dci);
  if (!add(first_, each.rnti, 0)) return;
  const auto k2 = static_cast<std::uint8_t>(format->time_row + 1);
  out.add({.grant = {.slot = after(slot, k2),
                     .rnti = each.rnti,
                     .direction = Direction::kUplink,
                     .process = format->process,
                     .ndi = format->ndi,
                     .rv = format->rv,
                     .mcs = format->mcs,
                     .first_prb = format->allocation.first_prb,
                     .prbs = format->allocation.prbs,
                     .tb_bytes = bytes},
           .k2 = k2});
}

void SlotReader::read(const fapi::UlTtiRequest& message, List<PuschOrder>& pusch, List<PucchOrder>& pucch) {
  const Slot slot = slot_of(message.sfn, message.slot);
  pusch.clear();
  pucch.clear();
  first_.clear();
  second_.clear();
  for (const auto& pdu : message.pdus) {
    if (const auto* const one = std::get_if<fapi::PuschPdu>(&pdu.body)) {
      read(*one, slot, pusch);
    } else if (const auto* const other = std::get_if<fapi::PucchPdu>(&pdu.body)) {
      read(*other, pucch);
    } else {
      count(Refusal::unknown_pdu);
    }
  }
}

void SlotReader::read(const fapi::PuschPdu& pusch, Slot slot, List<PuschOrder>& out) {
  if (!is_of_cell(pusch)) return count(Refusal::bad_pusch);
  if (pusch.data.tb_size == 0 || pusch.data.tb_size != tb_bytes(cell_.shape, pusch.mcs_index, pusch.rb_size)) {
    return count(Refusal::tb_size);
  }
  if (!add(first_, pusch.rnti, 0)) return;
  out.add({.grant = {.slot = slot,
                     .rnti = pusch.rnti,
                     .direction = Direction::kUplink,
                     .retransmission = pusch.data.new_data_indicator == 0,
                     .process = pusch.data.harq_process_id,
                     .rv = pusch.data.rv_index,
                     .mcs = pusch.mcs_index,
                     .first_prb = pusch.rb_start,
                     .prbs = pusch.rb_size,
                     .tb_bytes = pusch.data.tb_size},
           .handle = pusch.handle,
           .harq = (pusch.pdu_bitmap & fapi::PuschPdu::kHasUci) != 0 && pusch.uci.harq_ack_bit_length == 1});
}

void SlotReader::read(const fapi::PucchPdu& pucch, List<PucchOrder>& out) {
  const bool asks = pucch.bit_len_harq == 1 || pucch.sr_flag != 0;
  if (pucch.format_type > 1 || pucch.bit_len_harq > 1 || pucch.bit_len_csi_part1 != 0 || pucch.bit_len_csi_part2 != 0 ||
      !asks || !is_of_cell(pucch.bwp)) {
    return count(Refusal::bad_pucch);
  }
  if (!add(second_, pucch.rnti, 0)) return;
  out.add({.rnti = pucch.rnti,
           .handle = pucch.handle,
           .format = pucch.format_type,
           .harq = pucch.bit_len_harq == 1,
           .sr = pucch.sr_flag != 0});
}

}  // namespace splitplane::phy
